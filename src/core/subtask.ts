/** How does a worker delegate or ask in the middle of its task? What it called for, and what comes back to it. */
import type { JobId, TaskId } from "./ids.ts";

/** What a worker called for at the end of a turn. It goes on in the same conversation once there is a response. */
export type WorkerCall =
  | { readonly is: "subtask"; readonly order: SubtaskOrder }
  | { readonly is: "question"; readonly question: QuestionOrder }
  /** The call could not be read: the worker is told why. */
  | { readonly is: "refused"; readonly response: ToolResponse };

/** A request for a subtask, checked, with its template and its settings filled in. */
export type SubtaskOrder = {
  readonly type: string;
  readonly subtype: string;
  /** The name of its template. */
  readonly template: string;
  readonly description: string;
  readonly instructions?: string;
  /** As canonical JSON. */
  readonly inputs: string;
  /** What its result must look like: a JSON Schema as JSON, the name of a format, or words. */
  readonly expectation?: string;
  /** Levels that it may use, its own included. */
  readonly maxDepth?: number;
  /** Equal for equal orders: an ancestor that has it is doing the same. */
  readonly signature: string;
  readonly filePaths: readonly string[];
  readonly context: SubtaskContext;
  /** The specialist that its template names. */
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
  /** What is answered if no answer comes in time. */
  readonly default?: string;
  /** How long to wait for an answer; the policy's time unless told, and never longer. */
  readonly waitMs?: number;
};

export type ToolResponse = {
  /** "question": the subtask that it waits for asks something. */
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
  /** The conversation that asked for it. */
  readonly session: JobId;
  /** Levels of subtasks that may follow below it. */
  readonly levels: number;
  /** It is for a fix, or for a task that was refused a landing: what is kept for these pays for it. */
  readonly isForLanding?: true;
};

/** Where a worker that called for something goes on. */
export type GoOn = {
  /** What its first turn began from: its change is everything since then. */
  readonly base: string;
  /** What its workspace begins with: its own snapshot, or what its subtask made of it. */
  readonly start: string;
  /** The job whose conversation is continued. */
  readonly session: JobId;
  /** How often it has called for something, and when it first did. */
  readonly times: number;
  readonly since: number;
  /** What was seen in the turns before, for the handoff that comes at last. */
  readonly notes: readonly string[];
  /** Undefined while it waits. */
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
  /** Who is asked now: the task whose subtask asks, or a person. */
  readonly to: TaskId | "person";
  /** How often that task was asked in vain. */
  readonly tries: number;
};

/** What happens to a run whose base fails is asked by the run itself, under this name. */
export const BASE_QUESTION = "base";

export const questionKey = (id: string) => `question:${id}`;
export const questionOfKey = (key: string): string | undefined =>
  key.startsWith("question:") ? key.slice("question:".length) : undefined;

/** Said to a worker whose question had no default, and was not answered in time. */
export const UNANSWERED =
  "There was no answer in time. Make the most careful choice yourself, and name it as a concern in your handoff.";
