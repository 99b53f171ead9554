/** Types of the library: what a program passes to an orchestrator, and what it gets. */
/// <reference lib="esnext.disposable" preserve="true" />
import type * as z from "zod";
import type { schema } from "../../config/schema.ts";
import type { PlanBrief, WorkBrief } from "../../core/brief.ts";
import type { Failure } from "../../core/failure.ts";
import type { Event, RunEnd } from "../../core/log/event.ts";
import type { Failed } from "../../core/result.ts";
import type { Policy } from "../../core/rules/policy.ts";
import type { Scope } from "../../core/scope.ts";
import type { GivenUpView, RunView, TaskRow } from "../../core/view/view.ts";
import type { ExecutionPlan } from "../../planning/plan.ts";
import type { PlanFunction, PlanResult, WorkFunction, WorkResult } from "../../ports/agent-functions.ts";
import type { DeliveryEnd } from "../../ports/delivery.ts";
import type { Heard } from "../../ports/mailbox.ts";

export type OrchestratorOptions = {
  /** A folder in the git repository to work on. */
  readonly repository: string;
  /** The keys of skein.yaml. The file itself is not read: only what is given here counts, and the defaults. */
  readonly config?: Settings;
  /** What agents and gates may see (see `workspace.pass`), SKEIN_STATE_DIR and SKEIN_FLEET_URL; else the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * What the repository's files may ask for (`.mcp.json`, roles, templates, settings of `.git/config`): `skein trust`
   * shows it, and stores what a person agrees to. Here the program agrees: to the set with this hash, or to everything.
   */
  readonly trust?: string | true;
  /**
   * The worker, in this process; without it, `config.agent`. With `config.fleet.enabled`, neither function may be
   * given.
   */
  readonly worker?: WorkFunction;
  /** The planner; without it, `config.planner` or `config.agent`; without those, one worker takes the whole goal. */
  readonly planner?: PlanFunction;
};

/** The keys of skein.yaml, with values as written there: durations such as "10m", sizes such as "8MB". */
export type Settings = Frozen<Omit<z.input<typeof schema>, "deliver">>;

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

export type RunWanted = {
  /** The goal. If a plan is given, the default is the plan's goal. */
  readonly goal?: string;
  /** A plan to follow instead of a planner: made or read by `skein-agents/planning`, or the contents of a plan file. */
  readonly plan?: ExecutionPlan | object;
  /** The branch or commit to start from, instead of the configured one. */
  readonly base?: string;
  /** Stops the run at once; finished work is kept, and `resume` continues it. */
  readonly signal?: AbortSignal;
};

/** No method throws: an error is `{ failure }`, with the reason and what to try; see `hasFailed`. */
export type Orchestrator = AsyncDisposable & {
  /** Starts a run, which goes on in this process. */
  run(wanted: RunWanted): Promise<RunHandle | Failed>;
  /** Resumes a run that was stopped or killed, with the configuration that it was started with. */
  resume(run: string, options?: { readonly signal?: AbortSignal }): Promise<RunHandle | Failed>;
  /** The runs of this repository, newest first; an unreadable one is a failure in the list. */
  runs(): Promise<readonly (RunListed | Failed)[] | Failed>;
  /** The state of a run, whichever process drives it. */
  view(run: string): Promise<RunView | Failed>;
};

export type RunListed = {
  readonly run: string;
  readonly goal: string;
  readonly base: string;
  readonly baseBranch?: string;
  readonly createdAt: number;
  /** A process is driving it now. */
  readonly isGoing: boolean;
};

/** A run in this process. Leaving its scope with `await using` stops it, and waits for that. */
export type RunHandle = AsyncDisposable & {
  readonly run: string;
  /** The branch that it lands on. */
  readonly target: string;
  /** Every event once it is durable: each iteration begins with the first, and ends with the engine. */
  readonly events: AsyncIterable<Event>;
  /** Resolves when nothing of it runs any more. Never rejects. */
  readonly ended: Promise<RunEnded>;
  view(): RunView;
  /** Its tasks as a tree, parents first. */
  tasks(): readonly TaskRow[];
  /** Starts nothing new; running jobs continue. */
  pause(): Promise<Heard>;
  resume(): Promise<Heard>;
  /** Sends a message to the planner. */
  steer(message: string): Promise<Heard>;
  /**
   * Starts a plan that waits for approval (`approve` in the configuration), or lets a task land that waits for it
   * (`gateChanges: ask`), by its id or its name.
   */
  approve(task?: string): Promise<Heard>;
  /** Answers a question of a worker; `view().questions` has the open ones. */
  answer(question: string, text: string): Promise<Heard>;
  /**
   * Rejects such a plan, whose tasks are given up, or such a task, which is retried; the planner or the worker is told
   * why.
   */
  decline(reason: string, task?: string): Promise<Heard>;
  /** Gives up a task, by its id or its name, with all tasks below it; without one, the run. */
  cancel(task?: string, reason?: string): Promise<Heard>;
  /** Resolves when it has stopped. A running landing may finish; with `now` it may not. */
  stop(options?: { readonly now?: boolean }): Promise<Heard>;
  /** After its end: moves the branch that it started from to what landed. */
  deliver(options?: DeliverOptions): Promise<DeliveryEnd | Failed>;
};

export type RunEnded =
  | {
      readonly is: "closed";
      readonly how: RunEnd;
      /** What is not done, in words. */
      readonly left: readonly string[];
      /** What planners gave up, and why, if anything; part of `left`. */
      readonly givenUp?: readonly GivenUpView[];
    }
  /**
   * The run can be resumed. `failure`: why it stopped by itself: a key was refused, the gate or a workspace cannot be
   * set up, or an account is rate limited for longer than `quota.wait`.
   */
  | { readonly is: "stopped"; readonly failure?: Failure }
  | { readonly is: "lost"; readonly failure: Failure };

export type DeliverOptions = {
  /** Another branch than the one that it started from. */
  readonly branch?: string;
  /** Deliver even if the branch is checked out, whose files then change. */
  readonly intoCheckout?: boolean;
  /** Deliver even if the run is not done. */
  readonly partial?: boolean;
  readonly signal?: AbortSignal;
};

export type ParentTask = {
  /** Letters, digits, dots, dashes, underscores. */
  readonly id: string;
  readonly description: string;
  /** The files that it may change; a path that ends in "/" is a folder. */
  readonly scope: Scope;
  readonly acceptance?: string;
  readonly priority?: number;
};

export type DecomposeOptions = {
  /** Called first, and again after each settled subtask; also for a subtask that is large enough. */
  readonly plan: (
    brief: PlanBrief,
    turn: { readonly signal: AbortSignal },
  ) => PlanResult | Promise<PlanResult>;
  /** Does one subtask that is small enough, or that its planner kept whole. */
  readonly work: (
    brief: WorkBrief,
    turn: { readonly signal: AbortSignal },
  ) => WorkResult | Promise<WorkResult>;
  /** Changes to the default policy, such as `{ retry: { maxFailed: 1 } }`. */
  readonly policy?: PolicyChanges;
  /** Stops the task: all running functions are told, and the handoff says so. */
  readonly signal?: AbortSignal;
  /** Called with every event as it is decided. */
  readonly onEvent?: (event: Event) => void;
};

export type PolicyChanges = {
  readonly [Name in Changeable]?: Policy[Name] extends string | Scope ? Policy[Name] : Partial<Policy[Name]>;
};

/** The other parts of the policy are about landing, or about the root planner. */
type Changeable =
  | ("capacity" | "leaseMs" | "subplanner" | "decompose" | "order" | "overlap" | "sharedFiles")
  | ("retry" | "budget" | "brief");
