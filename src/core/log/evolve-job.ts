/** Changes the state when a job starts, is taken, is extended or ends, and when a machine of the fleet changes. */

import { type Job, type JobId, jobId, type Spent, slotOf, slotOfId, taskOfJob } from "../job.ts";
import { filesOf } from "../rules/held-files.ts";
import { parentId, ROOT, topId } from "../task.ts";
import { NOTHING_USED, withSpent } from "../used.ts";
import { type Evolvers, type StateDraft, type TaskDraft, taskIn } from "./draft.ts";
import { plannerIn } from "./evolve-plan.ts";
import { withdraw } from "./settle.ts";
import { retryKey } from "./state.ts";

export const jobEvents = {
  "job.started"(s, { job, until, isOffered, at }) {
    const id = jobId(job);
    s.running.set(id, { job, since: at, until, ...(isOffered && { isOffered }) });
    s.deadlines.set(id, until);
    s.count[job.kind] += 1;
    if (s.late.size > 0) s.late.delete(slotOf(job));
    if (job.kind === "check") {
      s.turns.check = job.turn;
      if (!job.probe) s.target.checkBegunAt = at;
    } else if (job.kind === "land") {
      s.turns.land = job.turn;
      for (const { task } of job.members) if (s.dag.status(task) === "ready") s.dag.take(task);
      const { turn, members, on } = job;
      if (on) s.train = [...s.train, { turn, members, since: at, on }];
    } else {
      agentStarted(s, job, at);
    }
  },
  "job.ended"(s, { job: id, how, spent, at }) {
    const running = s.running.get(id);
    if (how === "answered-late" || how === "dropped") s.unanswered.delete(id);
    else if (how !== "answered" && !spent) s.unanswered.add(id); // Its cost is still unknown.
    if (running) jobStopped(s, running.job, how);
    else if (how === "answered-late") takeBack(s, id);
    else if (how === "dropped") forgetLate(s, id);
    if (spent) charge(s, id, spent);
    // A first check that a restart interrupted is made again, with its whole waiting time again.
    if (how === "interrupted" && s.target.checkedTip === undefined) s.setup.since = at;
  },
  "job.extended"(s, { job, until, parkedUntil }) {
    const running = s.running.get(job);
    if (!running) return;
    s.running.set(job, { ...running, until, parkedUntil });
    s.deadlines.set(job, until);
  },
  "job.taken"(s, { job, machine, tries, since, until }) {
    const running = s.running.get(job);
    if (!running) return;
    s.running.set(job, { ...running, until, taken: { machine, tries, since } });
    s.deadlines.set(job, until);
  },
  "job.returned"(s, { job, until }) {
    const running = s.running.get(job);
    if (!running) return;
    const { taken: _, ...rest } = running;
    s.running.set(job, { ...rest, until });
    s.deadlines.set(job, until);
  },
  "machine.changed"(s, { machine, state, capacity, labels }) {
    if (state === "gone") s.machines.delete(machine);
    else s.machines.set(machine, { state, capacity, labels });
  },
  "machine.cut-off"() {}, // For people to read.
  "job.quiet"(s, { job, ms, doing }) {
    const running = s.running.get(job);
    if (!running) return;
    const { quietMs: _, doing: __, ...rest } = running;
    s.running.set(job, ms > 0 ? { ...rest, quietMs: ms, ...(doing && { doing }) } : rest);
  },
  /** The slow step of preparing is over. */
  "job.prepared"(s, { job }) {
    const running = s.running.get(job);
    if (!running) return;
    const { quietMs: _, doing: __, ...rest } = running;
    s.running.set(job, rest);
  },
} satisfies Partial<Evolvers>;

function agentStarted(s: StateDraft, job: Job & { readonly kind: "plan" | "work" }, at: number): void {
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

function holdFiles(s: StateDraft, task: TaskDraft, atWork: boolean): void {
  const parent = parentId(task.id);
  const files = filesOf(task);
  if (files.length === 0 || task.state.is === "waiting") return; // A task that only answers a question changes no file.
  if (parent !== undefined) plannerIn(s, parent).held.hold(task.id, files, task.order);
  if (atWork) s.atWork.hold(task.id, files, task.order);
}

function jobStopped(s: StateDraft, job: Job, how: string): void {
  s.running.delete(jobId(job));
  s.deadlines.delete(jobId(job));
  s.count[job.kind] -= 1;
  if (job.kind === "land" && !job.on && how !== "answered") s.target.unsure = true;
  if (job.kind === "work") withdraw(s, job.task);
  if (how === "expired" && (job.kind === "plan" || job.kind === "work")) s.late.set(slotOf(job), job);
}

/** Charges the cost to the run and to the job's task; landings and checks are charged to the goal. */
function charge(s: StateDraft, id: JobId, spent: Spent): void {
  Object.assign(s.spent, withSpent(s.spent, spent));
  const task = taskIn(s, taskOfJob(id) ?? ROOT);
  task.used = withSpent(task.used, spent);
  const top = topId(task.id);
  if (top !== undefined) s.subtrees.set(top, withSpent(s.subtrees.get(top) ?? NOTHING_USED, spent));
}

/** An expired job has answered after all, so its task no longer waits for a retry. */
function takeBack(s: StateDraft, id: JobId): void {
  const job = forgetLate(s, id);
  if (!job || job.kind === "land" || job.kind === "check") return;
  s.deadlines.delete(retryKey(job.task));
  s.heldBack.delete(job.task);
  withdraw(s, job.task);
  if (s.dag.status(job.task) === "ready") s.dag.take(job.task);
}

function forgetLate(s: StateDraft, id: JobId): Job | undefined {
  const slot = slotOfId(id);
  const job = s.late.get(slot);
  if (!job || jobId(job) !== id) return undefined;
  s.late.delete(slot);
  return job;
}
