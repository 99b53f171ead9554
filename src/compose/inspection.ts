/** What is looked at before a run, by `skein doctor` and `skein init`? */
import { mcpServersIn } from "../adapters/agents/acp/open.ts";
import { gateRules } from "../adapters/gates/rules.ts";
import { forbiddenFilter } from "../adapters/git/filters.ts";
import { inspectFleet } from "../adapters/inspect/fleet.ts";
import * as repository from "../adapters/inspect/repository.ts";
import { inspectSetup } from "../adapters/inspect/setup.ts";
import { inspectDisk, inspectState } from "../adapters/inspect/state.ts";
import { resolveBase } from "../adapters/repositories/locate.ts";
import { stateRoot } from "../adapters/runs/state-folder.ts";
import { readSpecialists } from "../adapters/specialists.ts";
import type { InspectParts } from "../app/inspect/parts.ts";
import type { WorkerLooks } from "../app/inspect/worker.ts";
import { passed } from "../config/known-agents.ts";
import type { Config } from "../config/schema.ts";
import type { Environment } from "../ports/project.ts";
import { loneParts } from "./agents.ts";
import { looksOf } from "./planning.ts";

const namesOf = (found: readonly { readonly name: string }[], problems: readonly string[]) => ({
  names: found.map(({ name }) => name),
  problems,
});

export const inspectParts = (env: Environment): InspectParts => ({
  env,
  agents: looksOf(env),
  alone: (project) => loneParts(project, env),
  repository: {
    git: repository.inspectGit,
    around: repository.inspectRepository,
    commit: resolveBase,
    tree: repository.inspectTree,
  },
  workspaces: {
    gate: ({ located, gate, commit }, signal) => gateRules(gate, located.top).of(commit, signal),
    setup: inspectSetup,
    filterProblem: ({ located, ...wanted }, signal) => forbiddenFilter({ ...located, ...wanted }, signal),
    ignoredSettings: repository.ignoredSettings,
  },
  places: { state: (located, folder) => inspectState(located, folder, env), disk: inspectDisk },
  roles: {
    specialists: async (top) => {
      const { specialists, problems } = await readSpecialists(top);
      return namesOf(specialists, problems);
    },
    mcpServers: async (top, pass) => {
      const { servers, problems } = await mcpServersIn(top, passed(env, pass));
      return namesOf(servers, problems);
    },
  },
});

/** What a machine is asked that is to work for a fleet. */
export const workerLooks = (
  env: Environment,
  { fleet }: Config,
  folder: string,
  signal: AbortSignal,
): WorkerLooks => ({
  ...{ env, folder, agents: looksOf(env) },
  fleet: () => inspectFleet(env, fleet, folder, signal),
  git: () => repository.inspectGit(folder, signal),
  disk: async () => {
    const root = stateRoot(env);
    return typeof root === "string" ? ((await inspectDisk(root)) ?? inspectDisk(folder)) : undefined;
  },
});
