/** Types of a worker's calls during its task (a subtask, a question) and of the responses. */
import type { JobId, TaskId } from "./ids.ts";

/** What a worker called for at the end of a turn. The same conversation goes on once there is a response. */
export type WorkerCall =
  | { readonly is: "subtask"; readonly order: SubtaskOrder }
  | { readonly is: "question"; readonly question: QuestionOrder }
  /** The call could not be read: the worker is told why. */
  | { readonly is: "refused"; readonly response: ToolResponse };

/** A checked request for a subtask, with its template and its settings filled in. */
export type SubtaskOrder = {
  readonly type: string;
  readonly subtype: string;
  /** The name of its template. */
  readonly template: string;
  readonly description: string;
  readonly instructions?: string;
  /** The inputs as canonical JSON. */
  readonly inputs: string;
  /** What the result must look like: a JSON Schema as JSON, the name of a format, or words. */
  readonly expectation?: string;
  /** How many levels of tasks it may use, its own included. */
  readonly maxDepth?: number;
  /** Equal for equal orders: an ancestor with the same signature is doing the same. */
  readonly signature: string;
  readonly filePaths: readonly string[];
  readonly context: SubtaskContext;
  /** The specialist that the template names. */
  readonly agent?: string;
};

/** The effective settings, fixed when the subtask is spawned. */
type SubtaskContext = {
  readonly inherit_context: "full" | "none" | "subset";
  readonly accumulate_data: boolean;
  readonly accumulation_format: "notes_only" | "full_output";
  readonly fresh_context: "enabled" | "disabled";
};

export type QuestionOrder = {
  readonly text: string;
  /** The answer that is taken if none comes in time. */
  readonly default?: string;
  /** How long to wait for an answer, in ms; default and upper limit: the policy's time. */
  readonly waitMs?: number;
};

export type ToolResponse = {
  /** "question": the subtask that the worker waits for asks something. */
  readonly name: "subtask" | "answer" | "question";
  readonly result: SubtaskResult;
};

export type SubtaskResult = {
  readonly status: "COMPLETE" | "FAILED" | "NEEDS_INPUT";
  readonly content: string;
  readonly notes: Readonly<Record<string, unknown>>;
};

/** What makes a task a subtask of a worker: part of its spec. */
export type Spawn = SubtaskOrder & {
  /** The snapshot of its parent's workspace that it starts from. */
  readonly base: string;
  /** The job whose conversation asked for the subtask. */
  readonly session: JobId;
  /** How many levels of subtasks may follow below it. */
  readonly levels: number;
  /**
   * It is for a fix, or for a task that was refused a landing, so it may use the part of the budget reserved for
   * landing.
   */
  readonly isForLanding?: true;
};

/** Where a worker that made a call goes on. */
export type GoOn = {
  /** The commit that its first turn began from: its change is everything since then. */
  readonly base: string;
  /** The commit that its workspace begins with: its own snapshot, or what its subtask made of it. */
  readonly start: string;
  /** The job whose conversation is continued. */
  readonly session: JobId;
  /** How often the worker has called, and when it first did. */
  readonly times: number;
  readonly since: number;
  /** Observations of the turns before, for the task's final handoff. */
  readonly notes: readonly string[];
  /** Undefined while the worker waits. */
  readonly response?: ToolResponse;
};

/** An open question of a worker. */
export type SubtaskQuestion = {
  readonly id: string;
  readonly task: TaskId;
  readonly text: string;
  readonly default?: string;
  /** When the default is taken, in the run's own time. */
  readonly until: number;
  /** The task or person that is asked now: the task whose subtask asks, or a person. */
  readonly to: TaskId | "person";
  /** How often that task was asked without getting an answer. */
  readonly tries: number;
};

/** The id of the run's own question: what to do about a base that fails. */
export const BASE_QUESTION = "base";

export const questionKey = (id: string) => `question:${id}`;
export const questionOfKey = (key: string): string | undefined =>
  key.startsWith("question:") ? key.slice("question:".length) : undefined;

/** The response to a worker whose question had no default and was not answered in time. */
export const UNANSWERED =
  "There was no answer in time. Make the most careful choice yourself, and name it as a concern in your handoff.";
