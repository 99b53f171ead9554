/** Ports of the engine of subtasks: a handler that prompts sessions, files, artefacts and scripts. */
import type { Failed } from "../core/result.ts";

export type ReturnStatus = "COMPLETE" | "CONTINUATION" | "FAILED" | "NEEDS_INPUT";

/** The result of a task's turn. The graph's library has another type with the name `TaskResult`. */
export type HandledTaskResult = {
  readonly content: string;
  readonly status: ReturnStatus;
  readonly notes: TaskNotes;
};

export type TaskNotes = {
  /** With CONTINUATION: a `SubtaskRequest`, unchecked at this point. */
  readonly subtask_request?: unknown;
  /** With NEEDS_INPUT, whose content is the question: its default, and how long to wait for an answer. */
  readonly question?: unknown;
  /** With FAILED. */
  readonly error?: TaskError;
  /** The task's own id. Set by the engine, like the next four. */
  readonly task_id?: string;
  readonly context?: ContextNotes;
  readonly warnings?: readonly string[];
  /** The name under which a content or notes that were too long are kept whole. */
  readonly artefact?: string;
  /** Which notes were too long, or could not be written as JSON. */
  readonly notes_left_out?: string;
  /** From an evaluator: whether the draft is good enough. From a loop: whether any draft was. */
  readonly success?: boolean;
  /** From a loop. */
  readonly iterations?: number;
  readonly history?: readonly Iteration[];
  /** What the turn cost, if the handler knows. */
  readonly usage?: { readonly tokens?: number };
  readonly [key: string]: unknown;
};

/** The effective settings of a task, the files that it was given, and which of them were cut. */
export type ContextNotes = ContextSettings & {
  readonly files?: readonly string[];
  readonly truncated?: readonly string[];
};

/** One round of a loop. */
export type Iteration = {
  readonly iteration: number;
  readonly director: string;
  readonly script?: ScriptOutcome;
  readonly evaluator: string;
  readonly success: boolean;
};

export type FailureReason =
  | "subtask_failure"
  | "max_depth_exceeded"
  | "cycle_detected"
  | "template_not_found"
  | "input_validation_failure"
  | "output_format_failure"
  | "execution_timeout"
  | "context_retrieval_failure"
  | "context_matching_failure"
  | "context_parsing_failure"
  | "xml_validation_failure"
  | "execution_halted"
  | "unexpected_error";

export type TaskError =
  | {
      readonly type: "TASK_FAILURE";
      readonly reason: FailureReason;
      readonly message: string;
      readonly details?: FailureDetails;
    }
  | {
      readonly type: "RESOURCE_EXHAUSTION";
      readonly resource: string;
      readonly message: string;
      readonly metrics: { readonly used: number; readonly limit: number };
      readonly details?: FailureDetails;
    };

export type FailureDetails = {
  readonly subtaskType?: string;
  readonly partialResults?: unknown;
  readonly originalError?: TaskError;
  readonly [key: string]: unknown;
};

export type ContextSettings = {
  readonly inherit_context: "full" | "none" | "subset";
  readonly accumulate_data: boolean;
  readonly accumulation_format: "notes_only" | "full_output";
  readonly fresh_context: "enabled" | "disabled";
};

/** A task as its handler sees it. */
export type SpawnedTask = {
  /** "t" for the first task, "t.2" for the second that it spawned. */
  readonly id: string;
  /** 0 for the first task. */
  readonly depth: number;
  readonly template: string;
  readonly type: string;
  readonly subtype: string;
  readonly description: string;
  readonly inputs: TaskInputs;
};

export type TaskInputs = Readonly<Record<string, unknown>>;

/** One piece of what a session was given or has said. */
export type ContextEntry = {
  readonly is: "context" | "input" | "answer" | "tool";
  readonly text: string;
  /** With `tool`. */
  readonly name?: string;
};

export type AssembledContext = {
  readonly settings: ContextSettings;
  /**
   * With `full`: what the parent's session had before the call that spawned this task, the same bytes in the same
   * order.
   */
  readonly inherited: readonly ContextEntry[];
  /** With `full`: the parent's own session, for a handler that needs more of it than the entries. */
  readonly parentSession?: unknown;
  /** Everything else: relevant pieces, accumulated data, files. May be empty. */
  readonly text: string;
  readonly files: readonly string[];
};

/**
 * Prompts sessions of tasks. An error thrown here fails only the task. `signal` is aborted when the session is over.
 */
export type TaskHandler<Session = unknown> = {
  open(task: SpawnedTask, context: AssembledContext, signal: AbortSignal): Session | PromiseLike<Session>;
  prompt(session: Session, input: string): HandledTaskResult | PromiseLike<HandledTaskResult>;
  /** Adds the response to the session's CONTINUATION or NEEDS_INPUT, or a question of its subtask. `prompt` follows. */
  addToolResponse(session: Session, name: string, result: HandledTaskResult): void | PromiseLike<void>;
};

/** The handler of tasks without a role, and the handlers of roles by name. */
export type TaskHandlers = {
  readonly handler: TaskHandler;
  readonly handlers: Readonly<Record<string, TaskHandler>>;
};

export type TemplateFile = { readonly file: string } & (
  | { readonly is: "xml"; readonly text: string }
  /** The module's default export. */
  | { readonly is: "module"; readonly value: unknown }
  | { readonly is: "code" }
  | { readonly is: "unreadable"; readonly why: string }
);

/** None of these throws. Paths are relative to the tasks' folder, with "/". */
export type ContextFiles = {
  read(path: string, signal: AbortSignal): Promise<{ readonly text: string } | Failed>;
  /** The files that match the query best, best first. */
  match(query: string, limit: number, signal: AbortSignal): Promise<readonly string[] | Failed>;
};

/** The files of a folder and their history, from which files can be matched offline. None of these throws. */
export type FileSource = {
  /** `version` changes whenever the content does. */
  list(signal: AbortSignal): Promise<readonly { readonly path: string; readonly version: string }[] | Failed>;
  read(path: string, signal: AbortSignal): Promise<{ readonly text: string } | Failed>;
  /** Newest first; empty without a history. */
  changes(signal: AbortSignal): Promise<readonly FileChange[]>;
};

/** One past change: its subject, and the files that it touched. */
export type FileChange = { readonly subject: string; readonly paths: readonly string[] };

/** Keeps texts that are too long for a result. Must not throw; the name is how to find the text again. */
export type Artefacts = { keep(text: string): Promise<{ readonly name: string } | Failed> };

/** Runs the script step of a loop. Must not throw; an exit code other than 0 is a result, not a failure. */
export type ScriptRunner = (
  script: string,
  input: string,
  signal: AbortSignal,
) => Promise<ScriptOutcome | Failed>;

export type ScriptOutcome = {
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
};
