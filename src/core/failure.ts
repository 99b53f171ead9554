/** Kinds of failures, with words for people and what to try; the rules decide by the kind. */
export type FailureKind =
  /** The agent reported a failure, or ended without a usable answer. */
  | "agent-failed"
  /** The model or program could not be reached, which says nothing about the task. */
  | "agent-unreachable"
  /** The account is rate limited: it is not called before `until`. */
  | "quota"
  /** The account's key was refused: it is not called before a person says `resume`. */
  | "authentication"
  /** No answer within the time limit of its kind of job. */
  | "timed-out"
  /** The process is gone: a crash, a kill, a lost machine. */
  | "interrupted"
  | "plan-unreadable"
  | "plan-invalid"
  /** It answered as a worker would: the program named as the planner cannot plan. */
  | "not-a-planner"
  /** The worker reported partial, blocked or failed. */
  | "incomplete"
  | "empty-change"
  | "out-of-scope"
  /** The worker broke a rule: it deleted or switched off a test, or left a forbidden mark. */
  | "rule-broken"
  /** A condition of its plan is not met: no `DONE`, no output file, or a criterion that does not pass. */
  | "unmet"
  | "conflict"
  | "gate-red"
  | "target-red"
  | "children-failed"
  | "planner-gave-up"
  | "repository"
  /** The run's log is damaged, newer than this Skein, or read-only: starting again does not help. */
  | "log"
  /** The gate cannot run here, or proves nothing: a program, package or service is missing. A person must fix it. */
  | "setup"
  | "budget"
  | "policy"
  | "cancelled";

export type Failure = {
  readonly kind: FailureKind;
  /** What happened, in words for a person or a model. */
  readonly message: string;
  /** What to try. */
  readonly next?: string;
  /** What the tools wrote about it, for the next attempt. */
  readonly detail?: string;
  /**
   * Of `quota` and `authentication`: the account, and until when it cannot be called (ms of the machine's clock), if
   * that is known.
   */
  readonly account?: string;
  readonly until?: number;
  /** In ms, if the account named a length of time: then the wait does not depend on how the clock is set meanwhile. */
  readonly waitMs?: number;
  /** Of `setup`: the agent that cannot be used here. */
  readonly agent?: string;
  /**
   * Of `budget`: which budget is spent. A run drains when its own is; a task fails when its own or its subtree's is.
   */
  readonly budget?: "run" | "subtree" | "task";
};

export const failure = (kind: FailureKind, message: string, next?: string): Failure =>
  next === undefined ? { kind, message } : { kind, message, next };

/** The account's failure, not the task's: the task waits for the account, and nothing is counted. */
export const isAccounts = (f: Failure) => f.kind === "quota" || f.kind === "authentication";

/** Not the task's fault: the task is tried again without a charge, up to a limit of that kind if there is one. */
export const isLoss = (f: Failure) =>
  isAccounts(f) ||
  f.kind === "timed-out" ||
  f.kind === "interrupted" ||
  f.kind === "agent-unreachable" ||
  f.kind === "repository"; // The disk is full or git is broken: the machine's fault.

/** The message of any thrown value, also of one without a message or whose getter throws. */
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

/** Kinds of failure whose `next` tells an agent, not a person, how to do better. */
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
