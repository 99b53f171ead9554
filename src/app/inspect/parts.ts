/** Types of the parts that `inspect` needs. */
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
  /** The parts of a run's first checks, for a run that starts in this folder. */
  readonly start: (folder: string, signal: AbortSignal) => Promise<StartParts | Failed>;
  readonly alone: (project: Pick<Project, "located" | "stateFolder">) => Pick<LoneParts, "openAlone">;
};

/** A repository, and the configuration of a run in it. */
export type Settled = { readonly located: Located; readonly config: Config };
