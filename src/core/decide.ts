/** What follows from what happened? The only place that writes history; it reads the state and returns facts. */
import { withoutRepeats } from "./consequences.ts";
import {
  accountsAfter,
  accountsSeenTo,
  accountTroubled,
  accountWorks,
  clockJumped,
  notBefore,
} from "./decide-account.ts";
import { answerByDefault, answerQuestion } from "./decide-call.ts";
import { decideCheck } from "./decide-check.ts";
import { cancelRun, cancelTask, openRun, steerRun } from "./decide-command.ts";
import { decideLand, landingSeenTo } from "./decide-landing.ts";
import { decidePlan } from "./decide-plan.ts";
import { setupSeenTo } from "./decide-setup.ts";
import { decideWork } from "./decide-work.ts";
import type { Fact, Input, JobEnd } from "./event.ts";
import { failure, isAccounts, isLoss } from "./failure.ts";
import {
  type Ended,
  type Job,
  type JobId,
  jobId,
  type Outcome,
  type Spent,
  slotOfId,
  type TurnTally,
} from "./job.ts";
import { approve, decline } from "./landing-approval.ts";
import type { Policy, Rules } from "./policy.ts";
import { accountOfKey, type RunState, retryTask } from "./state.ts";
import { questionOfKey } from "./subtask.ts";
import { unreachable } from "./unreachable.ts";

export function decide(state: RunState, input: Input, policy: Policy): readonly Fact[] {
  if (input.type === "open") return openRun(state, input.request);
  if (!state.request || state.closed) return [];
  switch (input.type) {
    case "pause":
      return state.paused ? [] : [{ type: "run.paused" }];
    case "resume":
      return resumed(state, { at: input.at, policy });
    case "steer":
      return steerRun(state, input.message, policy);
    case "approve":
      return approve(state, input.task);
    case "decline":
      return decline(state, input, { at: input.at, policy });
    case "cancel":
      return input.task === undefined
        ? cancelRun(state, input.reason ?? "asked for")
        : cancelTask(state, input.task, input.reason ?? "asked for");
    case "answer":
      return answerQuestion(state, input, { at: input.at, policy });
    case "base-moved":
      return [{ type: "base.moved", commit: input.commit }];
    case "account-refused":
      return accountTroubled(state, input, { at: input.at, policy });
    case "account-worked":
      return accountWorks(state, input.account);
    case "quiet":
      return state.running.has(input.job) && isNumber(input.ms)
        ? [{ type: "job.quiet", job: input.job, ms: input.ms, ...(input.doing && { doing: input.doing }) }]
        : [];
    case "checkout-changed":
      return [{ type: "checkout.changed", job: input.job, places: input.places.slice(0, MAX_PLACES) }];
    case "clock-jumped":
      return clockJumped(state, input.ms, { at: input.at, policy });
    case "tick":
      return deadlinesPassed(state, input.at, policy);
    case "interrupted":
      return interrupted(state, input, policy);
    case "ended":
      return answered(state, input, policy);
    default:
      return unreachable(input);
  }
}

/** A person says that the run should go on: what kept it may have been put right. */
function resumed(state: RunState, rules: Rules): readonly Fact[] {
  const setup = setupSeenTo(state, rules);
  const isTurned = setup.some(({ type }) => type === "landing.turned");
  return [
    ...(state.paused ? [{ type: "run.resumed" } as const] : []),
    ...setup,
    ...accountsSeenTo(state),
    ...(isTurned ? [] : landingSeenTo(state, rules.at)),
  ];
}

/** An answer is used if its job is the newest of its slot, also when it comes late; else only its cost counts. */
function answered(
  state: RunState,
  input: Input & { readonly type: "ended" },
  policy: Policy,
): readonly Fact[] {
  const { job: id } = input;
  const outcome = wellFormed(input.outcome);
  const spent = input.spent && honest(input.spent, policy);
  const end = (how: JobEnd): Fact =>
    spent ? { type: "job.ended", job: id, how, spent } : { type: "job.ended", job: id, how };
  const rules = { at: input.at, policy };

  const running = state.running.get(id);
  const isHeard = state.running.has(id) || state.unanswered.has(id);
  const accounts = isHeard ? accountsAfter(state, id, outcome, rules) : [];
  const settled = (how: JobEnd, job: Job) => {
    const wait = heldUp(state, id, outcome, { facts: accounts, rules });
    const ended: Ended = { outcome, free: false, ...(spent && { spent }), ...wait };
    return [end(how), ...accounts, ...settleOutcome(state, job, ended, rules)];
  };
  if (running) return settled("answered", running.job);
  const late = state.late.get(slotOfId(id));
  if (late && jobId(late) === id) {
    // That it was lost has been counted: saying so again must not count again.
    const isKnown = outcome.is === "failed" && isLoss(outcome.failure);
    if (!isKnown) return settled("answered-late", late);
  }
  // Of a job that nobody waits for, only what it cost counts, and what it found out about an account.
  return state.unanswered.has(id) ? [end("dropped"), ...accounts] : [];
}

function heldUp(
  state: RunState,
  id: JobId,
  outcome: Outcome,
  about: { readonly facts: readonly Fact[]; readonly rules: Rules },
): Pick<Ended, "notBefore"> {
  if (outcome.is !== "failed" || !isAccounts(outcome.failure)) return {};
  const wait = notBefore(state, id, outcome.failure, about);
  return wait === undefined ? {} : { notBefore: wait };
}

/** What an executor returns is not checked by a compiler at run time; without a kind it is a failure. */
const wellFormed = (outcome: Outcome | undefined): Outcome =>
  typeof outcome?.is === "string"
    ? outcome
    : { is: "failed", failure: failure("agent-failed", "the job ended without an outcome") };

/** More than anybody reads. */
const MAX_PLACES = 20;

const isNumber = (n: unknown): n is number => typeof n === "number" && Number.isFinite(n) && n >= 0;

/** A cost that is no number is not known: then what was set aside for the job is what it cost. */
function honest({ tokens, microdollars, unaccounted, turn }: Spent, policy: Policy): Spent {
  return {
    ...honestAmount(tokens, microdollars, policy),
    ...(unaccounted && {
      unaccounted: {
        calls: isNumber(unaccounted.calls) ? unaccounted.calls : 1,
        ...honestAmount(unaccounted.tokens, unaccounted.microdollars, policy),
      },
    }),
    ...(turn && isHonest(turn) && { turn }),
  };
}

const honestAmount = (tokens: number, microdollars: number | undefined, { budget }: Policy) => ({
  tokens: isNumber(tokens) ? tokens : budget.reserveTokens,
  ...(isNumber(microdollars) && { microdollars }),
});

const isHonest = ({ calls, toolCalls, inputTokens, outputTokens }: TurnTally): boolean =>
  [calls, toolCalls, inputTokens, outputTokens].every(isNumber);

/** What it had cost counts, also if it had been given up before. */
function interrupted(
  state: RunState,
  { job, at, spent }: Input & { readonly type: "interrupted" },
  policy: Policy,
): readonly Fact[] {
  const [ended, ...rest] = gone(state, job, "interrupted", { at, policy });
  if (!spent) return ended ? [ended, ...rest] : [];
  const cost = honest(spent, policy);
  if (ended?.type === "job.ended") return [{ ...ended, spent: cost }, ...rest];
  return state.unanswered.has(job) ? [{ type: "job.ended", job, how: "dropped", spent: cost }] : [];
}

/** The job will not answer, or not in time: as if it had said so itself. */
function gone(state: RunState, id: JobId, how: "expired" | "interrupted", rules: Rules): readonly Fact[] {
  const running = state.running.get(id);
  if (!running) return [];
  const who = { plan: "planner", work: "worker", land: "landing", check: "check" }[running.job.kind];
  const lost: Outcome = {
    is: "failed",
    failure:
      how === "expired"
        ? failure("timed-out", `the ${who} gave no answer in time`)
        : failure("interrupted", `the ${who} was interrupted by a restart`),
  };
  return [
    { type: "job.ended", job: id, how },
    // What may still answer is given that long; who has said that its time was up has answered.
    ...settleOutcome(
      state,
      running.job,
      how === "expired"
        ? { outcome: lost, free: false, notBefore: rules.at + rules.policy.retry.graceMs }
        : { outcome: lost, free: true },
      rules,
    ),
  ];
}

function settleOutcome(state: RunState, job: Job, ended: Ended, rules: Rules): readonly Fact[] {
  switch (job.kind) {
    case "plan":
      return decidePlan(state, job, ended, rules);
    case "work":
      return decideWork(state, job, ended, rules);
    case "land":
      return decideLand(state, job, ended, rules);
    case "check":
      return decideCheck(state, job, ended, rules);
  }
}

/** Leases that ran out, and waits that are over. Each is decided on its own; two may doom the same dependent. */
function deadlinesPassed(state: RunState, at: number, policy: Policy): readonly Fact[] {
  const keys = state.deadlines.due(at);
  const answered = keys.flatMap((key) => answerByDefault(state, questionOfKey(key) ?? ""));
  const stopped = new Set(
    answered.flatMap((fact) => (fact.type === "job.ended" ? [fact.job as string] : [])),
  );
  const facts = keys.flatMap((key) => {
    if (stopped.has(key) || questionOfKey(key) !== undefined) return [];
    const account = accountOfKey(key);
    if (account !== undefined) return [{ type: "account.woken", account } as const];
    const task = retryTask(key);
    return task === undefined
      ? gone(state, key as JobId, "expired", { at, policy })
      : [{ type: "task.woken", task } as const];
  });
  return withoutRepeats([...answered, ...facts]);
}
