/** How is an agent put together that works outside of a run? In a place of its own, with the parts that a run's have. */
import path from "node:path";
import { FileTranscripts } from "../adapters/transcripts.ts";
import { CloneWorkspaces } from "../adapters/workspaces/clones.ts";
import { accountsOf } from "../config/accounts.ts";
import type { AgentSpec } from "../config/commands.ts";
import type { Config } from "../config/schema.ts";
import type { Governor } from "../ports/governor.ts";
import { redactor } from "../text/redact.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { PlanningPlace } from "./plan-by-agent-place.ts";
import type { Environment, Project } from "./project.ts";

export type LoneAgent = { readonly config: Config; readonly env: Environment; readonly spec: AgentSpec };

export function loneParts(
  { located, stateFolder }: Project,
  { config, env, spec }: LoneAgent,
  { folder, programs }: PlanningPlace,
  { governor, secrets }: { readonly governor: Governor; readonly secrets: readonly string[] },
): AgentParts {
  const { maxTranscript } = config.log;
  const transcripts = new FileTranscripts({
    folder: path.join(folder, "transcripts"),
    secrets,
    maxBytes: maxTranscript,
  });
  return {
    config: { ...config, agent: spec, planner: "none" },
    env,
    top: located.top,
    gitDir: located.gitDir,
    stateFolder,
    runFolder: folder,
    programs: {
      folder: path.join(folder, "turns"),
      programs,
      transcripts,
      limits: { maxOutputBytes: maxTranscript, maxFileBytes: config.workspace.maxFile },
      redact: redactor(secrets),
    },
    governor,
  };
}

/** Nothing is set up or copied there: it is looked at, and nothing in it is run. */
export const loneWorkspaces = (
  { folder, programs }: PlanningPlace,
  top: string,
  { config, env }: Pick<LoneAgent, "config" | "env">,
) =>
  new CloneWorkspaces({
    repository: top,
    folder,
    programs,
    environment: env,
    limits: {
      maxMs: config.workspace.setupTimeout,
      maxOutputBytes: config.gateOutput,
      maxFileBytes: config.workspace.maxFile,
    },
    pass: config.workspace.pass,
    filters: config.workspace.filters,
    maxFileBytes: config.workspace.maxFile,
  });

/** What people call it. */
export const nameOf = (spec: AgentSpec): string =>
  spec.kind === "model" ? `${spec.model.provider}/${spec.model.model}` : accountsOf(spec)[0];
