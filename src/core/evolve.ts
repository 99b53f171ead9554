/** What does a fact change? The only place that changes a run's state. */

import { withSeen } from "./batch-size.ts";
import type { Draft, TaskDraft } from "./draft.ts";
import type { Event, EventOf } from "./event.ts";
import {
  addTask,
  planAccepted,
  planDeclined,
  planEnded,
  plannerIn,
  planRejected,
  steer,
} from "./evolve-plan.ts";
import { type Failure, isLoss } from "./failure.ts";
import { isOver } from "./finish.ts";
import { isGreen } from "./gate.ts";
import { createFailureHandoff } from "./handoff.ts";
import { type Job, type JobId, jobId, type Member, slotOf, slotOfId } from "./job.ts";
import { raise, release, retryWhen, settle, taskIn, wake } from "./settle.ts";
import {
  emptyState,
  flakyOf,
  healthAfter,
  type Landing,
  type RunState,
  redsAfter,
  retryKey,
  takenBack,
} from "./state.ts";
import { isSettled, parentId, ROOT, type TaskId } from "./task.ts";
import { unreachable } from "./unreachable.ts";

export function replay(events: Iterable<Event>): RunState {
  const state = emptyState();
  for (const event of events) evolve(state, event);
  return state;
}

/** Changes `state` in place: a log has one folder, and everybody else sees `RunState` as readonly. */
export function evolve(state: RunState, event: Event): RunState {
  const s = state as Draft;
  const wasOver = isAtEnd(s);
  switch (event.type) {
    case "run.opened":
      s.request = event.request;
      s.openedAt = event.at;
      for (const name of event.request.flaky ?? []) s.flaky.set(name, 0);
      moveTip(s, event.request.base);
      addTask(s, { id: ROOT, spec: event.spec, rank: event.spec.priority });
      break;
    case "run.paused":
      s.paused = true;
      break;
    case "run.resumed":
      s.paused = false;
      break;
    case "run.steered":
      steer(s, event.message);
      break;
    case "run.cancel-requested":
      s.cancelling = event.reason;
      break;
    case "run.closed":
      s.closed = { how: event.how, left: event.left };
      break;
    case "command.refused":
      break; // For people to read; it changes nothing.
    case "job.started":
      jobStarted(s, event);
      break;
    case "job.ended":
      jobEnded(s, event);
      break;
    case "plan.accepted":
      planAccepted(s, event);
      break;
    case "plan.proposed":
      s.proposed = event.tasks;
      break;
    case "plan.approved":
      s.proposed = [];
      s.approved = true;
      break;
    case "plan.declined":
      planDeclined(s);
      break;
    case "plan.rejected":
      planRejected(s, event);
      break;
    case "plan.kept-whole": {
      const task = taskIn(s, event.task);
      task.state = { is: "open" };
      task.spec = { ...task.spec, shape: "work" };
      task.tries.planErrors = 0;
      release(s, task);
      break;
    }
    case "plan.ended":
      planEnded(s, event);
      break;
    case "task.handed-off": {
      const task = taskIn(s, event.task);
      task.state = { is: "landing", attempt: event.attempt, handoff: event.handoff };
      task.tries.failed = 0;
      task.tries.lost = 0;
      task.tries.unreachable = 0;
      release(s, task);
      break;
    }
    case "task.retried":
      taskRetried(s, event);
      break;
    case "task.woken":
      s.deadlines.delete(retryKey(event.task));
      release(s, taskIn(s, event.task));
      break;
    case "task.held-back":
      heldBack(s, event);
      break;
    case "task.done":
      settle(s, event.task, { is: "done", handoff: event.handoff });
      break;
    case "task.failed": {
      const { failure, handoff } = event;
      noteGuilt(s, failure);
      settle(s, event.task, handoff ? { is: "failed", failure, handoff } : { is: "failed", failure });
      break;
    }
    case "task.skipped":
      settle(s, event.task, { is: "skipped", because: event.because });
      break;
    case "task.cancel-requested":
      taskIn(s, event.task).cancelling = true;
      break;
    case "task.cancelled":
      settle(s, event.task, { is: "cancelled", reason: event.reason });
      break;
    case "batch.landed":
      batchLanded(s, event);
      break;
    case "landing.lost":
      landingLost(s, event);
      break;
    case "landing.turned":
      s.landing = landingOf(event);
      for (const id of event.requeue) release(s, taskIn(s, id));
      if (event.errors > 0) s.target.unsure = true;
      break;
    case "target.checked":
      targetChecked(s, event);
      break;
    case "target.unchecked":
      s.target.checkErrors += 1;
      s.target.checkedAt = event.at;
      break;
    case "target.moved":
      moveTip(s, event.tip);
      s.target.health = "unknown";
      break;
    case "base.moved":
      s.target.baseMoved = true;
      break;
    case "repair.planned":
      if (s.repair.pending.size === 0) s.repair.tried.clear(); // A new round.
      for (const task of event.into) {
        addTask(s, task);
        s.repair.pending.add(task.id);
        for (const name of task.spec.repairs ?? []) {
          s.repair.tried.add(name);
          s.repair.known.add(name);
        }
      }
      s.repair.round = event.round;
      s.repair.class = event.class;
      s.repair.failures = event.failures;
      break;
    case "repair.given-up":
      s.repair.givenUp = true;
      break;
    case "budget.exhausted":
      s.spent.exhausted = true;
      break;
    default:
      return unreachable(event);
  }
  noteTheEnd(s, wasOver, event.at);
  return state;
}

const isAtEnd = (s: Draft): boolean => s.request !== undefined && isOver(s);

/** What was seen before the last task ended is old: once more it is looked where the target is. */
function noteTheEnd(s: Draft, wasOver: boolean, at: number): void {
  if (wasOver || s.cancelling !== undefined || !isAtEnd(s)) return;
  if (at > s.target.checkedAt && s.tips.size > 1) s.target.unsure = true;
}

function jobStarted(s: Draft, { job, until, at }: EventOf<"job.started">): void {
  const id = jobId(job);
  s.running.set(id, { job, until });
  s.deadlines.set(id, until);
  s.count[job.kind] += 1;
  if (s.late.size > 0) s.late.delete(slotOf(job));
  if (job.kind === "check") {
    s.turns.check = job.turn;
  } else if (job.kind === "land") {
    s.turns.land = job.turn;
    for (const { task } of job.members) if (s.dag.status(task) === "ready") s.dag.take(task);
  } else {
    const task = taskIn(s, job.task);
    task.startedAt = at;
    s.dag.take(job.task);
    if (job.kind === "plan") {
      task.tries.turns = job.turn;
      const planner = plannerIn(s, job.task);
      planner.told = { news: planner.news.length, steers: job.task === ROOT ? s.steers.length : 0 };
    } else task.tries.attempts = job.attempt;
    holdFiles(s, task, job.kind === "work");
  }
}

function holdFiles(s: Draft, task: TaskDraft, atWork: boolean): void {
  const parent = parentId(task.id);
  if (task.spec.delivers === "report") return;
  if (parent !== undefined) plannerIn(s, parent).held.hold(task.id, task.spec.scope, task.order);
  if (atWork) s.atWork.hold(task.id, task.spec.scope, task.order);
}

function jobEnded(s: Draft, event: EventOf<"job.ended">): void {
  const running = s.running.get(event.job);
  if (event.how === "answered-late" || event.how === "dropped") s.unanswered.delete(event.job);
  else if (event.how !== "answered") s.unanswered.add(event.job);
  if (running) {
    s.running.delete(event.job);
    s.deadlines.delete(event.job);
    const { job } = running;
    s.count[job.kind] -= 1;
    if (job.kind === "land" && event.how !== "answered") s.target.unsure = true;
    if (job.kind === "work") {
      s.atWork.drop(job.task);
      wake(s, job.task, "idle");
    }
    if (event.how === "expired" && (job.kind === "plan" || job.kind === "work")) s.late.set(slotOf(job), job);
  } else if (event.how === "answered-late") {
    takeBack(s, event.job);
  } else if (event.how === "dropped") {
    forgetLate(s, event.job);
  }
  if (!event.spent) return;
  s.spent.tokens += event.spent.tokens;
  if (event.spent.microdollars === undefined) s.spent.unpriced += 1;
  else s.spent.microdollars += event.spent.microdollars;
}

/** A job that had been given up answered after all: its task is no longer waiting to be tried again. */
function takeBack(s: Draft, id: JobId): void {
  const job = forgetLate(s, id);
  if (!job || job.kind === "land" || job.kind === "check") return;
  s.deadlines.delete(retryKey(job.task));
  s.parked.delete(job.task);
  withdraw(s, job.task);
  if (s.dag.status(job.task) === "ready") s.dag.take(job.task);
}

function forgetLate(s: Draft, id: JobId): Job | undefined {
  const slot = slotOfId(id);
  const job = s.late.get(slot);
  if (!job || jobId(job) !== id) return undefined;
  s.late.delete(slot);
  return job;
}

function taskRetried(s: Draft, event: EventOf<"task.retried">): void {
  const task = taskIn(s, event.task);
  const { attempt, failure, handoff, charge } = event;
  task.state = { is: "open" };
  noteGuilt(s, failure);
  if (charge !== "nothing") task.tries[charge] += 1;
  if (charge === "failed" || charge === "refused") {
    task.tries.lost = 0; // Somebody answered: what was lost before is no longer in a row.
    task.tries.unreachable = 0;
  }
  // What an attempt had made is not pushed out by those that were lost: of these only the last is kept.
  const earlier = isLoss(failure) ? task.past.filter((past) => !isLoss(past.failure)) : task.past;
  const past = handoff ? { attempt, failure, handoff } : { attempt, failure };
  task.past = [...earlier.slice(-(MAX_PAST - 1)), past];
  retryWhen(s, task, event.retryAt, event.at);
}

/** Kept in memory for each task; the policy says how many of them a brief shows. */
const MAX_PAST = 5;

function heldBack(s: Draft, { task: id, behind, until }: EventOf<"task.held-back">): void {
  const task = taskIn(s, id);
  s.dag.take(id);
  s.parked.set(id, behind);
  const waiters = s.waiting.get(behind);
  if (waiters) waiters.push({ task: id, until });
  else s.waiting.set(behind, [{ task: id, until }]);
  const parent = parentId(id);
  const isNew = task.tries.attempts === 0 && task.tries.turns === 0;
  if (isNew && parent !== undefined) plannerIn(s, parent).held.claim(id, task.spec.scope, task.order);
  if (until === "idle") s.atWork.claim(id, task.spec.scope, task.order);
  else withdraw(s, id);
}

/** It will not go to work soon: nobody has to wait for that. */
function withdraw(s: Draft, id: TaskId): void {
  s.atWork.drop(id);
  wake(s, id, "idle");
}

function batchLanded(s: Draft, event: EventOf<"batch.landed">): void {
  if (event.proof !== "found") s.target.unsure = false; // It was built on the target as it is.
  moveTip(s, event.commit);
  foundAgain(s, event.commit);
  noteFlaky(s, event.flaky);
  if (event.proof === "green") s.odds = withSeen(s.odds, { good: event.members.length, bad: 0 });
  for (const member of event.members) landed(s, member, event.commit);
}

/** A candidate that was red because of it, and of nobody else. */
function noteGuilt(s: Draft, { kind }: Failure): void {
  if (kind === "gate-red") s.odds = withSeen(s.odds, { good: 0, bad: 1 });
}

/** Its tasks stay as they are; whether they are done again, or not needed, is for the root's planner to say. */
function landingLost(s: Draft, { commit, members }: EventOf<"landing.lost">): void {
  const ids = members.map(({ task }) => task);
  s.lost.set(commit, ids);
  const planner = s.planners.get(ROOT);
  for (const id of ids) if (planner) raise(s, planner, id, "undone", takenBack(taskIn(s, id), commit));
}

function foundAgain(s: Draft, commit: string): void {
  const concerns = s.planners.get(ROOT)?.concerns;
  for (const id of s.lost.get(commit) ?? []) {
    const text = takenBack(taskIn(s, id), commit);
    for (const concern of concerns?.values() ?? []) if (concern.text === text) concerns!.delete(concern.id);
  }
  s.lost.delete(commit);
}

function moveTip(s: Draft, tip: string): void {
  s.target.tip = tip;
  s.tips.add(tip);
}

function landed(s: Draft, { task: id }: Member, commit: string): void {
  const task = taskIn(s, id);
  if (isSettled(task)) return; // Cancelled in the meantime; it is in the tree all the same.
  const handoff =
    task.state.is === "landing"
      ? task.state.handoff
      : {
          ...createFailureHandoff(task, ""),
          status: "complete" as const,
          summary: "landed by an earlier attempt",
          concerns: [],
        };
  settle(s, id, { is: "done", handoff, commit });
}

/** So many that come and go at once are an outage, of which the tests themselves know nothing. */
const MAX_FLAKY_AT_ONCE = 20;

function noteFlaky(s: Draft, names: readonly string[]): void {
  if (names.length > MAX_FLAKY_AT_ONCE) return;
  for (const name of names) s.flaky.set(name, (s.flaky.get(name) ?? 0) + 1);
}

function targetChecked(s: Draft, { tip, report, at }: EventOf<"target.checked">): void {
  const { target } = s;
  const green = isGreen(report);
  const reds = green ? 0 : redsAfter(s, tip);
  const gone = flakyOf(target, tip, report);
  const byChance = target.redsInARow > 0 && target.checkedTip === tip;
  target.health = healthAfter(s, tip, report);
  target.redsInARow = reds;
  target.greensInARow = green ? target.greensInARow + 1 : 0;
  target.checkedTip = tip;
  target.checkedAt = at;
  target.checkErrors = 0;
  target.baseMoved = false;
  target.unsure = false;
  target.report = report;
  noteFlaky(s, gone);
  if (!green) return;
  s.repair.givenUp = false;
  if (byChance) return; // Nobody has mended anything: the rounds of repair go on being counted.
  s.repair.tried.clear();
  s.repair.known.clear();
  Object.assign(s.repair, { class: undefined, round: 0, failures: 0 });
}

const landingOf = ({ phase, errors, retryAt, detail }: EventOf<"landing.turned">): Landing =>
  detail === undefined ? { phase, errors, retryAt } : { phase, errors, retryAt, detail };
