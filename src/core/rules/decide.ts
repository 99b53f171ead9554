/** Decides which facts follow from an input, by the state and the policy; no other code turns inputs into facts. */

import { failure, isAccounts, isLoss } from "../failure.ts";
import { type GateRecord, MAX_GATE_RECORDS } from "../gate.ts";
import {
  type Ended,
  type Job,
  type JobId,
  type JobOutcome,
  jobId,
  type Outcome,
  type Spent,
  slotOfId,
  type TurnTally,
} from "../job.ts";
import type { Fact, Input, JobEnd } from "../log/event.ts";
import { accountOfKey, type RunState, retryTask } from "../log/state.ts";
import { questionOfKey } from "../subtask.ts";
import { type Now, withoutRepeats } from "./consequences.ts";
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
import { approve, cancelRun, cancelTask, decline, openRun, steerRun } from "./decide-command.ts";
import { decideLand, landingSeenTo } from "./decide-landing.ts";
import { jobReturned, jobTaken, machineChanged, machineHeld } from "./decide-machine.ts";
import { decidePlan } from "./decide-plan.ts";
import { setupSeenTo } from "./decide-setup.ts";
import { decideWork } from "./decide-work.ts";
import { outcomeOf } from "./job-outcome.ts";
import type { Policy } from "./policy.ts";
import { answerBase, baseByDefault, isBaseQuestion } from "./red-base.ts";

type InputOf<T extends Input["type"]> = Extract<Input, { readonly type: T }>;
type Deciders = { readonly [T in Input["type"]]: (now: Now, input: InputOf<T>) => readonly Fact[] };

export function decide(state: RunState, input: Input, policy: Policy): readonly Fact[] {
  if (input.type !== "open" && (!state.request || state.closed)) return [];
  const decider = DECIDERS[input.type] as (now: Now, input: Input) => readonly Fact[];
  return decider({ state, at: input.at, policy }, input);
}

const DECIDERS: Deciders = {
  open: ({ state }, { request }) => openRun(state, request),
  pause: ({ state }) => (state.paused ? [] : [{ type: "run.paused" }]),
  resume: resumed,
  steer: (now, { message }) => steerRun(now, message),
  approve: ({ state }, { task }) => approve(state, task),
  decline,
  cancel: ({ state }, { task, reason = "asked for" }) =>
    task === undefined ? cancelRun(state, reason) : cancelTask(state, task, reason),
  answer: (now, input) =>
    isBaseQuestion(now.state, input.question)
      ? answerBase(now.state, input.text)
      : answerQuestion(now, input),
  "base-moved": (_, { commit }) => [{ type: "base.moved", commit }],
  taken: jobTaken,
  returned: jobReturned,
  machine: machineChanged,
  held: machineHeld,
  "account-refused": accountTroubled,
  "account-worked": ({ state }, { account }) => accountWorks(state, account),
  quiet: ({ state }, { job, ms, doing }) =>
    state.running.has(job) && isNumber(ms) ? [{ type: "job.quiet", job, ms, ...(doing && { doing }) }] : [],
  prepared: ({ state }, { job, ms, doing }) =>
    state.running.has(job) && isNumber(ms) ? [{ type: "job.prepared", job, ms, doing }] : [],
  "checkout-changed": (_, { job, places }) => [
    { type: "checkout.changed", job, places: places.slice(0, MAX_PLACES) },
  ],
  "clock-jumped": (now, { ms }) => clockJumped(now, ms),
  tick: deadlinesPassed,
  interrupted,
  ended: answered,
};

/** More than people read. */
const MAX_PLACES = 20;

/** A person says `resume`: what stopped the run may have been fixed. */
function resumed(now: Now): readonly Fact[] {
  const { state } = now;
  const setup = setupSeenTo(now);
  const isTurned = setup.some(({ type }) => type === "landing.turned");
  return [
    ...(state.paused ? [{ type: "run.resumed" } as const] : []),
    ...setup,
    ...accountsSeenTo(state),
    ...(isTurned ? [] : landingSeenTo(now)),
  ];
}

/** An answer is used if its job is the newest of its slot, even if it comes late; otherwise only its cost counts. */
function answered(now: Now, input: InputOf<"ended">): readonly Fact[] {
  const { state, policy } = now;
  const { job: id } = input;
  const outcome = wellFormed(input.outcome);
  const spent = input.spent && honest(input.spent, policy);
  const gates = wellFormedRuns(input.gates);
  const end = (how: JobEnd, came?: JobOutcome): Fact => ({
    ...{ type: "job.ended", job: id, how },
    ...(came && { outcome: came }),
    ...(spent && { spent }),
    ...(gates.length > 0 && { gates }),
  });
  const running = state.running.get(id);
  const accounts = running || state.unanswered.has(id) ? accountsAfter(now, id, outcome) : [];
  const settled = (how: JobEnd, job: Job) => {
    const isAccount = outcome.is === "failed" && isAccounts(outcome.failure);
    const wait = isAccount ? notBefore(now, { id, failure: outcome.failure, facts: accounts }) : undefined;
    const held = wait === undefined ? {} : { notBefore: wait };
    const ended: Ended = { outcome, free: false, ...(spent && { spent }), ...held };
    const facts = settleOutcome(now, job, ended);
    return [end(how, outcomeOf(job, outcome, facts)), ...accounts, ...facts];
  };
  if (running) return settled("answered", running.job);
  const late = state.late.get(slotOfId(id));
  // The lost job was charged when it expired: reporting the loss again must not charge it again.
  const isKnown = outcome.is === "failed" && isLoss(outcome.failure);
  if (late && jobId(late) === id && !isKnown) return settled("answered-late", late);
  // Of a replaced job only its cost counts, and what it found out about an account.
  return state.unanswered.has(id) ? [end("dropped"), ...accounts] : [];
}

/** An executor's answer is not checked by types at run time: an answer without a kind becomes a failure. */
const wellFormed = (outcome: Outcome | undefined): Outcome =>
  typeof outcome?.is === "string"
    ? outcome
    : { is: "failed", failure: failure("agent-failed", "the job ended without an outcome") };

const wellFormedRuns = (gates: InputOf<"ended">["gates"]): readonly GateRecord[] =>
  (gates ?? [])
    .filter(({ output, ms }) => typeof output === "string" && isNumber(ms))
    .slice(0, MAX_GATE_RECORDS);

const isNumber = (n: unknown): n is number => typeof n === "number" && Number.isFinite(n) && n >= 0;

/** A cost that is not a number is unknown: then the job's reserve counts as its cost. */
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

/** The job's cost counts even if the job had expired before. */
function interrupted(now: Now, { job, spent }: InputOf<"interrupted">): readonly Fact[] {
  const [ended, ...rest] = gone(now, job, "interrupted");
  if (!spent) return ended ? [ended, ...rest] : [];
  const cost = honest(spent, now.policy);
  if (ended?.type === "job.ended") return [{ ...ended, spent: cost }, ...rest];
  return now.state.unanswered.has(job) ? [{ type: "job.ended", job, how: "dropped", spent: cost }] : [];
}

/** The job will not answer, or not in time: decides as if it had reported that itself. */
function gone(now: Now, id: JobId, how: "expired" | "interrupted"): readonly Fact[] {
  const running = now.state.running.get(id);
  if (!running) return [];
  const who = { plan: "planner", work: "worker", land: "landing", check: "check" }[running.job.kind];
  const ended: Ended =
    how === "expired"
      ? {
          outcome: { is: "failed", failure: failure("timed-out", `the ${who} gave no answer in time`) },
          free: false,
          notBefore: now.at + now.policy.retry.graceMs, // It may still answer until then.
        }
      : {
          outcome: {
            is: "failed",
            failure: failure("interrupted", `the ${who} was interrupted by a restart`),
          },
          free: true,
        };
  const facts = settleOutcome(now, running.job, ended);
  const outcome = outcomeOf(running.job, ended.outcome, facts);
  return [{ type: "job.ended", job: id, how, outcome }, ...facts];
}

function settleOutcome(now: Now, job: Job, ended: Ended): readonly Fact[] {
  switch (job.kind) {
    case "plan":
      return decidePlan(now, job, ended);
    case "work":
      return decideWork(now, job, ended);
    case "land":
      return decideLand(now, job, ended);
    case "check":
      return decideCheck(now, job, ended);
  }
}

const timesUp = (state: RunState, question: string): readonly Fact[] =>
  isBaseQuestion(state, question) ? baseByDefault(state) : answerByDefault(state, question);

/** Leases that ran out, and waits that are over. Each is decided on its own, so two may skip the same task. */
function deadlinesPassed(now: Now): readonly Fact[] {
  const { state, at } = now;
  const keys = oneOfGate(state, state.deadlines.due(at));
  const answers = keys.flatMap((key) => timesUp(state, questionOfKey(key) ?? ""));
  const stopped = new Set(answers.flatMap((fact) => (fact.type === "job.ended" ? [fact.job as string] : [])));
  const facts = keys.flatMap((key): readonly Fact[] => {
    if (stopped.has(key) || questionOfKey(key) !== undefined) return [];
    const account = accountOfKey(key);
    if (account !== undefined) return [{ type: "account.woken", account }];
    const task = retryTask(key);
    return task === undefined ? gone(now, key as JobId, "expired") : [{ type: "task.woken", task }];
  });
  return withoutRepeats([...answers, ...facts]);
}

/** Landings and checks share the landing's phase, so only one is decided per tick; the next tick is due at once. */
function oneOfGate({ running }: RunState, keys: readonly string[]): readonly string[] {
  const isOfGate = (key: string) => ["land", "check"].includes(running.get(key as JobId)?.job.kind ?? "");
  const first = keys.find(isOfGate);
  return keys.filter((key) => key === first || !isOfGate(key));
}
