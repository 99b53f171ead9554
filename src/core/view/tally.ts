/** Sums over the log of a run: time, tokens, gate runs, and the cost of failed attempts. */
import { type Failure, type FailureKind, isAccounts } from "../failure.ts";
import { failuresOf, isGreen } from "../gate.ts";
import { type JobId, jobId, type Member, slotOfId, type TurnTally } from "../job.ts";
import type { Writable } from "../log/draft.ts";
import { type Event, type EventOf, type Reactions, react } from "../log/event.ts";
import { OPEN, type Phase } from "../rules/landing.ts";
import type { TaskId } from "../task.ts";

export type Tally = {
  /** When the newest event was decided. */
  readonly lastAt: number;
  /** Time of planners and workers that has ended and was seen to end. */
  readonly agentsMs: number;
  /** Time in which workspaces were made ready, if that took long: no agent's, and no gate's. */
  readonly prepareMs: number;
  /** When each planner and worker that is at work was started, and the most that ever were at once. */
  readonly atWork: ReadonlyMap<JobId, number>;
  readonly mostAtOnce: number;
  readonly gate: Runs;
  /** Moves of the target, the tasks in them, and the most in one. */
  readonly landings: number;
  readonly landedTasks: number;
  readonly largestBatch: number;
  readonly losses: ReadonlyMap<LossReason, Loss>;
  /** Tokens of failed attempts and turns, by their task. */
  readonly lostTokens: ReadonlyMap<TaskId, number>;
  /** Tests that were red and then green on one tree, and the red runs that this took. */
  readonly flaky: Runs & { readonly tests: readonly string[] };
  readonly reds: readonly RedSpan[];
  readonly calls: Calls;
  /** When each task that landed became ready for it. */
  readonly readyAt: readonly number[];
  /** More than one candidate was gated at once. */
  readonly hasTrains: boolean;
  readonly memory: Memory;
};

/** What agents did for what they cost, as far as they said. Input has what was read from a cache or written to one. */
export type Calls = {
  readonly calls: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Jobs that said all this. */
  readonly turns: number;
};

/** Runs of the gate. `ms` is that of their jobs, whose other steps are some git commands. */
type Runs = { readonly runs: number; readonly ms: number };

/** All attempts and turns that failed for one reason. */
export type Loss = {
  readonly count: number;
  readonly workMs: number;
  /** Red runs, and checks of the target, from the first red one to the refusal; green ones landed something. */
  readonly gateRuns: number;
  readonly gateMs: number;
  /** As far as they were reported. */
  readonly tokens: number;
  readonly microdollars: number;
};

/** How long the target was known to be red: from the look that found it so to the one, or the landing, that was green. */
type RedSpan = {
  readonly from: number;
  readonly until?: number;
  /** Of the last look: what was red before that may be mended. */
  readonly failures: readonly string[];
  /** Whose landing made it green; nobody's, if it was by itself, or by somebody else's hand. */
  readonly by: readonly Member[];
};

/** What later events need of earlier ones. */
type Memory = {
  /** When a task became ready to land. */
  readonly ready: ReadonlyMap<TaskId, number>;
  /** What the newest attempt or turn of a task took, until it is known what it came to. */
  readonly took: ReadonlyMap<string, Took>;
  /** When the landing and the look were started that are running. */
  readonly since: ReadonlyMap<JobId, number>;
  /** How long the landing, or the look, took that has just ended; until it is known what it came to. */
  readonly justEnded: { readonly kind: "land" | "check"; readonly ms: number } | undefined;
  readonly phase: Phase;
  /** Red runs and checks for which nobody was refused yet. */
  readonly unblamed: Runs;
  readonly greenTip: string | undefined;
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
  atWork: new Map(),
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
    since: new Map(),
    justEnded: undefined,
    phase: OPEN,
    unblamed: NO_RUNS,
    greenTip: undefined,
  },
});

/** Changes `tally` in place, as `evolve` does with a state. */
export function count(tally: Tally, event: Event): Tally {
  const t = tally as TallyDraft;
  t.lastAt = event.at;
  react(COUNTERS, t, event);
  return tally;
}

/** What is not here takes no time and costs nothing. */
const COUNTERS: Partial<Reactions<TallyDraft>> = {
  "job.started": jobStarted,
  "job.taken": (t, { job, since }) => beginJob(t, job, since),
  "job.returned": (t, { job }) => t.atWork.delete(job),
  "job.ended": jobEnded,
  "batch.landed": landed,
  "job.prepared": prepared,
  "task.handed-off": (t, { task, at }) => t.memory.ready.set(task, at),
  "candidate.passed": (t) => gated(t, "land"),
  "candidate.failed": (t) => gated(t, "land"),
  "task.retried"(t, event) {
    if (isLost(event)) lose(t, reasonOf(event.failure), `work:${event.task}`);
  },
  /** Its last attempt, or its planner's last turn; where its parts failed, each of them was told before. */
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
  "base.moved": forgetGreenTip,
  "target.moved": forgetGreenTip,
};

function forgetGreenTip(t: TallyDraft): void {
  t.memory.greenTip = undefined;
}

/** A quota is charged to nobody, but what was done until then is lost all the same. */
const isLost = ({ charge, failure }: { readonly charge: string; readonly failure: Failure }) =>
  charge !== "nothing" || isAccounts(failure);

function jobStarted(t: TallyDraft, { job, at, isOffered }: EventOf<"job.started">): void {
  if (job.kind === "land" && job.on) t.hasTrains = true;
  if (job.kind === "land" && job.moves !== undefined) return; // No gate runs.
  if (job.kind === "land" || job.kind === "check") t.memory.justEnded = undefined;
  else if (isOffered) return; // No machine has it yet.
  beginJob(t, jobId(job), at);
}

function beginJob(t: TallyDraft, job: JobId, at: number): void {
  if (!isAgents(job)) return void t.memory.since.set(job, at);
  t.atWork.set(job, at);
  t.mostAtOnce = Math.max(t.mostAtOnce, t.atWork.size);
}

/** As if it had begun so much later. */
function prepared(t: TallyDraft, { job, ms }: EventOf<"job.prepared">): void {
  const started = isAgents(job) ? t.atWork : t.memory.since;
  const since = (started as Map<JobId, number>).get(job);
  if (since === undefined) return;
  (started as Map<JobId, number>).set(job, since + ms);
  t.prepareMs += ms;
}

const isAgents = (job: JobId): boolean => job.startsWith("work:") || job.startsWith("plan:");

/** Until when a job was at work that nobody saw end is not known, so its time is not counted. */
function jobEnded(t: TallyDraft, { job, how, spent, at }: EventOf<"job.ended">): void {
  if (spent?.turn) addTurn(t, spent.turn); // Also of one that answered late, or in vain: it comes once.
  const started = isAgents(job) ? t.atWork : t.memory.since;
  const since = started.get(job);
  started.delete(job);
  if (since === undefined) return; // It was given up before, and its time was counted then.
  const ms = how === "interrupted" ? 0 : at - since;
  if (isAgents(job)) {
    t.agentsMs += ms;
    const { tokens = 0, microdollars = 0 } = spent ?? {};
    t.memory.took.set(slotOfId(job), { ms, tokens, microdollars });
  } else if (how === "answered") {
    t.memory.justEnded = { kind: job.startsWith("land") ? "land" : "check", ms };
  }
}

function addTurn(t: TallyDraft, { calls, toolCalls, inputTokens, outputTokens }: TurnTally): void {
  t.calls = summed(t.calls, { calls, toolCalls, inputTokens, outputTokens, turns: 1 });
}

function forget(t: TallyDraft, task: TaskId): void {
  t.memory.took.delete(`work:${task}`);
}

/** The run of the gate that has just ended was one; it is counted once. */
function gated(t: TallyDraft, kind: "land" | "check"): Runs {
  const { justEnded } = t.memory;
  if (justEnded?.kind !== kind) return NO_RUNS;
  t.memory.justEnded = undefined;
  const run = { runs: 1, ms: justEnded.ms };
  t.gate = sum(t.gate, run);
  return run;
}

/** Field by field; both have the same numbers. */
const summed = <T extends Readonly<Record<string, number>>>(a: T, b: T): T =>
  Object.fromEntries(Object.keys(b).map((name) => [name, (a[name] ?? 0) + b[name]!])) as T;

const sum = (a: Runs, b: Runs): Runs => summed({ runs: a.runs, ms: a.ms }, { runs: b.runs, ms: b.ms });

function landed(t: TallyDraft, { members, proof, flaky, at }: EventOf<"batch.landed">): void {
  if (proof === "green" || proof === "red-to-red") gated(t, "land");
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

/** A failed attempt, and with it the gate runs that blamed it. */
function lose(t: TallyDraft, reason: LossReason, slot: string): void {
  const took = t.memory.took.get(slot) ?? { ms: 0, tokens: 0, microdollars: 0 };
  t.memory.took.delete(slot);
  const task = slot.slice("work:".length) as TaskId;
  t.lostTokens.set(task, (t.lostTokens.get(task) ?? 0) + took.tokens);
  let gate = NO_RUNS;
  if (reason === "gate red") {
    gate = sum(t.memory.unblamed, gated(t, "land"));
    t.memory.unblamed = NO_RUNS;
  }
  const { ms: workMs, tokens, microdollars } = took;
  const loss = { count: 1, workMs, gateRuns: gate.runs, gateMs: gate.ms, tokens, microdollars };
  const before = t.losses.get(reason);
  t.losses.set(reason, before ? summed(before, loss) : loss);
}

function turned(t: TallyDraft, { phase, errors }: EventOf<"landing.turned">): void {
  if (errors === 0 && wasRed(t.memory.phase, phase)) {
    t.memory.unblamed = sum(t.memory.unblamed, gated(t, "land"));
  }
  t.memory.phase = phase;
  // Nobody was found guilty: it was a flaky test, or the target, or somebody called it off.
  if (phase.is === "open") t.memory.unblamed = NO_RUNS;
}

/** A landing's outcome is not in the log; but only a red gate takes a phase further. */
function wasRed(before: Phase, after: Phase): boolean {
  if (after.is === "open") return before.is === "again" || before.is === "bisect";
  if (before.is !== after.is) return true;
  if (before.is === "again" && after.is === "again") return after.run > before.run;
  if (before.is === "bisect" && after.is === "bisect")
    return after.reds > before.reds || after.guilty.length < before.guilty.length;
  return false;
}

function checked(t: TallyDraft, { tip, report, passedAt, at }: EventOf<"target.checked">): void {
  const green = isGreen(report);
  const { phase, greenTip } = t.memory;
  // A tip that is known to pass, from this run or an earlier one, is only looked up.
  const isLook = passedAt !== undefined || (green && tip === greenTip && phase.is !== "base");
  const run = isLook || report.commands.length === 0 ? NO_RUNS : gated(t, "check");
  if (phase.is === "base") t.memory.unblamed = sum(t.memory.unblamed, run);
  t.memory.greenTip = green ? tip : undefined;
  const open = t.reds.at(-1);
  const failures = failuresOf(report);
  if (green) endRed(t, at, []);
  else if (open === undefined || open.until !== undefined) t.reds.push({ from: at, failures, by: [] });
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
  /** The last of several turns of a planner in vain; why that one was, its failure only says in words. */
  | "given up"
  | "the machine"
  | "other";

const reasonOf = ({ kind }: Pick<Failure, "kind">): LossReason => REASONS[kind];

/** Why an attempt failed, in two or three words. */
export const failureLabel = (failure: Pick<Failure, "kind">): string => lossLabel(reasonOf(failure));

/** Where the name in `--json` is not what people would say. */
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
