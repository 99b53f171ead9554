/** Builds the parts for making plans. Loads nothing slow, because `skein plan` answers at once. */
import { agentLooks } from "../adapters/agent-looks.ts";
import { loadPlanningFiles } from "../adapters/planning-data.ts";
import { sampleOf, topOf } from "../adapters/repository-facts.ts";
import { readSpecialists } from "../adapters/specialists.ts";
import type { MakePlanParts } from "../app/ask-planner.ts";
import type { GroundsParts } from "../app/plan-grounds.ts";
import { KNOWN_PROVIDERS } from "../config/known-providers.ts";
import type { Environment } from "../ports/project.ts";
import type { PlanAgrees } from "../ports/trust.ts";

export const looksOf = (env: Environment) => agentLooks(env, KNOWN_PROVIDERS);

export const groundsParts: GroundsParts = {
  topOf,
  sample: sampleOf,
  planningFiles: loadPlanningFiles,
  specialists: readSpecialists,
};

export const planParts = (folder: string, env: Environment, trust: PlanAgrees): MakePlanParts => ({
  env,
  agents: looksOf(env),
  openProject: async (signal) => (await import("./project.ts")).openProject(folder, env, signal, trust.also),
  alone: async (project) => (await import("./agents.ts")).loneParts(project, env, await trust.agrees()),
});
