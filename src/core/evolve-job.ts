/** What changes when a job starts, goes on, or ends? */
import type { Draft, TaskDraft } from "./draft.ts";
import type { EventOf } from "./event.ts";
import { plannerIn } from "./evolve-plan.ts";
import { filesOf } from "./held-files.ts";
import { type Job, type JobId, jobId, type Spent, slotOf, slotOfId, taskOfJob } from "./job.ts";
import { taskIn } from "./release.ts";
import { wake, withdraw } from "./settle.ts";
import { retryKey } from "./state.ts";
import { parentId, ROOT, topId } from "./task.ts";
import { NOTHING_USED, withSpent } from "./used.ts";

export function jobStarted(s: Draft, { job, until, at }: EventOf<"job.started">): void {
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
    } else {
      task.tries.attempts = job.attempt;
      task.base = task.goOn?.base ?? task.spec.spawn?.base ?? s.target.tip;
    }
    holdFiles(s, task, job.kind === "work");
  }
}

function holdFiles(s: Draft, task: TaskDraft, atWork: boolean): void {
  const parent = parentId(task.id);
  const files = filesOf(task);
  if (files.length === 0 || task.state.is === "waiting") return; // Who only answers a question changes nothing.
  if (parent !== undefined) plannerIn(s, parent).held.hold(task.id, files, task.order);
  if (atWork) s.atWork.hold(task.id, files, task.order);
}

export function jobEnded(s: Draft, event: EventOf<"job.ended">): void {
  const running = s.running.get(event.job);
  if (event.how === "answered-late" || event.how === "dropped") s.unanswered.delete(event.job);
  else if (event.how !== "answered" && !event.spent) s.unanswered.add(event.job); // Else it has said what it cost.
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
  if (event.spent) charge(s, event.job, event.spent);
}

/** Once to the run, and once to the task that it was for; what a landing or a check costs is the goal's. */
function charge(s: Draft, id: JobId, spent: Spent): void {
  Object.assign(s.spent, withSpent(s.spent, spent));
  const task = taskIn(s, taskOfJob(id) ?? ROOT);
  task.used = withSpent(task.used, spent);
  const top = topId(task.id);
  if (top !== undefined) s.subtrees.set(top, withSpent(s.subtrees.get(top) ?? NOTHING_USED, spent));
}

export function jobExtended(s: Draft, { job: id, until, parkedUntil }: EventOf<"job.extended">): void {
  const running = s.running.get(id);
  if (!running) return;
  s.running.set(id, { ...running, until, parkedUntil });
  s.deadlines.set(id, until);
}

export function jobQuiet(s: Draft, { job: id, ms, doing }: EventOf<"job.quiet">): void {
  const running = s.running.get(id);
  if (!running) return;
  const { quietMs: _, doing: __, ...rest } = running;
  s.running.set(id, ms > 0 ? { ...rest, quietMs: ms, ...(doing && { doing }) } : rest);
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
