/** Lists all numbers and choices that a team may change, each with its unit and its reason. */
import { modules, type Scope, weight } from "../scope.ts";
import type { TaskShape, TaskSize, TaskSpec } from "../task.ts";
import { scoreOf } from "./score.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export type JobKind = "plan" | "work" | "land" | "check";

/** How much of a planner's text is read: a guard against nonsense, not a setting. */
export type AnswerLimits = {
  readonly maxChars: number;
  readonly maxTasks: number;
  /** Of a description, an acceptance or a reason. */
  readonly maxTextChars: number;
  readonly maxScratchpadChars: number;
  /** Entries of one `scope`, `files`, `after`, `deferred` or `addressed`. */
  readonly maxEntries: number;
};

export const ANSWER_LIMITS: AnswerLimits = {
  maxChars: 2_000_000, // About half a million tokens: more than a model writes in one answer.
  maxTasks: 100_000, // Only a guard: `maxTasksPerAnswer` limits what a planner may send at once.
  maxTextChars: 50_000, // About twenty pages for one task.
  maxScratchpadChars: 100_000, // It comes back in every later brief.
  maxEntries: 10_000, // A folder stands for its files, so more are not needed.
};

/** When a task goes to a subplanner rather than to a worker. */
export type SubplannerConfig = {
  /** Subplanners above a task before it must be worked on as it is. */
  readonly maxDepth: number;
  /** Files in scope (a folder counts as four) from which splitting pays. */
  readonly scopeThreshold: number;
  /** Subtasks in one answer: a model cannot keep more apart. */
  readonly maxSubtasks: number;
};

export const DEFAULT_SUBPLANNER_CONFIG: SubplannerConfig = {
  maxDepth: 3, // With ten parts each: a thousand workers' tasks for one task of the root planner.
  scopeThreshold: 4, // Three files are a change that one worker can keep in mind.
  maxSubtasks: 10,
};

export type PlannerPolicy = {
  /** Newly settled tasks after which it is asked again; it is also asked when nothing is active. */
  readonly replanAfter: number;
  readonly maxTasksPerAnswer: number;
  /** Answers in all; a planner that is not done by then never will be. */
  readonly maxAnswers: number;
  /** Turns in a row without a usable answer before the planner counts as having given up. */
  readonly maxErrorsInARow: number;
};

/** How long to wait before try n, in ms: `firstMs`, then `factor` times more each time, up to `maxMs`. */
type Backoff = { readonly firstMs: number; readonly factor: number; readonly maxMs: number };

/** Accounts by name, each with its quota and key. The first is preferred; the others are called while it cannot be. */
export type Accounts = readonly [string, ...string[]];

/** Undefined: no limit. */
export type Limit = { readonly maxTokens?: number; readonly maxMicrodollars?: number };

/** What to do if the gate fails on the base. */
export const ON_RED_BASE = ["repair", "continue", "stop"] as const;
export type OnRedBase = (typeof ON_RED_BASE)[number];

export type Policy = {
  /** Jobs of a kind at once. Checks are always one at a time; for landing see `landing.gates`. */
  readonly capacity: { readonly plan: number; readonly work: number };
  /** How long a job of a kind may go without an answer, in ms. */
  readonly leaseMs: Readonly<Record<JobKind, number>>;
  /** How much longer a job may wait for a machine of the fleet to take it, in ms; its lease starts when it is taken. */
  readonly offerMs: number;
  readonly root: PlannerPolicy;
  readonly subplanner: PlannerPolicy;
  readonly decompose: Omit<SubplannerConfig, "maxSubtasks"> & {
    /** Also split a task that touches at least this many folders; undefined: never for that reason. */
    readonly moduleThreshold?: number;
    /** Also split a task whose description scores at least this (`score.ts`, 0 to 35); undefined: never for that reason. */
    readonly scoreThreshold?: number;
  };
  /** Which plans of the root's planner wait until a person approves. */
  readonly approval: "never" | "first" | "every";
  /**
   * What happens to a change of what the gate runs, or of what steers agents. `scope`: refused outside of its task's
   * scope; `ask`: also, inside of the scope a person is asked before it lands; `refuse`: always refused; `flag`: only
   * reported.
   */
  readonly gateChanges: "flag" | "scope" | "ask" | "refuse";
  /**
   * What happens to a change that deletes or switches off tests, or leaves marks such as `any` and TODO. `refuse`: its
   * task is attempted again; `flag`: it lands, and is reported. Only reported in any case: tests that live on
   * elsewhere, a condition on the platform, a removal that the task orders, a mark that the repository uses itself.
   */
  readonly evidence: { readonly tests: "refuse" | "flag"; readonly marks: "refuse" | "flag" };
  /** The prefix of all branch names. */
  readonly branchPrefix: string;
  /** `priority`: by priority, then age. `longest-path`: among equals, the longest chain of waiting tasks goes first. */
  readonly order: "priority" | "longest-path";
  /** Whether tasks that touch the same files run one after the other, or at once with conflicts resolved at landing. */
  readonly overlap: "serialise" | "allow";
  /** Files that any task may touch, because tools rewrite them. */
  readonly sharedFiles: Scope;
  /** Retries of jobs that were lost or whose agent was unreachable, with the waits before them. */
  readonly retry: Backoff & {
    /** Failed attempts after which the task fails. */
    readonly maxFailed: number;
    /** The same for a task with a criterion, whose worker tries until it passes. */
    readonly maxCriterion: number;
    /** New attempts after a conflict or a red gate. */
    readonly maxRefused: number;
    /** Lost jobs in a row: dead or hanging workers are not the task's fault, but retrying must end. */
    readonly maxLost: number;
    /** Jobs in a row whose agent could not be reached. */
    readonly maxUnreachable: number;
    /** How long an expired job may still answer before another takes its place, in ms. */
    readonly graceMs: number;
    /** Earlier attempts that the next one is told about. */
    readonly maxRemembered: number;
  };
  readonly landing: {
    readonly strategy: "merge-commit" | "rebase" | "fast-forward";
    /** Tasks in one gated candidate. */
    readonly maxBatch: number;
    /** Candidates that are gated at once, each built on the one before it (`train.ts`). */
    readonly gates: number;
    /** Candidates in the train per gate, including those that have passed and wait without a gate. */
    readonly maxTrainPerGate: number;
    /** How often a task's candidate may be red on one target without a culprit before the task fails. */
    readonly maxUndecided: number;
    /** Landing jobs in a row that may fail because of the repository or the machine. */
    readonly maxErrorsInARow: number;
  };
  readonly sweep: {
    readonly redMs: number;
    readonly greenMs: number;
    readonly greensToSlowDown: number;
    readonly maxErrorsInARow: number;
  };
  /**
   * What happens if the gate fails on the base before any agent was paid. `ask`: a person chooses one of the others;
   * `repair`: fix tasks first, one round of each class; `continue`: no fix tasks, and only what makes nothing worse
   * lands; `stop`: nothing starts. Undefined: `repair`, and `stop` if nothing could be judged.
   */
  readonly onRedBase?: "ask" | OnRedBase;
  readonly repair: {
    readonly maxTasks: number;
    readonly maxFiles: number;
    /** Rounds of fix tasks without fewer failures before repair is given up. */
    readonly maxRounds: number;
  };
  /** Limits on what a worker may delegate during its task. */
  readonly subtasks: {
    /** Levels of tasks, the worker's own included. */
    readonly maxDepth: number;
    /** How often one attempt may call for a subtask or ask a question. */
    readonly maxContinuations: number;
    /** Subtasks of one worker's task, over all levels. */
    readonly maxTasks: number;
    /** How long after a task's first subtask others may be begun, in ms. */
    readonly maxMs: number;
    /** Of a subtask's result; a longer one is kept whole as an artefact. */
    readonly maxResultChars: number;
  };
  readonly questions: {
    /** The longest that a question waits before its default is taken, in ms. */
    readonly waitMs: number;
    /** How often the task above is asked again after its turn was lost. */
    readonly maxTries: number;
    /** Of a question, and of an answer. */
    readonly maxTextChars: number;
  };
  /** Which accounts a job may call: by its kind, or those of a specialist that has its own. */
  readonly accounts: {
    readonly plan: Accounts;
    readonly work: Accounts;
    readonly byAgent: Readonly<Record<string, Accounts>>;
  };
  /** How long an account that named no time is not called: the wait grows with each limit in a row. */
  readonly quota: Backoff & {
    /** The longest time for which an account is believed to be without quota, whatever it says, in ms. */
    readonly maxUntilMs: number;
  };
  /** How long planners and workers wait for the first check of the base, in ms; undefined: not at all. */
  readonly baseFirstMs?: number;
  /** Whether the gate is probed before anything lands. */
  readonly probe?: boolean;
  /** The budget of the run as a whole. */
  readonly budget: Limit & {
    /** Of each task's own jobs; those of the goal are limited only by the run's budget. */
    readonly task?: Limit;
    /** Of a task of the root planner with everything below it. */
    readonly subtree?: Limit;
    /**
     * The part of the run's budget that only fixes and retries after a refusal may use, so that finished work lands.
     */
    readonly landingShare: number;
    /** The reserve for each running plan or work job, until it reports its real cost. */
    readonly reserveTokens: number;
    readonly reserveMicrodollars: number;
  };
  readonly brief: {
    readonly maxSummaryChars: number;
    readonly maxDiffChars: number;
    readonly maxFiles: number;
    readonly maxNews: number;
    readonly maxConcerns: number;
    /** Characters of one steering message, and the number of messages that wait for the planner. */
    readonly maxSteerChars: number;
    readonly maxSteers: number;
  };
};

/** For the probe, which follows the first check of the base. Planners are at work by then; workers wait no longer. */
export const PROBE_FIRST_MS = MINUTE;

/** A base that fails is checked twice, each time for as long as a check may take. */
export const FIRST_LOOKS = 2;

/** For a run on a fleet: machines that are off at night, or busy with other runs, are back by then. */
export const FLEET_OFFER_MS = 24 * 60 * MINUTE;

export const defaultPolicy: Policy = {
  capacity: {
    plan: 4, // A planner is one long model call; more of them only compete for the same quota.
    work: 8, // A laptop can run so many, and most accounts allow it.
  },
  leaseMs: {
    plan: 30 * MINUTE, // Exploring a large repository takes a model many minutes.
    work: 60 * MINUTE, // The longest kind: an agent with a real task. A late answer still counts.
    land: 20 * MINUTE, // One merge and one gate run. Short, because all landings wait behind it.
    check: 20 * MINUTE, // One gate run, as for landing.
  },
  offerMs: 0, // On one machine a job starts at once.
  root: {
    replanAfter: 3, // Enough news to be worth a turn, soon enough to change course.
    maxTasksPerAnswer: 1_000, // A plan file may be long; a model's answer never is.
    maxAnswers: 1_000, // Weeks of work.
    maxErrorsInARow: 10, // It has no planner above it that could plan something else.
  },
  subplanner: {
    replanAfter: 1, // It owns few tasks; each result may change the rest.
    maxTasksPerAnswer: DEFAULT_SUBPLANNER_CONFIG.maxSubtasks,
    maxAnswers: 20, // A turn for each of ten subtasks, and as many again.
    maxErrorsInARow: 5, // Its parent's planner can do something else instead.
  },
  decompose: {
    maxDepth: DEFAULT_SUBPLANNER_CONFIG.maxDepth,
    scopeThreshold: DEFAULT_SUBPLANNER_CONFIG.scopeThreshold,
  },
  approval: "never", // A run is made to be left alone.
  gateChanges: "scope", // No waiting overnight, and no change of the gate that was not asked for.
  evidence: { tests: "refuse", marks: "refuse" }, // A green gate proves little if deleting tests makes it green.
  branchPrefix: "skein/",
  order: "priority",
  overlap: "serialise",
  sharedFiles: [
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "Cargo.lock",
    "go.sum",
    "poetry.lock",
    "uv.lock",
    "Gemfile.lock",
    "composer.lock",
  ],
  retry: {
    maxFailed: 3, // After an agent's third failure, with the first two in its brief, the task itself is at fault.
    maxCriterion: 5, // Each attempt is told the command's output: the fifth has seen it four times.
    maxRefused: 2, // After three attempts on three targets the next one would be refused, too.
    maxLost: 5, // A task that ends its worker every time must not do so for ever.
    maxUnreachable: 20, // With the waits below: an outage of more than an hour and a half.
    graceMs: 10 * MINUTE, // A healthy but slow worker is worth more than a new one.
    firstMs: 2 * SECOND, // Long enough for a dropped connection to come back.
    factor: 2,
    maxMs: 10 * MINUTE, // A provider's outage lasts longer than this, or is over.
    maxRemembered: 3, // Older failures cost tokens and say nothing new.
  },
  landing: {
    strategy: "merge-commit",
    maxBatch: 50, // One culprit in 50 is found in at most 10 gate runs; 50 one by one take 50.
    gates: 1, // Ordinary tests share ports, databases and cores.
    maxTrainPerGate: 4, // So many pass while a slow or doubtful one holds them up; a red target discards them all.
    maxUndecided: 3, // Each round takes about four gate runs, which have contradicted each other on the same two trees.
    maxErrorsInARow: 20, // A full disk may last an hour or two; finished work must not fail because of it.
  },
  sweep: {
    redMs: MINUTE, // Everything waits until the target is green.
    greenMs: 5 * MINUTE, // Each candidate is gated anyway: a check only finds changes that others made.
    greensToSlowDown: 3, // One green may be luck where tests are flaky.
    maxErrorsInARow: 5, // From then on landing goes on without a check: a green candidate is proof enough.
  },
  repair: {
    maxTasks: 5, // A few repairs often remove the rest.
    maxFiles: 3, // Small enough for one worker, and seldom in the way of others.
    maxRounds: 3, // Three rounds without progress: more would not help.
  },
  subtasks: {
    maxDepth: 10, // As deep as the longest sensible chain so far.
    maxContinuations: 50, // A worker that still calls after that makes no progress.
    maxTasks: 100, // More tasks are a plan, and belong to a planner.
    maxMs: 6 * 60 * MINUTE, // A night.
    maxResultChars: 32_000, // About 8,000 tokens, which are added to a running conversation.
  },
  questions: {
    waitMs: 30 * MINUTE, // Long enough for a person at lunch; a run that is left alone overnight must go on.
    maxTries: 3,
    maxTextChars: 10_000,
  },
  accounts: { plan: ["agent"], work: ["agent"], byAgent: {} },
  quota: {
    firstMs: MINUTE, // Most limits are per minute.
    factor: 2,
    maxMs: 60 * MINUTE, // A longer limit costs an extra hour of waiting at most.
    maxUntilMs: 8 * 24 * 60 * MINUTE, // The longest limit that providers sell is a week.
  },
  budget: {
    reserveTokens: 50_000, // A modest agent turn; the real cost replaces it.
    reserveMicrodollars: 500_000,
    landingShare: 0.1, // One candidate in ten is refused in a busy repository.
  },
  brief: {
    maxSummaryChars: 2_000, // A paragraph or two: what a planner can use of one handoff.
    maxDiffChars: 20_000, // About 400 lines: what a worker can use of a refused attempt.
    maxFiles: 50, // Of one handoff: beyond it, folders say more than names.
    maxNews: 50, // About 25,000 tokens if told in full; the rest by name only.
    maxConcerns: 100, // The oldest first; newer ones come up as those are dealt with.
    maxSteerChars: 10_000, // A page or two; anything longer belongs in the repository.
    maxSteers: 100,
  },
};

/**
 * Whether a task is worth a subplanner. `depth` counts the subplanners above it: 0 for a task of the root planner.
 *
 * ```ts
 * shouldDecompose({ scope: ["src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"] }, DEFAULT_SUBPLANNER_CONFIG, 0); // true
 * shouldDecompose({ scope: ["src/world/"] }, DEFAULT_SUBPLANNER_CONFIG, 3); // false: too deep
 * ```
 */
export const shouldDecompose = (
  task: { readonly scope: Scope },
  config: Pick<SubplannerConfig, "maxDepth" | "scopeThreshold">,
  depth: number,
): boolean => depth < config.maxDepth && weight(task.scope) >= config.scopeThreshold;

/** The limit on depth comes first, then the size that the planner gave, then what is counted. */
export function shapeOf(
  task: Pick<TaskSpec, "scope" | "delivers" | "terms" | "description"> & { readonly size?: TaskSize },
  policy: Policy,
  depth: number,
): TaskShape {
  const { decompose } = policy;
  if (task.delivers === "report" || task.terms || depth >= decompose.maxDepth) return "work";
  if (task.size !== undefined) return task.size === "complex" ? "plan" : "work";
  if (shouldDecompose(task, decompose, depth)) return "plan";
  const { moduleThreshold, scoreThreshold } = decompose;
  if (moduleThreshold !== undefined && modules(task.scope) >= moduleThreshold) return "plan";
  return scoreThreshold !== undefined && scoreOf(task.description).total >= scoreThreshold ? "plan" : "work";
}

/** The wait before try `n` (from 1) of a lost job, in ms. Spread by name, so that a fleet does not return at once. */
export function backoffMs({ firstMs, factor, maxMs }: Backoff, n: number, name: string): number {
  const full = Math.min(maxMs, firstMs * factor ** Math.min(n - 1, 30));
  return Math.round(full * (0.75 + 0.25 * spread(name, n)));
}

/** A number in [0, 1) that is always the same for the same name: spread without a random source. */
function spread(name: string, n: number): number {
  let hash = 2166136261 ^ n;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return (hash >>> 0) / 4294967296;
}

/**
 * Limits on the tree of a commit that a worker made: git expands a tree of few objects into as many files as it names.
 */
export const TREE_LIMITS = {
  /** Files and folders; the largest known repositories have half as many. */
  maxEntries: 1_000_000,
  /** Bytes of all paths; within this limit, counting takes 2 s at most. */
  maxBytes: 64 * 1024 * 1024,
  /** Nested folders; programs that walk a tree by recursion fail beyond this. */
  maxDepth: 200,
  /** The longest path that Linux opens, in bytes. */
  maxPathBytes: 4_095,
  /** The longest name that file systems store, in bytes. */
  maxNameBytes: 255,
} as const;
