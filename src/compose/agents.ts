/** Opens the agents of a run, and those that work outside of any run. */

import type { AgentParts, AgentSettings } from "../adapters/agents/agent-settings.ts";
import { FunctionAgent, type Functions } from "../adapters/agents/functions.ts";
import { openLoneAgent } from "../adapters/agents/lone-agent.ts";
import { agentOpener } from "../adapters/agents/open-agent.ts";
import { whenAsked } from "../adapters/agents/when-asked.ts";
import { folderSource } from "../adapters/context-files.ts";
import { gateLinesIn } from "../adapters/gates/rules.ts";
import { repositorySandbox } from "../adapters/sandboxes/repository-sandbox.ts";
import { gitSurroundings } from "../adapters/surroundings.ts";
import { agentsOfRun } from "../app/agents-of-run.ts";
import type { LoneParts } from "../app/lone-agent.ts";
import type { GivenAgents } from "../app/parts.ts";
import { secretsFor } from "../config/accounts.ts";
import type { Config } from "../config/schema.ts";
import { agentSettings, settledSpec, turnLimits } from "../config/to-parts.ts";
import { toPolicy } from "../config/to-policy.ts";
import type { Environment, Project } from "../ports/project.ts";
import type { Agrees } from "../ports/trust.ts";
import { AssociativeFiles } from "../subtasks/associative-files.ts";
import { specialistsOf } from "./roles.ts";

export const functionAgents = ({ plan, work }: Functions): GivenAgents => ({
  ...(work && { worker: new FunctionAgent({ work }) }),
  ...(plan && { planner: new FunctionAgent({ plan }) }),
});

type Configured = AgentParts & Pick<AgentSettings, "env" | "top" | "agrees"> & { readonly config: Config };

export function agentsOf({ config, env, top, agrees, ...parts }: Configured, given: GivenAgents | undefined) {
  const settings = { ...agentSettings(config, env, top, agrees), ...parts };
  return agentsOfRun(config, given, (spec) =>
    whenAsked(agentOpener(settledSpec(spec, config, top), settings)),
  );
}

/** The parts for agents outside of any run. */
export const loneParts = (
  project: Pick<Project, "located" | "stateFolder">,
  env: Environment,
  agrees: Agrees,
): LoneParts => ({
  openAlone: (config, spec) => {
    const { top } = project.located;
    return openLoneAgent(settledSpec(spec, config, top), {
      settings: agentSettings(config, env, top, agrees),
      ...{ stateFolder: project.stateFolder, workspace: config.workspace, limits: turnLimits(config) },
      ...{ secrets: secretsFor(config, env), sandbox: repositorySandbox(project, config, env) },
      ...{ budget: toPolicy(config).budget, maxScriptMs: config.timeout.check },
    });
  },
  specialists: specialistsOf(project.located.top, agrees),
  gateLines: gateLinesIn(project.located.top),
  surroundings: gitSurroundings(project.located.gitDir),
  filesIn,
});

/** The files that a chain's tasks may read: those of a folder, matched offline. */
export const filesIn = (folder: string) => new AssociativeFiles(folderSource(folder));
