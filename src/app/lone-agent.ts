/** Types of what use cases need that ask an agent outside of any run. */
import type { Config } from "../config/schema.ts";
import type { Failed } from "../core/result.ts";
import type { Specialist } from "../core/specialist.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import type { LoneAgent } from "../ports/lone-agent.ts";
import type { ContextFiles } from "../ports/subtasks.ts";
import type { Surroundings } from "../ports/surroundings.ts";

export type LoneParts = {
  /** First removes what killed processes left, and ends their programs. */
  readonly openAlone: (config: Config, spec: AgentSpec) => Promise<LoneAgent | Failed>;
  readonly specialists: () => Promise<readonly Specialist[]>;
  /** The commands that a change of this commit must pass, as a person would type them; empty if unknown. */
  readonly gateLines: (config: Config, commit: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly surroundings: Surroundings;
  readonly filesIn: (folder: string) => ContextFiles;
};
