/** What changes when a task is handed in, retried, held back or settled, or its landing waits for a person? */

import { isLoss } from "../failure.ts";
import { filesOf, isLoose } from "../rules/held-files.ts";
import { parentId } from "../task.ts";
import { type Evolvers, release, taskIn } from "./draft.ts";
import { plannerIn } from "./evolve-plan.ts";
import { noteGuilt } from "./evolve-target.ts";
import { letGo, noteSetupError, noteSetupWorks, retryWhen, settle, standAside, withdraw } from "./settle.ts";
import { retryKey } from "./state.ts";

export const taskEvents = {
  "task.handed-off"(s, { task: id, attempt, handoff }) {
    const task = taskIn(s, id);
    task.state = { is: "landing", attempt, handoff };
    Object.assign(task.tries, { failed: 0, lost: 0, unreachable: 0 });
    task.goOn = undefined;
    noteSetupWorks(s);
    release(s, task);
  },
  "task.retried"(s, { task: id, attempt, failure, handoff, charge, retryAt, at }) {
    const task = taskIn(s, id);
    task.state = { is: "open" };
    noteGuilt(s, failure);
    noteSetupError(s, failure);
    if (charge !== "nothing") task.tries[charge] += 1;
    if (charge === "refused") s.owed.add(id);
    if (charge === "failed" || charge === "refused") {
      task.goOn = undefined; // The next attempt starts again, from the target as it is then.
      Object.assign(task.tries, { lost: 0, unreachable: 0 }); // The agent answered: the row of losses is over.
    }
    // Of lost attempts only the last is kept, so that they do not push out what other attempts had made.
    const earlier = isLoss(failure) ? task.past.filter((past) => !isLoss(past.failure)) : task.past;
    task.past = [...earlier.slice(-(MAX_PAST - 1)), { attempt, failure, ...(handoff && { handoff }) }];
    if (isLoose(task)) letGo(s, id);
    if (s.spent.exhausted) standAside(s, task);
    retryWhen(s, task, retryAt, at);
  },
  "task.woken"(s, { task }) {
    s.deadlines.delete(retryKey(task));
    release(s, taskIn(s, task));
  },
  "task.held-back"(s, { task: id, behind, until }) {
    const task = taskIn(s, id);
    s.dag.take(id);
    s.heldBack.set(id, behind);
    const waiters = s.waiting.get(behind);
    if (waiters) waiters.push({ task: id, until });
    else s.waiting.set(behind, [{ task: id, until }]);
    const parent = parentId(id);
    const isNew = task.tries.attempts === 0 && task.tries.turns === 0;
    if ((isNew || isLoose(task)) && parent !== undefined)
      plannerIn(s, parent).held.claim(id, filesOf(task), task.order);
    if (until === "idle") s.atWork.claim(id, filesOf(task), task.order);
    else withdraw(s, id);
  },
  "task.done"(s, { task, handoff }) {
    settle(s, task, { is: "done", handoff });
  },
  "task.failed"(s, { task, failure, handoff }) {
    noteGuilt(s, failure);
    settle(s, task, { is: "failed", failure, ...(handoff && { handoff }) });
  },
  "task.skipped"(s, { task, because }) {
    settle(s, task, { is: "skipped", because });
  },
  "task.cancel-requested"(s, { task }) {
    taskIn(s, task).cancelling = true;
  },
  "task.cancelled"(s, { task, reason }) {
    settle(s, task, { is: "cancelled", reason });
  },
  "landing.proposed"(s, { task, flags }) {
    s.unapproved.set(task, flags);
    s.dag.take(task); // Out of the queue until it is approved.
  },
  "landing.approved"(s, { task }) {
    s.unapproved.delete(task);
    release(s, taskIn(s, task));
  },
  "landing.declined"(s, { task }) {
    s.unapproved.delete(task);
  },
} satisfies Partial<Evolvers>;

/** Kept in memory for each task; the policy says how many of them a brief shows. */
const MAX_PAST = 5;
