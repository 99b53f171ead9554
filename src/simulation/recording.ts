/** What is known of a run that was recorded, as far as it can be played again? */

import type { PlanAnswer } from "../core/answers/plan-answer.ts";
import type { Failure } from "../core/failure.ts";
import type { NewTask } from "../core/log/event.ts";
import type { JobKind } from "../core/rules/policy.ts";
import type { Problem } from "../core/rules/repair.ts";
import { parentId, ROOT, type TaskId } from "../core/task.ts";
import type { Spent } from "../core/used.ts";
import type { Message } from "../engine/inbox.ts";

/** Tasks go by their names, "calendar/grid": numbers are given in the order of events, which may be another. */
export type Recording = {
  readonly goal: string;
  /** By the planner's task; the root's is "t". */
  readonly plans: ReadonlyMap<string, readonly PlannedTurn[]>;
  /** By the task; the first is attempt 1. */
  readonly attempts: ReadonlyMap<string, readonly RecordedAttempt[]>;
  /** By turn; the first is turn 1. */
  readonly lands: readonly GateJob[];
  readonly checks: readonly GateJob[];
  /** What a job of a kind takes of which nothing was recorded, in ms. */
  readonly usualMs: Readonly<Record<JobKind, number>>;
  /** What the target fails to begin with. */
  readonly broken: readonly Problem[];
  /** Candidates, as `membersName` calls them, that were red without a reason, and how often. */
  readonly flakes: ReadonlyMap<string, number>;
  /** Failures that came by themselves, and others' moves of the target. */
  readonly happened: readonly { readonly at: number; readonly what: Problem | "moved" }[];
  readonly said: readonly { readonly at: number; readonly message: Message }[];
  /** How long people took to approve, or to decline, one after the other. */
  readonly approvals: readonly { readonly afterMs: number; readonly message: Message }[];
  readonly flaky: readonly string[];
  /** What cannot be played again as it was, in words. */
  readonly inexact: readonly string[];
};

/** `dies`: it never answered. */
export type End = "answered" | "dies";

export type PlannedTurn = Timed & { readonly said: PlanAnswer | Failure };

export type RecordedAttempt = Timed & {
  /** What it made; without it, `failure` says why nothing came of it. */
  readonly files?: readonly string[];
  readonly failure?: Failure;
  /** Why its candidate was refused. */
  readonly refused?: "conflict" | "red";
};

/** `failure`: the machine's, not the tasks'. `flakes`: what failed this time and was never repaired. */
export type GateJob = Timed & { readonly failure?: Failure; readonly flakes?: readonly string[] };

export type Timed = { readonly ms: number; readonly end: End; readonly spent?: Spent };

export const NOTHING_MORE: PlanAnswer = {
  scratchpad: "",
  tasks: [],
  deferred: [],
  addressed: [],
  done: undefined,
  notes: [],
};

/** "calendar/grid": the planners' own names of a task, from the top. */
export class TaskNames {
  readonly #names = new Map<TaskId, string>([[ROOT, ROOT]]);

  add(into: readonly NewTask[]): void {
    for (const { id, spec } of into) {
      const above = parentId(id) ?? ROOT;
      this.#names.set(id, above === ROOT ? spec.key : `${this.of(above)}/${spec.key}`);
    }
  }

  of(task: TaskId): string {
    return this.#names.get(task) ?? task;
  }
}
