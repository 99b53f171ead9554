/** Types of plain functions as planners and workers: what they are given, and what they may return. */
import type { PlanBrief, WorkBrief } from "../core/brief.ts";
import type { HandoffStatus, Metrics } from "../core/handoff.ts";
import type { Spent } from "../core/job.ts";
import type { Scope } from "../core/scope.ts";
import type { Delivers } from "../core/task.ts";
import type { Scratchpad } from "./agent.ts";

/**
 * Splits a task, and is asked again with news of its parts. If it throws, that is an error of the planner: it is asked
 * again, and never taken to be done. If the first answer has no tasks, one worker takes the task as
 * it is; a later answer without tasks says that nothing more is needed.
 *
 * Each task that was not done is a concern of the kind "undone". Name the task that takes its place (`by`), or say
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
 * Does one task in its own folder, whose changes become its branch. If it throws, the attempt failed, and the next one
 * is told why. What the folder shows wins over what is returned; without a returned value, only the folder counts.
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
  /**
   * The variables for programs that it starts there, and no others: secrets are included only if they were passed on.
   */
  readonly environment: Readonly<Record<string, string>>;
  /** In a run that follows a plan: a task with an output file writes it there, and returns `DONE|<path>`. */
  readonly scratchpad?: Scratchpad;
  /**
   * Aborted when the task is cancelled, its time is up, or the run stops. Heed it: a function cannot be ended from
   * outside, and what it returns afterwards is ignored.
   */
  readonly signal: AbortSignal;
};

/** A string is read like a model's text: the answer is found in it. */
export type PlanResult = string | PlannedParts;

export type PlannedParts = {
  /** Comes back in the next brief: the planner's only memory. */
  readonly scratchpad?: string;
  readonly tasks: readonly PlannedPart[];
  /** What no task covers yet, and why. */
  readonly deferred?: readonly { readonly files: Scope; readonly reason: string }[];
  /** Concerns in the brief that are dealt with. For the kind "said", the id is enough. */
  readonly addressed?: readonly (string | AddressedConcern)[];
  /** False: no more tasks for now, but the planner is not finished. */
  readonly done?: boolean;
};

export type AddressedConcern = {
  /** The concern's id. */
  readonly concern: string;
  /** For something undone: the id of the task, of this answer or an earlier one, that takes its place. */
  readonly by?: string;
  /** For something undone: why nothing takes its place. */
  readonly because?: string;
};

export type PlannedPart = {
  /** The planner's own name for it: letters, digits, dots, dashes, underscores. Default: made from the description. */
  readonly id?: string;
  readonly description: string;
  /** How to see that the task is done. */
  readonly acceptance: string;
  /** The files that it may change; a path that ends in "/" is a folder. */
  readonly scope?: Scope;
  /** From 1, the most urgent, to 10. Default: the priority of the task that is split. */
  readonly priority?: number;
  /** Ids of tasks of the same planner that must be done first. */
  readonly after?: readonly string[];
  /** `change` (default): something that lands. `report`: only an answer. */
  readonly delivers?: Delivers;
  readonly agent?: string;
  /** Labels that a fleet's machine must have to work on the task, such as "gpu". */
  readonly needs?: readonly string[];
  readonly branch?: string;
};

/** A string is read like a model's text: the handoff is found in it. */
export type WorkResult = string | WorkReport;

export type WorkReport = {
  /** Only `complete` lands; any other status is a failed attempt whose work is kept. */
  readonly status: HandoffStatus;
  readonly summary: string;
  /** Needed only if the folder's changes cannot be seen, as in `decomposeAndExecute`; otherwise the changes count. */
  readonly filesChanged?: readonly string[];
  readonly diff?: string;
  readonly concerns?: readonly string[];
  readonly suggestions?: readonly string[];
  readonly metrics?: Partial<Metrics>;
  readonly spent?: Spent;
};

/**
 * Thrown by a function whose model cannot be reached: the task is not charged, and is tried again after a wait that
 * grows.
 */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}
