/** What does a fact change? The only place that changes a run's state. */

import type { Draft, TaskDraft } from "./draft.ts";
import type { Event, EventOf } from "./event.ts";
import { accountParked, accountRefused, accountWoken, accountWorked } from "./evolve-account.ts";
import { jobEnded, jobExtended, jobQuiet, jobStarted } from "./evolve-job.ts";
import {
  addTask,
  planAccepted,
  planDeclined,
  planEnded,
  plannerIn,
  planRejected,
  steer,
} from "./evolve-plan.ts";
import { gateProbed, gateUnprobed, noteSetup, setupFailed, setupRetried } from "./evolve-setup.ts";
import {
  questionAnswered,
  questionAsked,
  questionPassed,
  subtaskRefused,
  subtaskSpawned,
} from "./evolve-subtask.ts";
import { batchLanded, landingLost, landingOf, moveTip, noteGuilt, targetChecked } from "./evolve-target.ts";
import { isLoss } from "./failure.ts";
import { isOver } from "./finish.ts";
import { filesOf, isLoose } from "./held-files.ts";
import { release, taskIn } from "./release.ts";
import { letGo, retryWhen, settle, standAside, withdraw } from "./settle.ts";
import { emptyState, type RunState, retryKey, runningJobOf } from "./state.ts";
import { parentId, ROOT } from "./task.ts";
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
      s.setup.since = event.at;
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
    case "checkout.changed":
      break; // For people to read; it changes nothing.
    case "job.started":
      jobStarted(s, event);
      break;
    case "job.ended":
      jobEnded(s, event);
      break;
    case "job.extended":
      jobExtended(s, event);
      break;
    case "job.quiet":
      jobQuiet(s, event);
      break;
    case "clock.jumped":
      s.wereAheadMs = [...new Set([s.aheadMs, ...s.wereAheadMs])].slice(0, MAX_SETTINGS);
      s.aheadMs += event.ms;
      break;
    case "account.parked":
      accountParked(s, event);
      break;
    case "account.refused":
      accountRefused(s, event);
      break;
    case "account.woken":
      accountWoken(s, event);
      break;
    case "account.worked":
      accountWorked(s, event);
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
      task.goOn = undefined;
      release(s, task);
      break;
    }
    case "task.retried":
      taskRetried(s, event);
      break;
    case "subtask.spawned":
      subtaskSpawned(s, event);
      break;
    case "subtask.refused":
      subtaskRefused(s, event);
      break;
    case "question.asked":
      questionAsked(s, event);
      break;
    case "question.passed":
      questionPassed(s, event);
      break;
    case "question.answered":
      questionAnswered(s, event);
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
    case "landing.proposed":
      s.asked.set(event.task, event.flags);
      s.dag.take(event.task); // Out of the queue, until it is approved of.
      break;
    case "landing.approved":
      s.asked.delete(event.task);
      release(s, taskIn(s, event.task));
      break;
    case "landing.declined":
      s.asked.delete(event.task);
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
    case "setup.failed":
      setupFailed(s, event);
      break;
    case "setup.retried":
      setupRetried(s, event);
      break;
    case "gate.probed":
      gateProbed(s, event);
      break;
    case "gate.unprobed":
      gateUnprobed(s, event);
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
      if (event.all) s.spent.landingSpent = true;
      for (const task of s.tasks.values()) if (!isUnderWay(s, task)) standAside(s, task);
      break;
    default:
      return unreachable(event);
  }
  noteSetup(s, event);
  noteTheEnd(s, wasOver, event.at);
  return state;
}

/** Of a machine's clock: one that is set all the time is never put right. */
const MAX_SETTINGS = 10;

const isAtEnd = (s: Draft): boolean => s.request !== undefined && isOver(s);

/** What was seen before the last task ended is old: once more it is looked where the target is. */
function noteTheEnd(s: Draft, wasOver: boolean, at: number): void {
  if (wasOver || s.cancelling !== undefined || !isAtEnd(s)) return;
  if (at > s.target.checkedAt && s.tips.size > 1) s.target.unsure = true;
}

function taskRetried(s: Draft, event: EventOf<"task.retried">): void {
  const task = taskIn(s, event.task);
  const { attempt, failure, handoff, charge } = event;
  task.state = { is: "open" };
  noteGuilt(s, failure);
  if (charge !== "nothing") task.tries[charge] += 1;
  if (charge === "refused") s.owed.add(task.id);
  if (charge === "failed" || charge === "refused") {
    task.goOn = undefined; // It is made anew, from the target as it is then.
    task.tries.lost = 0; // Somebody answered: what was lost before is no longer in a row.
    task.tries.unreachable = 0;
  }
  // What an attempt had made is not pushed out by those that were lost: of these only the last is kept.
  const earlier = isLoss(failure) ? task.past.filter((past) => !isLoss(past.failure)) : task.past;
  const past = handoff ? { attempt, failure, handoff } : { attempt, failure };
  task.past = [...earlier.slice(-(MAX_PAST - 1)), past];
  if (isLoose(task)) letGo(s, task.id);
  if (s.spent.exhausted) standAside(s, task);
  retryWhen(s, task, event.retryAt, event.at);
}

/** Kept in memory for each task; the policy says how many of them a brief shows. */
const MAX_PAST = 5;

const isUnderWay = (s: Draft, task: TaskDraft): boolean =>
  task.state.is === "landing" || runningJobOf(s, task) !== undefined;

function heldBack(s: Draft, { task: id, behind, until }: EventOf<"task.held-back">): void {
  const task = taskIn(s, id);
  s.dag.take(id);
  s.parked.set(id, behind);
  const waiters = s.waiting.get(behind);
  if (waiters) waiters.push({ task: id, until });
  else s.waiting.set(behind, [{ task: id, until }]);
  const parent = parentId(id);
  const isNew = task.tries.attempts === 0 && task.tries.turns === 0;
  if ((isNew || isLoose(task)) && parent !== undefined)
    plannerIn(s, parent).held.claim(id, filesOf(task), task.order);
  if (until === "idle") s.atWork.claim(id, filesOf(task), task.order);
  else withdraw(s, id);
}
