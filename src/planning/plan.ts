/** The execution plan: the one format that is written, checked, shown and run. */
import type { Score } from "../core/rules/score.ts";
import type { Delivers } from "../core/task.ts";

export type { Score } from "../core/rules/score.ts";

/** As it is in a plan file. Names are those that other tools of this kind know. */
export type ExecutionPlan = {
  /** The number of this format. */
  readonly skein_plan: 1;
  /** One sentence. */
  readonly goal: string;
  /** Who made it: "rules", or "agent" with what people call it. */
  readonly planner: string;
  readonly max_concurrent: number;
  /** How complex the request is; left out if it was not scored. */
  readonly score?: Score;
  readonly success_criteria: readonly string[];
  readonly assumptions: readonly string[];
  /** What blocks planning, the most critical first. While there are some, the plan is not ready. */
  readonly questions: readonly Question[];
  readonly context: {
    readonly files: readonly string[];
    readonly patterns: readonly string[];
    readonly tests: readonly string[];
  };
  readonly tasks: readonly PlanTask[];
  readonly risks: readonly string[];
  /** Where its planner says that each order and limit of the request went. Left out if it did not say. */
  readonly coverage?: readonly Coverage[];
  /** Sentences of the request that were looked for and not found in any task or assumption. Left out if there are none. */
  readonly not_covered?: readonly string[];
};

/** `says`: a sentence of the request. `in`: the ids of the tasks that do it, or "assumption". */
export type Coverage = { readonly says: string; readonly in: readonly string[] | "assumption" };

export type PlanTask = {
  readonly id: string;
  /** A short imperative title. */
  readonly subject: string;
  readonly description: string;
  /** The subject in the present continuous, shown while the task runs. */
  readonly activeForm: string;
  /** Ids of the tasks that must be done first. */
  readonly blockedBy: readonly string[];
  /** Files that it may change, from the top of the repository; a folder ends in "/". Empty: not known. */
  readonly scope: readonly string[];
  /** Files that it reads in order to do so. */
  readonly reads: readonly string[];
  readonly delivers: Delivers;
  readonly requirements: readonly string[];
  /** A command that passes when it is done. */
  readonly success_criterion?: string;
  /** 1 is the most urgent, 5 the default. */
  readonly priority?: number;
  /** A hint for the name of its branch. */
  readonly branch?: string;
  /** Labels that a machine of a fleet must have to work on it, such as "gpu". */
  readonly needs?: readonly string[];
  readonly estimate?: Estimate;
  readonly metadata: {
    readonly wave: number;
    /** The same as `id`. */
    readonly phase_id: string;
    readonly agent: string;
    /** Whether others are in its wave. */
    readonly parallel: boolean;
    /** `$CLAUDE_SCRATCHPAD_DIR/<name>.md`. */
    readonly output_file?: string;
    /** How often the request was split to come to it: 1 for a part of the request itself. */
    readonly depth: number;
    /** What it is a part of. */
    readonly parent_id?: string;
  };
};

/** What one attempt takes, as far as it is known. */
type Estimate = { readonly minutes?: number; readonly tokens?: number; readonly dollars?: number };

export type Question = {
  /** A name for it, unique in the plan. */
  readonly id: string;
  /** With the default in its text, so that it can simply be confirmed. */
  readonly question: string;
  readonly default: string;
  /** Planning without an answer would be guessing; else the default is taken and said. */
  readonly blocking: boolean;
};

/** The format's version, and the names for a worker without a role. */
export const PLAN_FORMAT = 1;
export const GENERAL_PURPOSE = "general-purpose";
export const AGENT_PREFIX = "workflow-orchestrator:";

/** Stands for the scratchpad in a plan, because the folder is known only when the plan runs. */
export const SCRATCHPAD = "$CLAUDE_SCRATCHPAD_DIR";

export const isReady = ({ questions }: Pick<ExecutionPlan, "questions">): boolean =>
  !questions.some(({ blocking }) => blocking);
