/** How does the fold see a run? As `RunState` with the locks taken off; nobody else may. */

import type { Job, JobId } from "./job.ts";
import type { JobKind } from "./policy.ts";
import type {
  Account,
  Concern,
  Dealt,
  Landing,
  Planner,
  Repair,
  Running,
  RunState,
  Setup,
  Spending,
  Target,
  Waiter,
} from "./state.ts";
import type { Question } from "./subtask.ts";
import type { Task, TaskId, Tries } from "./task.ts";
import type { Used } from "./used.ts";

type Loose<T> = { -readonly [K in keyof T]: T[K] };

export type TaskDraft = Loose<Omit<Task, "tries">> & { tries: Loose<Tries> };

export type PlannerDraft = Loose<Omit<Planner, "active" | "keys" | "news" | "concerns" | "dealt">> & {
  readonly active: Set<TaskId>;
  readonly keys: Map<string, TaskId>;
  readonly news: TaskId[];
  readonly concerns: Map<string, Concern>;
  readonly dealt: Dealt[];
};

type Containers = {
  readonly tasks: Map<TaskId, TaskDraft>;
  readonly planners: Map<TaskId, PlannerDraft>;
  readonly running: Map<JobId, Running>;
  readonly count: Record<JobKind, number>;
  readonly turns: { land: number; check: number };
  readonly late: Map<string, Job>;
  readonly unanswered: Set<JobId>;
  readonly waiting: Map<TaskId, Waiter[]>;
  readonly parked: Map<TaskId, TaskId>;
  readonly tips: Set<string>;
  readonly lost: Map<string, readonly TaskId[]>;
  readonly target: Loose<Target>;
  readonly setup: Loose<Setup>;
  readonly repair: Loose<Omit<Repair, "pending" | "tried" | "known">> & {
    readonly pending: Set<TaskId>;
    readonly tried: Set<string>;
    readonly known: Set<string>;
  };
  readonly spent: Loose<Spending>;
  readonly subtrees: Map<TaskId, Used>;
  readonly owed: Set<TaskId>;
  readonly accounts: Map<string, Account>;
  readonly flaky: Map<string, number>;
  readonly toSettle: Set<TaskId>;
  readonly steers: string[];
  readonly asked: Map<TaskId, readonly string[]>;
  readonly questions: Map<string, Question>;
};

export type Draft = Loose<Omit<RunState, keyof Containers | "landing">> & Containers & { landing: Landing };
