/** Builds the looks of `skein doctor` and `skein init`. */
import { gateRules } from "../adapters/gates/rules.ts";
import { forbiddenFilter } from "../adapters/git/filters.ts";
import * as repository from "../adapters/inspect/repository.ts";
import { inspectServers, inspectSpecialists } from "../adapters/inspect/roles.ts";
import { inspectSetup } from "../adapters/inspect/setup.ts";
import { inspectDisk, inspectState } from "../adapters/inspect/state.ts";
import { resolveBase } from "../adapters/repositories/locate.ts";
import type { InspectParts } from "../app/inspect/parts.ts";
import { passed } from "../config/known-agents.ts";
import { hasFailed } from "../core/result.ts";
import type { Environment } from "../ports/project.ts";
import { ONLY_PROMPTS } from "../ports/trust.ts";
import { loneParts } from "./agents.ts";
import { looksOf } from "./planning.ts";

export const inspectParts = (env: Environment): InspectParts => ({
  env,
  agents: looksOf(env),
  start: async (folder, signal) => {
    const { openProject } = await import("./project.ts"); // Only `skein doctor` needs it, and it loads slowly.
    const project = await openProject(folder, env, signal);
    return hasFailed(project) ? project : (await import("./parts.ts")).partsOf(project, env);
  },
  alone: (project) => loneParts(project, env, ONLY_PROMPTS),
  repository: {
    git: repository.inspectGit,
    around: (folder, signal) => repository.inspectRepository(folder, env, signal),
    commit: resolveBase,
    tree: repository.inspectTree,
  },
  workspaces: {
    gate: ({ located, gate, commit }, signal) => gateRules(gate, located.top).of(commit, signal),
    setup: (located, commit, signal) => inspectSetup(located, commit, signal, looksOf(env).programs),
    filterProblem: ({ located, ...wanted }, signal) => forbiddenFilter({ ...located, ...wanted }, signal),
    ignoredSettings: repository.ignoredSettings,
  },
  places: { state: (located, folder) => inspectState(located, folder, env), disk: inspectDisk },
  roles: {
    specialists: inspectSpecialists,
    mcpServers: (top, pass) => inspectServers(top, passed(env, pass)),
  },
});
