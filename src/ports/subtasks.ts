/** What does the engine that spawns subtasks need of the world? A handler that talks, files, and places to keep things. */
import type { Failed } from "../core/result.ts";

export type ReturnStatus = "COMPLETE" | "CONTINUATION" | "FAILED" | "NEEDS_INPUT";

/** What a turn of a task came to. The graph's library has another type of this name. */
export type HandledTaskResult = {
  readonly content: string;
  readonly status: ReturnStatus;
  readonly notes: TaskNotes;
};

export type TaskNotes = {
  /** Of CONTINUATION: a `SubtaskRequest`, unchecked as long as it is here. */
  readonly subtask_request?: unknown;
  /** Of NEEDS_INPUT, besides the content, which is the question: its default, and how long to wait for an answer. */
  readonly question?: unknown;
  /** Of FAILED. */
  readonly error?: TaskError;
  /** Of the task itself. Set by the engine, as are the next four. */
  readonly task_id?: string;
  readonly context?: ContextNotes;
  readonly warnings?: readonly string[];
  /** Names what is kept whole of a content or of notes that were too long. */
  readonly artefact?: string;
  /** Which notes were too long, or could not be written as JSON. */
  readonly notes_left_out?: string;
  /** Of an evaluator: whether the draft will do. Of a loop: whether one did. */
  readonly success?: boolean;
  /** Of a loop. */
  readonly iterations?: number;
  readonly history?: readonly Iteration[];
  /** What the turn cost, if the handler knows. */
  readonly usage?: { readonly tokens?: number };
  readonly [key: string]: unknown;
};

/** The effective settings of a task, what it was given to read, and what of that was cut. */
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

/** One piece of what a session has been given, or has said. */
export type ContextEntry = {
  readonly is: "context" | "input" | "answer" | "tool";
  readonly text: string;
  /** Of `tool`. */
  readonly name?: string;
};

export type AssembledContext = {
  readonly settings: ContextSettings;
  /** Under `full`: what the parent's session had before the call that spawned this task, the same bytes in the same order. */
  readonly inherited: readonly ContextEntry[];
  /** Under `full`: the parent's own session, for a handler that knows more of it than the entries tell. */
  readonly parentSession?: unknown;
  /** Everything else: relevant pieces, accumulated data, files. May be empty. */
  readonly text: string;
  readonly files: readonly string[];
};

/** Talks for tasks. What one of these throws fails only the task. `signal` is aborted when the session is over. */
export type TaskHandler<Session = unknown> = {
  open(task: SpawnedTask, context: AssembledContext, signal: AbortSignal): Session | PromiseLike<Session>;
  prompt(session: Session, input: string): HandledTaskResult | PromiseLike<HandledTaskResult>;
  /** What the session asked for by CONTINUATION or NEEDS_INPUT; or a question of its subtask. Prompted afterwards. */
  addToolResponse(session: Session, name: string, result: HandledTaskResult): void | PromiseLike<void>;
};

/** The handler of tasks without a role, and one for each role by its name. */
export type TaskHandlers = {
  readonly handler: TaskHandler;
  readonly handlers: Readonly<Record<string, TaskHandler>>;
};

export type TemplateFile = { readonly file: string } & (
  | { readonly is: "xml"; readonly text: string }
  /** What it exports by default. */
  | { readonly is: "module"; readonly value: unknown }
  | { readonly is: "code" }
  | { readonly is: "unreadable"; readonly why: string }
);

/** None of these throws. Paths are relative to the folder that the tasks are about, with "/". */
export type ContextFiles = {
  read(path: string, signal: AbortSignal): Promise<{ readonly text: string } | Failed>;
  /** The files that fit the words best, best first. */
  match(query: string, limit: number, signal: AbortSignal): Promise<readonly string[] | Failed>;
};

/** What files there are and what became of them: from it, matching can be done offline. None of these throws. */
export type FileSource = {
  /** `version` is another when the content is. */
  list(signal: AbortSignal): Promise<readonly { readonly path: string; readonly version: string }[] | Failed>;
  read(path: string, signal: AbortSignal): Promise<{ readonly text: string } | Failed>;
  /** Newest first; empty where there is no history. */
  changes(signal: AbortSignal): Promise<readonly FileChange[]>;
};

/** One change of the past: what it was called, and the files that it touched. */
export type FileChange = { readonly subject: string; readonly paths: readonly string[] };

/** Keeps texts that are too long for a result, whole. Must not throw; the name is how to find the text again. */
export type Artefacts = { keep(text: string): Promise<{ readonly name: string } | Failed> };

/** Runs the script step of a loop. Must not throw; an exit code other than 0 is an answer, not a failure. */
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
