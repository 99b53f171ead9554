/** Types of a task, a node in the tree of work. The root is the user's goal. */
import type { Failure } from "./failure.ts";
import type { Handoff } from "./handoff.ts";
import type { TaskId } from "./ids.ts";
import type { Scope } from "./scope.ts";
import type { GoOn, Spawn } from "./subtask.ts";
import type { Used } from "./used.ts";

export type { TaskId };

export const ROOT = "t" as TaskId;
export const childId = (parent: TaskId, ordinal: number) => `${parent}.${ordinal}` as TaskId;
export const parentId = (id: TaskId): TaskId | undefined =>
  id === ROOT ? undefined : (id.slice(0, id.lastIndexOf(".")) as TaskId);

/** The task of the root planner that is above `id`, or is `id` itself. Undefined for the root. */
export function topId(id: TaskId): TaskId | undefined {
  if (id === ROOT) return undefined;
  const end = id.indexOf(".", ROOT.length + 1);
  return end === -1 ? id : (id.slice(0, end) as TaskId);
}

/** The DAG names its nodes by plain strings; in a run they are task ids. */
export const taskIdsOf = (nodes: readonly string[]) => nodes as readonly TaskId[];

/** How many subplanners are above: 0 for a task of the root planner, and for the root itself. */
export function depth(id: TaskId): number {
  let dots = 0;
  for (let i = id.indexOf("."); i !== -1; i = id.indexOf(".", i + 1)) dots += 1;
  return Math.max(0, dots - 1);
}

/** A `change` lands; a `report` is done once its worker has reported. */
export type Delivers = "change" | "report";

/**
 * How a task was done without landing anything. `answered`: its report is its result. `unchanged`: it was to change
 * something, but its success criterion already passes on the tree from before the task.
 */
export type EndedAs = "answered" | "unchanged";

/** A label of a machine of a fleet: "gpu", "linux-arm64". */
export const LABEL = /^[a-z0-9][a-z0-9._-]{0,31}$/;
export const MAX_LABELS = 8;

/** `plan`: a planner splits it. `work`: one worker takes it whole. Decided when the task is made. */
export type TaskShape = "plan" | "work";

/**
 * What its planner says about splitting: `complex`, split it first; `atomic`, never split it. Absent: the policy
 * decides.
 */
export type TaskSize = "complex" | "atomic";

/**
 * Conditions that only a plan given by a person can set: such a task is never split, and its result is checked against
 * them.
 */
export type Terms = {
  /** Its files are not known beforehand: it holds none until a refused attempt has shown them. */
  readonly loose?: true;
  /** The file of the run's scratchpad for its result; its worker answers `DONE|<path>`, and nothing else. */
  readonly output?: string;
  /** Files that its worker reads for the task. */
  readonly reads?: readonly string[];
  /** A command that must pass in the workspace before the result counts. */
  readonly criterion?: string;
};

export type TaskSpec = {
  /** The planner's own name for it, unique among that planner's tasks. */
  readonly key: string;
  readonly description: string;
  readonly acceptance: string;
  readonly scope: Scope;
  /** Siblings that must be done first. */
  readonly after: readonly TaskId[];
  /** 1 is the most urgent. The goal has 5; a task without one gets its parent's. */
  readonly priority: number;
  readonly delivers: Delivers;
  readonly shape: TaskShape;
  /** Safe inside a branch name. */
  readonly slug: string;
  /** The specialist that the planner named. */
  readonly agent?: string;
  /** Labels that a machine must have to work on the task, such as "gpu"; only a fleet has several machines. */
  readonly needs?: readonly string[];
  /** Set on a fix task: the failures it must remove. Such a task may land on a red target. */
  readonly repairs?: readonly string[];
  readonly terms?: Terms;
  /** Set on a subtask that a worker asked for: it starts from the worker's snapshot, and lands with it. */
  readonly spawn?: Spawn;
};

/**
 * Holds only what was decided; whether a task is running, ready or blocked is derived.
 *
 *   open ──────────────→ landing ──→ done          (a worker's change)
 *     │ └→ waiting ─→ open                         (a worker that called for a subtask, or asked a question)
 *     │ └→ delegated ──────────────→ done          (a planner's subtree)
 *     │ └──────────────────────────→ done          (a report)
 *     └→ failed | skipped | cancelled              (from any of the first three)
 *   landing ─→ open                                (refused: attempted again)
 */
export type TaskState =
  | { readonly is: "open" }
  | Delegated
  /** `answering`: the question of that subtask which the task answers meanwhile. */
  | { readonly is: "waiting"; readonly for: WaitsFor; readonly answering?: string }
  | { readonly is: "landing"; readonly attempt: number; readonly handoff: Handoff }
  | { readonly is: "done"; readonly handoff: Handoff; readonly commit?: string; readonly ended?: EndedAs }
  | { readonly is: "failed"; readonly failure: Failure; readonly handoff?: Handoff }
  | { readonly is: "skipped"; readonly because: TaskId }
  | { readonly is: "cancelled"; readonly reason: string };

/** `over`: why the planner will not be asked again. */
type Delegated = { readonly is: "delegated"; readonly over?: "finished" | Failure };

type WaitsFor = { readonly subtask: TaskId } | { readonly question: string };

/** Counts of a task's attempts. The policy limits all of them except `attempts` and `turns`. */
export type Tries = {
  /** Work jobs started: the number in the branch name, so that no two attempts share one. */
  readonly attempts: number;
  /** Attempts whose agent failed, or whose result could not be accepted. */
  readonly failed: number;
  /** Attempts whose candidate was refused: a conflict, or a gate that turned red. */
  readonly refused: number;
  /** Jobs in a row that ended without an answer (`lost`), or whose agent was unreachable. */
  readonly lost: number;
  readonly unreachable: number;
  /** Plan jobs started, and how many failed in a row. */
  readonly turns: number;
  readonly planErrors: number;
  /** Answers of its planner that were accepted. */
  readonly answers: number;
};

/** One earlier attempt, as the next one is told of it. */
export type PastAttempt = {
  readonly attempt: number;
  readonly failure: Failure;
  /** What it had made, if anything: its summary, its diff, its concerns. */
  readonly handoff?: Handoff;
};

export type Task = {
  readonly id: TaskId;
  readonly spec: TaskSpec;
  /** Its place among all tasks, smaller first: rank, then age. */
  readonly order: number;
  readonly state: TaskState;
  readonly tries: Tries;
  /** The last few failed attempts, newest last. */
  readonly past: readonly PastAttempt[];
  /** The planner's notes to itself, and why its last answer was refused. */
  readonly scratchpad: string;
  readonly rejected: readonly string[];
  /** The commit that its newest attempt started from, and where it goes on if its worker made a call. */
  readonly base: string;
  readonly goOn?: GoOn | undefined;
  /** When its newest job was started, in ms. */
  readonly startedAt: number;
  /** What its own jobs have cost, without the tasks below it. The root's includes landings and checks. */
  readonly used: Used;
  /** Its cancellation was requested while its candidate was being landed: the end of the landing decides. */
  readonly cancelling: boolean;
};

export const isSettled = (task: Task) =>
  task.state.is === "done" ||
  task.state.is === "failed" ||
  task.state.is === "skipped" ||
  task.state.is === "cancelled";

export const isRepair = (task: Task) => task.spec.repairs !== undefined;
