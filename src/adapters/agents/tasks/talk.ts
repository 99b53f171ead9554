/** Types of a conversation with an agent for one task outside of a run. */
import type { JobId } from "../../../core/job.ts";
import type { Said } from "../../../ports/agent.ts";
import type { ContextEntry, SpawnedTask } from "../../../ports/subtasks.ts";

export type TaskTalk = {
  /** Whether the agent has the inherited conversation without being told. */
  readonly hasInherited: boolean;
  /** Must not throw. One prompt at a time. */
  say(told: ToldTask): Promise<Said>;
};

export type ToldTask = {
  readonly job: JobId;
  readonly message: string;
  /** Everything so far, beginning with what was inherited; the last entry is the current prompt. */
  readonly conversation: readonly ContextEntry[];
};

/** The signal ends the conversation and the programs that it runs. */
export type OpenTalk = (place: TalkPlace, signal: AbortSignal) => TaskTalk;

export type TalkPlace = {
  readonly job: JobId;
  readonly task: SpawnedTask;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly system: string;
  readonly maxMs: number;
  /** The conversation to inherit, up to this many entries. */
  readonly inherits?: { readonly from: TaskTalk; readonly entries: number } | undefined;
};
