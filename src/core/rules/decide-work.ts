/** Decides what follows from a worker's turn: done, handed off for landing, retried, or waiting for a call. */

import { type Failure, failure, isAccounts, isLoss } from "../failure.ts";
import { boundHandoff } from "../handoff.ts";
import type { Ended, Job, Outcome } from "../job.ts";
import type { Charge, Fact } from "../log/event.ts";
import { type RunState, taskOf } from "../log/state.ts";
import { isSettled, type Task } from "../task.ts";
import { attemptFailed, budgetSpent, isRunBudget, type Now, runExhausted } from "./consequences.ts";
import { decideAnswering, decideCall } from "./decide-call.ts";
import { setupMet, setupWait } from "./decide-setup.ts";
import { type Evidence, judgeWork } from "./evidence.ts";
import type { Policy } from "./policy.ts";

type WorkJob = Job & { readonly kind: "work" };

export function decideWork(now: Now, job: WorkJob, ended: Ended): readonly Fact[] {
  const { outcome } = ended;
  const task = taskOf(now.state, job.task);
  if (isSettled(task)) return [];
  if (task.state.is === "waiting") return decideAnswering(now, job, ended);
  if (outcome.is === "answered" || outcome.is === "passed-on") return []; // Too late: the task already goes on.
  if (outcome.is === "called") return decideCall(now, job, outcome);
  if (outcome.is === "worked") return judge(now, job, { ...ended, outcome });
  const why =
    outcome.is === "failed" ? outcome.failure : failure("agent-failed", `a worker answered "${outcome.is}"`);
  return workFailed(now, job, { ...ended, failure: why });
}

function workFailed(now: Now, job: WorkJob, ended: Ended & { readonly failure: Failure }): readonly Fact[] {
  const { failure: why, free, spent, notBefore } = ended;
  const task = taskOf(now.state, job.task);
  const isOver = why.kind === "budget";
  const isRuns = isOver && isRunBudget(now, task, { failure: why, spent });
  if (isOver && !isRuns) return budgetSpent(now.state, task, why);
  const isSetup = why.kind === "setup";
  const charge = free || isOver || isSetup ? "nothing" : chargeOf(why, notBefore);
  const wait = isSetup ? setupWait(now) : notBefore;
  return [
    ...setupMet(now, why),
    ...(isRuns ? runExhausted(now.state, task) : []),
    ...attemptFailed(now, job, {
      failure: why,
      charge,
      ...(typeof wait === "number" && { notBefore: wait }),
    }),
  ];
}

function chargeOf(why: Failure, notBefore: Ended["notBefore"]): Charge {
  if (why.kind === "agent-unreachable" || notBefore === "unknown") return "unreachable";
  return isAccounts(why) ? "nothing" : isLoss(why) ? "lost" : "failed";
}

function judge(
  now: Now,
  job: WorkJob,
  { outcome, spent }: Ended & { readonly outcome: Outcome & { readonly is: "worked" } },
): readonly Fact[] {
  const { state, at, policy } = now;
  const task = taskOf(state, job.task);
  const { id, spec } = task;
  const limits = limitsFor(task, policy);
  const claim = boundHandoff(outcome.handoff, limits);
  const evidence = believable(outcome.evidence, task, state);
  const verdict = judgeWork({ spec, claim, evidence }, policy);
  const metrics = {
    ...verdict.handoff.metrics,
    durationMs: at - task.startedAt,
    ...(spent && { tokensUsed: spent.tokens }),
  };
  const concerns = [...new Set([...(task.goOn?.notes ?? []), ...verdict.handoff.concerns])];
  const handoff = boundHandoff({ ...verdict.handoff, metrics, concerns, taskId: id }, limits);
  if (verdict.is === "refused")
    return attemptFailed(now, job, { failure: verdict.failure, charge: "failed", handoff });
  if (spec.spawn) return [{ type: "task.done", task: id, handoff }];
  if (spec.delivers === "report") return [{ type: "task.done", task: id, handoff, ended: "answered" }];
  if (evidence.isMetBefore) return [{ type: "task.done", task: id, handoff, ended: "unchanged" }];
  const { flags = [] } = handoff;
  return [
    { type: "task.handed-off", task: id, attempt: job.attempt, handoff },
    ...(policy.gateChanges === "ask" && flags.length > 0
      ? [{ type: "landing.proposed", task: id, flags } as const]
      : []),
  ];
}

/** A criterion that only runs commands of the gate passes on every green target, which says nothing about the task. */
function believable({ isMetBefore, ...evidence }: Evidence, { spec }: Task, { target }: RunState): Evidence {
  const gate =
    target.report?.commands.flatMap(({ name, line }) => [name, line ?? name].map(plainCommand)) ?? [];
  const run = (spec.terms?.criterion?.split(/&&|;/) ?? [])
    .map(plainCommand)
    .filter((command) => command !== "");
  const isGate = run.every((command) => gate.includes(command));
  return { ...evidence, ...(isMetBefore && !isGate && { isMetBefore }) };
}

/** `npm test` and `npm run test` are the same command. */
const plainCommand = (line: string): string =>
  line
    .trim()
    .replace(/\s+/g, " ")
    .replace(/^(npm|pnpm|yarn) run /, "$1 ");

/**
 * A subtask's result goes whole into the conversation that asked for it, and a report is what the user reads: so both
 * may be longer.
 */
const limitsFor = ({ spec }: Task, { brief, subtasks }: Policy) =>
  spec.spawn || spec.delivers === "report" ? { ...brief, maxSummaryChars: subtasks.maxResultChars } : brief;
