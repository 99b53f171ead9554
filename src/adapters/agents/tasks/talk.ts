/** What does a task's session need of an agent? A talk in a folder: it is told something, and says something. */
import type { JobId } from "../../../core/job.ts";
import type { Said } from "../../../ports/agent.ts";
import type { ContextEntry, SpawnedTask } from "../../../ports/subtasks.ts";

export type TaskTalk = {
  /** Whether it knows what it inherits without being told. */
  readonly hasInherited: boolean;
  /** Must not throw. One thing at a time. */
  say(told: ToldTask): Promise<Said>;
};

export type ToldTask = {
  /** Of this turn. */
  readonly job: JobId;
  /** What is new. */
  readonly message: string;
  /** Everything so far, what was inherited first; the last is what is asked now. */
  readonly conversation: readonly ContextEntry[];
};

/** Over at the signal: what runs is ended then. */
export type OpenTalk = (place: TalkPlace, signal: AbortSignal) => TaskTalk;

export type TalkPlace = {
  readonly job: JobId;
  readonly task: SpawnedTask;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What it is told of its role. */
  readonly system: string;
  /** Of one turn. */
  readonly maxMs: number;
  /** How many entries of the talk above it knows, if it inherits them. */
  readonly inherits?: { readonly from: TaskTalk; readonly entries: number } | undefined;
};
