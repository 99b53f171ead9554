/** What does `inspect` need of the machine? */
import type { Config } from "../../config/schema.ts";
import type { Failed } from "../../core/result.ts";
import type { AgentLooks } from "../../ports/agent-looks.ts";
import type { Inspection } from "../../ports/inspection.ts";
import type { Environment, Located, Project } from "../../ports/project.ts";
import type { LoneParts } from "../lone-agent.ts";
import type { StartParts } from "../look-at-start.ts";

export type InspectParts = Inspection & {
  readonly env: Environment;
  readonly agents: AgentLooks;
  /** What a run that starts around this folder looks at first. */
  readonly start: (folder: string, signal: AbortSignal) => Promise<StartParts | Failed>;
  readonly alone: (project: Pick<Project, "located" | "stateFolder">) => Pick<LoneParts, "openAlone">;
};

/** A repository, and how a run in it would be configured. */
export type Settled = { readonly located: Located; readonly config: Config };
