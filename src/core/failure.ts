/** Why did something not work? A value with a kind for the rules, words for people, and what to try. */
export type FailureKind =
  /** The agent said so, or ended without an answer that can be used. */
  | "agent-failed"
  /** The model or program could not be reached; nothing is known about the task. */
  | "agent-unreachable"
  /** The account is rate limited: it is not called before `until`. */
  | "quota"
  /** The account's key was refused: it is not called before a person says `resume`. */
  | "authentication"
  /** No answer in the time that its kind of job has. */
  | "timed-out"
  /** The process is gone: a crash, a kill, a lost machine. */
  | "interrupted"
  | "plan-unreadable"
  | "plan-invalid"
  /** It answered as a worker would: the program that was named as the planner cannot plan. */
  | "not-a-planner"
  /** The worker reported partial, blocked or failed. */
  | "incomplete"
  | "empty-change"
  | "out-of-scope"
  /** A rule for workers was broken: a test deleted or switched off, a forbidden mark. */
  | "rule-broken"
  /** What its plan asks of its end: no `DONE`, no output file, or a criterion that does not pass. */
  | "unmet"
  | "conflict"
  | "gate-red"
  | "target-red"
  | "children-failed"
  | "planner-gave-up"
  | "repository"
  /** The run's log is damaged, newer than this Skein, or read-only: starting again does not help. */
  | "log"
  /** The gate cannot be run here, or proves nothing: a program, a package or a service is missing. A person sees to it. */
  | "setup"
  | "budget"
  | "policy"
  | "cancelled";

export type Failure = {
  readonly kind: FailureKind;
  /** What happened, in words that can be shown to a person or a model. */
  readonly message: string;
  /** What to try. */
  readonly next?: string;
  /** What the tools wrote about it, for the next attempt. */
  readonly detail?: string;
  /** Of `quota` and `authentication`: whose, and when it is over by the machine's clock, in ms, if that was said. */
  readonly account?: string;
  readonly until?: number;
  /** Where it was said as a length of time: so long, whatever the clock is set to meanwhile. */
  readonly waitMs?: number;
  /** Of `setup`: the agent that cannot be used here. */
  readonly agent?: string;
  /** Of `budget`: whose is spent. A run drains when its own is; a task fails when its own, or its subtree's, is. */
  readonly budget?: "run" | "subtree" | "task";
};

export const failure = (kind: FailureKind, message: string, next?: string): Failure =>
  next === undefined ? { kind, message } : { kind, message, next };

/** An account's own trouble: who met it waits for the account, without being counted at all. */
export const isAccounts = (f: Failure) => f.kind === "quota" || f.kind === "authentication";

/** Not the task's fault: tried again without being counted against it, up to a limit of its own if it has one. */
export const isLoss = (f: Failure) =>
  isAccounts(f) ||
  f.kind === "timed-out" ||
  f.kind === "interrupted" ||
  f.kind === "agent-unreachable" ||
  f.kind === "repository"; // The disk is full, git is broken: the machine's fault.

/** The words of whatever was thrown: also what has no message, or one that throws when it is asked for. */
export function messageOf(thrown: unknown): string {
  try {
    const { message = thrown, name = "" } = Object(thrown) as { message?: unknown; name?: unknown };
    return String(message) || String(name) || "failed without a message";
  } catch {
    return "failed with an error that cannot be shown"; // Its own toString threw: there is nothing to show.
  }
}

export function forPeople({ next, ...why }: Failure): Failure {
  return next === undefined || FOR_AGENTS.has(why.kind) ? why : { ...why, next };
}

/** Of these kinds, `next` tells an agent how to do better. */
const FOR_AGENTS: ReadonlySet<FailureKind> = new Set([
  "plan-unreadable",
  "plan-invalid",
  "empty-change",
  "out-of-scope",
  "rule-broken",
  "unmet",
  "conflict",
  "gate-red",
]);
