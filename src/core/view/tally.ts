/** Sums up a run from its log: time, tokens, gate runs, and the cost of failed attempts. */
import { type Failure, type FailureKind, isAccounts } from "../failure.ts";
import { failuresOf, isGreen } from "../gate.ts";
import { type Member, slotOfId, type TurnTally } from "../job.ts";
import type { Writable } from "../log/draft.ts";
import { type Event, type EventOf, type Reactions, react } from "../log/event.ts";
import { OPEN, type Phase } from "../rules/landing.ts";
import type { TaskId } from "../task.ts";
import { hasGated, isAgents, type JobSpan, type JobSpans, ranMs } from "./job-spans.ts";

export type Tally = {
  /** When the newest event was decided. */
  readonly lastAt: number;
  /** The ended jobs of planners and workers, without interrupted ones. */
  readonly agentsMs: number;
  /** How long workspaces were made ready (only where that took long); no agent's and no gate's time. */
  readonly prepareMs: number;
  /** The most planners and workers that ever worked at once. */
  readonly mostAtOnce: number;
  readonly gate: Runs;
  /** Moves of the target, the tasks in them, and the most tasks in one. */
  readonly landings: number;
  readonly landedTasks: number;
  readonly largestBatch: number;
  readonly losses: ReadonlyMap<LossReason, Loss>;
  /** Tokens of failed attempts and turns, by their task. */
  readonly lostTokens: ReadonlyMap<TaskId, number>;
  /** Tests that were red and then green on the same tree, and the red runs before that was known. */
  readonly flaky: Runs & { readonly tests: readonly string[] };
  readonly reds: readonly RedSpan[];
  readonly calls: Calls;
  /** When each task that landed became ready for it. */
  readonly readyAt: readonly number[];
  /** More than one candidate was gated at once. */
  readonly hasTrains: boolean;
  readonly memory: Memory;
};

/** What agents did, as far as they reported it. Input includes tokens read from a cache or written to one. */
export type Calls = {
  readonly calls: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Jobs that reported all this. */
  readonly turns: number;
};

/** Gate runs. `ms`: the time of their jobs, which apart from the gate only run a few git commands. */
type Runs = { readonly runs: number; readonly ms: number };

/** All attempts and turns that failed for the same reason. */
export type Loss = {
  readonly count: number;
  readonly workMs: number;
  /**
   * Red gate runs and checks of the target, from the first red one to the refusal. Green runs do not count: they landed
   * something.
   */
  readonly gateRuns: number;
  readonly gateMs: number;
  /** As far as they were reported. */
  readonly tokens: number;
  readonly microdollars: number;
};

/** How long the target was known to be red: from the red check to the check or landing that was green. */
type RedSpan = {
  readonly from: number;
  readonly until?: number;
  /** The failures of the last check: earlier ones may be repaired. */
  readonly failures: readonly string[];
  /** The members whose landing made it green; empty if it became green otherwise. */
  readonly by: readonly Member[];
};

/** What later events need from earlier ones. */
type Memory = {
  /** When each task became ready to land. */
  readonly ready: ReadonlyMap<TaskId, number>;
  /** What the newest attempt or turn of a task took, until its result is known. */
  readonly took: ReadonlyMap<string, Took>;
  readonly phase: Phase;
  /** Red runs and checks for which no task has been refused yet. */
  readonly unblamed: Runs;
};

type Took = { readonly ms: number; readonly tokens: number; readonly microdollars: number };

type TallyDraft = Writable<Omit<Tally, "reds" | "readyAt" | "memory">> & {
  readonly reds: RedSpan[];
  readonly readyAt: number[];
  readonly memory: Writable<Memory>;
};

const NO_RUNS: Runs = { runs: 0, ms: 0 };

export const emptyTally = (): Tally => ({
  lastAt: 0,
  agentsMs: 0,
  prepareMs: 0,
  mostAtOnce: 0,
  gate: NO_RUNS,
  landings: 0,
  landedTasks: 0,
  largestBatch: 0,
  losses: new Map(),
  lostTokens: new Map(),
  flaky: { ...NO_RUNS, tests: [] },
  reds: [],
  calls: { calls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, turns: 0 },
  readyAt: [],
  hasTrains: false,
  memory: {
    ready: new Map(),
    took: new Map(),
    phase: OPEN,
    unblamed: NO_RUNS,
  },
});

/** The jobs of a run after an event, and the job that ended with it. */
type Jobs = { readonly spans: JobSpans; readonly over: JobSpan | undefined };

/** Changes `tally` in place, as `evolve` does with a state. */
export function count(tally: Tally, event: Event, { spans, over }: Jobs): Tally {
  const t = tally as TallyDraft;
  t.lastAt = event.at;
  if (over) jobOver(t, over);
  if (event.type === "job.started" || event.type === "job.taken")
    t.mostAtOnce = Math.max(t.mostAtOnce, atWork(spans).length);
  react(COUNTERS, t, event);
  return tally;
}

/** Planners and workers at work; in a fleet, only those that a machine has begun. */
export const atWork = ({ open }: JobSpans): readonly JobSpan[] =>
  [...open.values()].filter((span) => isAgents(span) && !span.isOffered);

/** Events without an entry take no time and cost nothing. */
const COUNTERS: Partial<Reactions<TallyDraft>> = {
  "job.started"(t, { job }) {
    if (job.kind === "land" && job.on) t.hasTrains = true;
  },
  /** Also counts jobs whose answer came late or was dropped: each reports once. */
  "job.ended"(t, { spent }) {
    if (spent?.turn) addTurn(t, spent.turn);
  },
  "batch.landed": landed,
  "job.prepared"(t, { ms }) {
    t.prepareMs += ms;
  },
  "task.handed-off": (t, { task, at }) => t.memory.ready.set(task, at),
  "task.retried"(t, event) {
    if (isLost(event)) lose(t, reasonOf(event.failure), `work:${event.task}`);
  },
  /** Its last attempt, or its planner's last turn. If its children failed, each of them was counted before. */
  "task.failed"(t, { task, failure }) {
    for (const slot of [`work:${task}`, `plan:${task}`])
      if (t.memory.took.has(slot)) lose(t, reasonOf(failure), slot);
  },
  "plan.rejected"(t, event) {
    if (isLost(event)) lose(t, reasonOf(event.failure), `plan:${event.task}`);
  },
  "plan.ended"(t, { task, over }) {
    if (over === "finished") t.memory.took.delete(`plan:${task}`);
    else if (t.memory.took.has(`plan:${task}`)) lose(t, reasonOf(over), `plan:${task}`);
  },
  "plan.accepted": (t, { task }) => t.memory.took.delete(`plan:${task}`),
  "plan.kept-whole": (t, { task }) => t.memory.took.delete(`plan:${task}`),
  "task.done": (t, { task }) => forget(t, task),
  "task.cancelled": (t, { task }) => forget(t, task),
  "landing.turned": turned,
  "target.checked": checked,
};

/** An account's failure is not charged to the task, but the work before it is lost all the same. */
const isLost = ({ charge, failure }: { readonly charge: string; readonly failure: Failure }) =>
  charge !== "nothing" || isAccounts(failure);

function jobOver(t: TallyDraft, span: JobSpan): void {
  const { job, how, spent } = span;
  const ms = ranMs(span);
  if (isAgents(span)) {
    t.agentsMs += ms;
    const { tokens = 0, microdollars = 0 } = spent ?? {};
    t.memory.took.set(slotOfId(job), { ms, tokens, microdollars });
  } else if (how === "answered" && hasGated(span)) gated(t, span, { runs: 1, ms });
}

/**
 * Counts a gate run. Red runs are kept for the task that is refused for them, with the check of the target that decides
 * it.
 */
function gated(t: TallyDraft, { kind, outcome }: JobSpan, run: Runs): void {
  t.gate = sum(t.gate, run);
  const isForBlame = kind === "land" ? outcome?.is === "red" : t.memory.phase.is === "base";
  if (isForBlame) t.memory.unblamed = sum(t.memory.unblamed, run);
}

function addTurn(t: TallyDraft, { calls, toolCalls, inputTokens, outputTokens }: TurnTally): void {
  t.calls = summed(t.calls, { calls, toolCalls, inputTokens, outputTokens, turns: 1 });
}

function forget(t: TallyDraft, task: TaskId): void {
  t.memory.took.delete(`work:${task}`);
}

/** Adds field by field; both objects have the same fields. */
const summed = <T extends Readonly<Record<string, number>>>(a: T, b: T): T =>
  Object.fromEntries(Object.keys(b).map((name) => [name, (a[name] ?? 0) + b[name]!])) as T;

const sum = (a: Runs, b: Runs): Runs => summed({ runs: a.runs, ms: a.ms }, { runs: b.runs, ms: b.ms });

function landed(t: TallyDraft, { members, proof, flaky, at }: EventOf<"batch.landed">): void {
  t.landings += 1;
  t.landedTasks += members.length;
  t.largestBatch = Math.max(t.largestBatch, members.length);
  for (const { task } of members) {
    forget(t, task);
    const ready = t.memory.ready.get(task);
    t.memory.ready.delete(task);
    if (ready !== undefined) t.readyAt.push(ready);
  }
  if (proof === "green") endRed(t, at, members);
  if (flaky.length === 0) return;
  const tests = [...new Set([...t.flaky.tests, ...flaky])];
  t.flaky = { ...sum(t.flaky, t.memory.unblamed), tests };
}

/** Counts a failed attempt, with the gate runs that blamed it. */
function lose(t: TallyDraft, reason: LossReason, slot: string): void {
  const took = t.memory.took.get(slot) ?? { ms: 0, tokens: 0, microdollars: 0 };
  t.memory.took.delete(slot);
  const task = slot.slice("work:".length) as TaskId;
  t.lostTokens.set(task, (t.lostTokens.get(task) ?? 0) + took.tokens);
  let gate = NO_RUNS;
  if (reason === "gate red") {
    gate = t.memory.unblamed;
    t.memory.unblamed = NO_RUNS;
  }
  const { ms: workMs, tokens, microdollars } = took;
  const loss = { count: 1, workMs, gateRuns: gate.runs, gateMs: gate.ms, tokens, microdollars };
  const before = t.losses.get(reason);
  t.losses.set(reason, before ? summed(before, loss) : loss);
}

function turned(t: TallyDraft, { phase }: EventOf<"landing.turned">): void {
  t.memory.phase = phase;
  // No task was found guilty: a test was flaky, the target failed, or a person cancelled.
  if (phase.is === "open") t.memory.unblamed = NO_RUNS;
}

function checked(t: TallyDraft, { report, at }: EventOf<"target.checked">): void {
  if (isGreen(report)) {
    endRed(t, at, []);
    return;
  }
  const open = t.reds.at(-1);
  const failures = failuresOf(report);
  if (open === undefined || open.until !== undefined) t.reds.push({ from: at, failures, by: [] });
  else t.reds[t.reds.length - 1] = { ...open, failures };
}

function endRed(t: TallyDraft, at: number, by: readonly Member[]): void {
  const open = t.reds.at(-1);
  if (open && open.until === undefined) t.reds[t.reds.length - 1] = { ...open, until: at, by };
}

export type LossReason =
  | "conflict"
  | "gate red"
  | "out of scope"
  | "empty change"
  | "rule broken"
  | "terms not kept"
  | "not finished"
  | "failed"
  | "died"
  | "timed out"
  | "outage"
  | "quota"
  | "key refused"
  | "plan of no use"
  /** The last of several failed turns of a planner; only its message says why that turn failed. */
  | "given up"
  | "the machine"
  | "other";

const reasonOf = ({ kind }: Pick<Failure, "kind">): LossReason => REASONS[kind];

/** Why an attempt failed, in two or three words. */
export const failureLabel = (failure: Pick<Failure, "kind">): string => lossLabel(reasonOf(failure));

/** Words for people, where they differ from those in `--json`. */
export const lossLabel = (reason: string): string => SHOWN[reason] ?? reason;
const SHOWN: Readonly<Record<string, string>> = {
  "gate red": "gate failed",
  "terms not kept": "criterion not met",
  outage: "agent unreachable",
  quota: "rate limited",
  "plan of no use": "unusable plan",
  "the machine": "machine or set-up",
};

const REASONS: Readonly<Record<FailureKind, LossReason>> = {
  "agent-failed": "failed",
  "agent-unreachable": "outage",
  quota: "quota",
  authentication: "key refused",
  "timed-out": "timed out",
  interrupted: "died",
  "plan-unreadable": "plan of no use",
  "plan-invalid": "plan of no use",
  "not-a-planner": "plan of no use",
  incomplete: "not finished",
  "empty-change": "empty change",
  "out-of-scope": "out of scope",
  "rule-broken": "rule broken",
  unmet: "terms not kept",
  conflict: "conflict",
  "gate-red": "gate red",
  "target-red": "other",
  "children-failed": "other",
  "planner-gave-up": "given up",
  repository: "the machine",
  log: "the machine",
  setup: "the machine",
  budget: "other",
  policy: "other",
  cancelled: "other",
};
