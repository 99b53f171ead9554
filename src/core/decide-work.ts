/** What follows from a worker's report? */
import { attemptFailed } from "./consequences.ts";
import { budgetSpent, isRuns, runExhausted } from "./decide-budget.ts";
import { decideAnswering, decideCall } from "./decide-call.ts";
import { setupMet, setupWait } from "./decide-setup.ts";
import type { Charge, Fact } from "./event.ts";
import { judgeWork } from "./evidence.ts";
import { type Failure, failure, isAccounts, isLoss } from "./failure.ts";
import { boundHandoff } from "./handoff.ts";
import type { Ended, Job } from "./job.ts";
import { landingProposal } from "./landing-approval.ts";
import type { Rules } from "./policy.ts";
import { type RunState, taskOf } from "./state.ts";
import { isSettled, type Task } from "./task.ts";

export function decideWork(
  state: RunState,
  job: Job & { readonly kind: "work" },
  ended: Ended,
  rules: Rules,
): readonly Fact[] {
  const { outcome, free, spent, notBefore } = ended;
  const task = taskOf(state, job.task);
  const { attempt } = job;
  if (isSettled(task)) return [];
  if (task.state.is === "waiting") return decideAnswering(state, job, ended, rules);
  if (outcome.is === "answered" || outcome.is === "passed-on") return []; // Too late: it goes on already.
  if (outcome.is === "called") return decideCall(state, job, outcome, rules);
  if (outcome.is !== "worked") {
    const why =
      outcome.is === "failed"
        ? outcome.failure
        : failure("agent-failed", `a worker answered "${outcome.is}"`);
    const isOver = why.kind === "budget";
    const runs = isOver && isRuns(state, task, { failure: why, ...(spent && { spent }) }, rules);
    if (isOver && !runs) return budgetSpent(state, task, why);
    const isSetup = why.kind === "setup";
    const charge = free || isOver || isSetup ? "nothing" : chargeOf(why, notBefore);
    const wait = isSetup ? setupWait(state, rules) : notBefore;
    return [
      ...setupMet(state, why, rules),
      ...(runs ? runExhausted(state, task) : []),
      ...attemptFailed(
        state,
        task,
        attempt,
        { failure: why, charge, ...(typeof wait === "number" && { notBefore: wait }) },
        rules,
      ),
    ];
  }
  const brief = limitsFor(task, rules.policy);
  const verdict = judgeWork(task.spec, boundHandoff(outcome.handoff, brief), outcome.evidence, rules.policy);
  const metrics = {
    ...verdict.handoff.metrics,
    durationMs: rules.at - task.startedAt,
    ...(spent && { tokensUsed: spent.tokens }),
  };
  const concerns = [...new Set([...(task.goOn?.notes ?? []), ...verdict.handoff.concerns])];
  const handoff = boundHandoff({ ...verdict.handoff, metrics, concerns, taskId: task.id }, brief);
  if (verdict.is === "refused") {
    return attemptFailed(
      state,
      task,
      attempt,
      { failure: verdict.failure, charge: "failed", handoff },
      rules,
    );
  }
  return task.spec.delivers === "report" || task.spec.spawn
    ? [{ type: "task.done", task: task.id, handoff }]
    : [
        { type: "task.handed-off", task: task.id, attempt, handoff },
        ...landingProposal(task.id, handoff, rules),
      ];
}

/** The result of a subtask goes back whole into the conversation that asked for it. */
const limitsFor = ({ spec }: Task, { brief, subtasks }: Rules["policy"]) =>
  spec.spawn ? { ...brief, maxSummaryChars: subtasks.maxResultChars } : brief;

function chargeOf(why: Failure, notBefore: Ended["notBefore"]): Charge {
  if (why.kind === "agent-unreachable" || notBefore === "unknown") return "unreachable";
  return isAccounts(why) ? "nothing" : isLoss(why) ? "lost" : "failed";
}
