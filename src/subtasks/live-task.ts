/** The state of a running task, and how it is stopped with all tasks below it. */
import type { Clock } from "../ports/clock.ts";
import type {
  Artefacts,
  ContextEntry,
  ContextFiles,
  ContextSettings,
  HandledTaskResult,
  ScriptRunner,
  SpawnedTask,
  TaskError,
  TaskHandler,
  TaskInputs,
} from "../ports/subtasks.ts";
import type { Budget } from "./budget.ts";
import type { ContextPiece, EndedSubtask } from "./context.ts";
import { failedResult, taskFailure, thrownError, withDetails } from "./errors.ts";
import type { Expectation } from "./expectations.ts";
import type { SubtaskLimits } from "./limits.ts";
import type { TemplateRegistry } from "./registry.ts";
import type { ContextManagement } from "./settings.ts";
import type { Template } from "./template.ts";

/** What all tasks of one `executeTask` share. */
export type Chain = {
  readonly limits: SubtaskLimits;
  readonly clock: Pick<Clock, "now" | "wakeAt">;
  readonly registry: TemplateRegistry | undefined;
  readonly handler: TaskHandler;
  readonly handlers: Readonly<Record<string, TaskHandler>>;
  readonly artefacts: Artefacts;
  readonly files: ContextFiles | undefined;
  readonly runScript: ScriptRunner | undefined;
  /** Why there is no `runScript`, in words, if there is a reason. */
  readonly whyNoScripts: string | undefined;
  readonly ask:
    | ((question: TaskQuestion, signal: AbortSignal) => QuestionAnswer | PromiseLike<QuestionAnswer>)
    | undefined;
  readonly emit: (event: SubtaskEvent) => void;
  /** Runs a task below another one, or returns why it was refused. Never throws. */
  readonly spawn: (parent: LiveTask | undefined, order: TaskOrder) => Promise<Ran>;
};

/** `undefined`: there is no answer. */
export type QuestionAnswer = string | undefined;

export type TaskQuestion = {
  /** The id of the task that asked first. */
  readonly task: string;
  readonly text: string;
  /** Used if there is no answer in time. */
  readonly default?: string;
  readonly waitMs: number;
  /** The tasks that passed it on, nearest first. */
  readonly passedOnBy: readonly string[];
};

export type SubtaskEvent =
  | {
      readonly is: "spawned";
      readonly task: SpawnedTask;
      readonly signature: string;
      readonly settings: ContextSettings;
    }
  | { readonly is: "asked"; readonly question: TaskQuestion }
  | { readonly is: "answered"; readonly question: TaskQuestion; readonly by: string }
  | { readonly is: "ended"; readonly id: string; readonly result: HandledTaskResult }
  /** A stopped task answered late: its result is not used, but reported. */
  | { readonly is: "late"; readonly id: string; readonly result: HandledTaskResult };

/** A task to run. */
export type TaskOrder = {
  readonly template: Template;
  readonly type: string;
  readonly subtype: string;
  readonly description: string;
  readonly inputs: TaskInputs;
  readonly filePaths: readonly string[];
  readonly maxDepth?: number | undefined;
  readonly expectation?: Expectation | undefined;
  readonly layers: readonly (ContextManagement | undefined)[];
  readonly onFirstAnswer?: (() => void) | undefined;
};

/** `isRefused`: the task never began. */
export type Ran = { readonly id: string; readonly result: HandledTaskResult; readonly isRefused: boolean };

/** What is fixed when a task is spawned. */
type Known = {
  readonly chain: Chain;
  readonly spawned: SpawnedTask;
  readonly template: Template;
  readonly parent: LiveTask | undefined;
  /** The number of entries that its parent's session had before the call that spawned it. */
  readonly entriesBefore: number;
  /** The number of levels that may be used below it. */
  readonly levelsLeft: number;
  readonly budget: Budget;
  readonly signature: string;
  readonly inputsText: string;
  readonly filePaths: readonly string[];
  readonly settings: ContextSettings;
  /** The context settings for its own tasks, if it is a group. */
  readonly said: ContextManagement;
  readonly expectation: Expectation | undefined;
  readonly handler: TaskHandler;
  /** Called when its first prompt was answered, or never will be. */
  readonly onFirstAnswer: (() => void) | undefined;
};

/** Owned by the flow that runs the task. Any other flow may stop it. */
export class LiveTask {
  readonly known: Known;
  readonly warnings: string[];
  /** Undefined for a group, which has no session. */
  session: { readonly value: unknown } | undefined;
  /** Everything that its session was given and has said; entries are only added. */
  entries: ContextEntry[] = [];
  pieces: readonly ContextPiece[] = [];
  files: readonly string[] = [];
  truncated: readonly string[] = [];
  /** Its subtasks that have ended. */
  readonly ended: EndedSubtask[] = [];
  continuations = 0;
  /** What it had said when it last continued. */
  partial = "";
  /** Set once, when it failed or was stopped; what its session says later does not change it. */
  over: HandledTaskResult | undefined;
  /** Questions of this task and of tasks below it are put to the session above one after the other. */
  questions: Promise<unknown> = Promise.resolve();

  readonly #abort = new AbortController();
  readonly #below = new Set<LiveTask>();
  #spawnedCount = 0;
  #waiting: (() => void) | undefined;

  constructor(known: Known, warnings: readonly string[]) {
    this.known = known;
    this.warnings = [...warnings];
    if (known.parent !== undefined) known.parent.#below.add(this);
  }

  get id(): string {
    return this.known.spawned.id;
  }

  nextId(): string {
    this.#spawnedCount += 1;
    return `${this.id}.${this.#spawnedCount}`;
  }

  /** The nearest task with a session, itself included. */
  get speaker(): LiveTask | undefined {
    let at: LiveTask | undefined = this;
    while (at !== undefined && at.session === undefined) at = at.known.parent;
    return at;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Ends the task and everything below it, and keeps its partial results. The first reason counts. */
  stop(error: TaskError): HandledTaskResult {
    if (this.over !== undefined) return this.over;
    const partialResults = this.#partials();
    const full = partialResults === undefined ? error : withDetails(error, { partialResults });
    this.over = failedResult(full, this.partial);
    this.#abort.abort(new Error(error.message));
    for (const below of this.#below)
      below.stop(taskFailure("execution_halted", `stopped with ${this.id}: ${error.message}`));
    this.#waiting?.();
    return this.over;
  }

  #partials(): unknown {
    if (this.partial === "" && this.ended.length === 0) return undefined;
    return { content: this.partial, subtasks: this.ended.map(summaryOf) };
  }

  end(): void {
    const { parent, onFirstAnswer } = this.known;
    if (parent !== undefined) parent.#below.delete(this);
    onFirstAnswer?.();
    this.#abort.abort(ENDED); // Releases what is held for its session.
  }

  /**
   * The outcome of `work`, unless the task is stopped first, or the time is up, which stops it. A later outcome goes to
   * `late`. A task waits for one thing at a time.
   */
  async within<T>({ what, ms, work, late }: Wait<T>): Promise<Got<T>> {
    if (this.over !== undefined) return { over: this.over };
    let answer: T | PromiseLike<T>;
    try {
      answer = work();
      if (!isPromise(answer) && this.over === undefined) return { value: answer }; // No timer for an immediate answer.
    } catch (thrown) {
      return { over: this.stop(thrownError(what, thrown)) };
    }
    const { promise, resolve } = Promise.withResolvers<End<T>>();
    this.#waiting = () => resolve({ is: "stopped" });
    const callOff = this.#stopAfter(what, ms);
    void settle(Promise.resolve(answer), (end) => {
      if (this.over !== undefined && end.is === "answered") late?.(end.value);
      resolve(end);
    });
    if (this.over !== undefined) resolve({ is: "stopped" }); // It was stopped while `work` was called.
    const end = await promise;
    callOff();
    this.#waiting = undefined;
    if (this.over !== undefined) return { over: this.over };
    if (end.is === "answered") return { value: end.value };
    return { over: this.stop(thrownError(what, end.is === "threw" ? end.error : undefined)) };
  }

  #stopAfter(what: string, ms: number): () => void {
    const { budget, chain } = this.known;
    const until = chain.clock.now() + ms;
    const isBudgets = budget.until <= until;
    return chain.clock.wakeAt(isBudgets ? budget.until : until, () =>
      this.stop(
        isBudgets
          ? budget.endTime(chain.clock.now())
          : taskFailure("execution_timeout", `${what}: no answer within ${ms} ms`),
      ),
    );
  }
}

const ENDED = new Error("the task has ended");

type Wait<T> = {
  readonly what: string;
  readonly ms: number;
  readonly work: () => T | PromiseLike<T>;
  readonly late?: (value: T) => void;
};

type Got<T> = { readonly value: T } | { readonly over: HandledTaskResult };

type End<T> =
  | { readonly is: "answered"; readonly value: T }
  | { readonly is: "threw"; readonly error: unknown }
  | { readonly is: "stopped" };

/** Never rejects, so that an answer that is no longer needed cannot crash the process. */
async function settle<T>(answer: PromiseLike<T>, end: (end: End<T>) => void): Promise<void> {
  const settled: End<T> = await answer.then(
    (value) => ({ is: "answered", value }),
    (error: unknown) => ({ is: "threw", error }),
  );
  end(settled);
}

const isPromise = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

const summaryOf = ({ id, type, result: { status, content } }: EndedSubtask) => ({
  id,
  type,
  status,
  content,
});
