/** How is a plain function a planner or a worker? What it is given, and what it may return. */
import type { PlanBrief, WorkBrief } from "../core/brief.ts";
import type { HandoffStatus, Metrics } from "../core/handoff.ts";
import type { Spent } from "../core/job.ts";
import type { Scope } from "../core/scope.ts";
import type { Delivers } from "../core/task.ts";
import type { Scratchpad } from "./agent.ts";

/**
 * Splits a task, and is asked again with news of how its parts went. A throw is an error of the planner's: it is asked
 * again, and never taken to be done. An answer without tasks means, the first time, that one worker takes the task as
 * it is; later, that nothing more is needed.
 *
 * What was not done comes as a concern of the kind "undone". Deal with it by a task that takes its place (`by`), or say
 * why it is given up (`because`): then the run ends incomplete, with that reason.
 *
 * ```ts
 * const plan: PlanFunction = ({ first, concerns }) => ({
 *   tasks: first ? [{ id: "a", description: "Write a", acceptance: "a is there", scope: ["a.txt"] }] : [],
 *   addressed: concerns.map(({ id, kind }) =>
 *     kind === "said" ? id : { concern: id, because: "I know no other way to do it" },
 *   ),
 * });
 * ```
 */
export type PlanFunction = (brief: PlanBrief, place: Place) => Awaitable<PlanResult>;

/**
 * Does one task in its own folder, whose changes become its branch. A throw is a failed attempt; the next one is told
 * why. What the folder shows wins over what is returned; if nothing is returned, the folder alone counts.
 *
 * ```ts
 * const work: WorkFunction = async ({ spec }, { folder, signal }) => {
 *   await writeFile(path.join(folder, spec.scope[0]!), "made\n", { signal });
 *   return { status: "complete", summary: `made ${spec.key}` };
 * };
 * ```
 */
export type WorkFunction = (brief: WorkBrief, place: Place) => Awaitable<WorkResult | undefined>;

type Awaitable<T> = T | Promise<T>;

/** Where and how long a function works. What a planner changes in its folder is thrown away. */
export type Place = {
  readonly folder: string;
  /** What a program that it starts there should get, and nothing else: no secrets that were not handed on. */
  readonly environment: Readonly<Record<string, string>>;
  /** In a run that follows a plan: a task with an output file writes it there, and returns `DONE|<path>`. */
  readonly scratchpad?: Scratchpad;
  /**
   * Aborted when the task is cancelled, its time is up, or the run stops. Heed it: a function cannot be ended from
   * outside, and whatever it returns afterwards is not heard.
   */
  readonly signal: AbortSignal;
};

/** A text is read as a model's would be: the answer is found in it. */
export type PlanResult = string | PlannedParts;

export type PlannedParts = {
  /** Comes back in the next brief: the planner's only memory. */
  readonly scratchpad?: string;
  readonly tasks: readonly PlannedPart[];
  /** What no task covers yet, and why. */
  readonly deferred?: readonly { readonly files: Scope; readonly reason: string }[];
  /** Concerns in the brief that are dealt with. Of the kind "said", the id is enough. */
  readonly addressed?: readonly (string | AddressedConcern)[];
  /** False: nothing more for now, but it is not over. */
  readonly done?: boolean;
};

export type AddressedConcern = {
  /** Its id. */
  readonly concern: string;
  /** Of something undone: the id of the task, of this answer or an earlier one, that took its place. */
  readonly by?: string;
  /** Of something undone: why nothing takes its place. */
  readonly because?: string;
};

export type PlannedPart = {
  /** The planner's own name for it: letters, digits, dots, dashes, underscores. Made from the description unless told. */
  readonly id?: string;
  readonly description: string;
  /** How one sees that it is done. */
  readonly acceptance: string;
  /** The files that it may change; a path that ends in "/" is a folder. */
  readonly scope?: Scope;
  /** From 1, the most urgent, to 10; that of the task that is split unless told. */
  readonly priority?: number;
  /** Ids of tasks of the same planner that must be done first. */
  readonly after?: readonly string[];
  /** `change`, unless told: something that lands. A `report` only says something. */
  readonly delivers?: Delivers;
  readonly agent?: string;
  /** Labels that a machine of a fleet must have to work on it, such as "gpu". */
  readonly needs?: readonly string[];
  readonly branch?: string;
};

/** A text is read as a model's would be: the handoff is found in it. */
export type WorkResult = string | WorkReport;

export type WorkReport = {
  /** Only `complete` lands; anything else is a failed attempt whose work is kept. */
  readonly status: HandoffStatus;
  readonly summary: string;
  /** Needed for a change where nothing can be seen of it, as in `decomposeAndExecute`; else what is seen counts. */
  readonly filesChanged?: readonly string[];
  readonly diff?: string;
  readonly concerns?: readonly string[];
  readonly suggestions?: readonly string[];
  readonly metrics?: Partial<Metrics>;
  readonly spent?: Spent;
};

/**
 * Thrown by a function whose model cannot be reached: nothing is held against the task, and it is tried again after a
 * wait that grows.
 */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}
