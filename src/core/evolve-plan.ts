/** What changes when a planner has answered, or a person has told it something? */
import type { Draft, PlannerDraft, TaskDraft } from "./draft.ts";
import type { Addressed, EventOf, NewTask, PlanSaid } from "./event.ts";
import { NO_REASON } from "./given-up.ts";
import { release, taskIn } from "./release.ts";
import { ScopeTable } from "./scope-table.ts";
import { retryWhen, wantsTurn } from "./settle.ts";
import { LANE, orderOf } from "./state.ts";
import { parentId, ROOT, type TaskId, type TaskState } from "./task.ts";
import { NOTHING_USED } from "./used.ts";

export function planAccepted(s: Draft, event: EventOf<"plan.accepted">): void {
  const task = taskIn(s, event.task);
  for (const child of event.into) addTask(s, child);
  const planner = plannerIn(s, event.task);
  task.state = { is: "delegated" };
  task.tries.planErrors = 0;
  task.tries.unreachable = 0;
  task.tries.answers += 1;
  planner.replanAfter = event.replanAfter;
  planner.notes = event.notes;
  takeIn(s, task, event.said);
  if (wantsTurn(s, event.task, planner)) release(s, task);
  else planner.idle = true;
}

/** Its names are free again: the next plan may well use them for the same tasks, made better. */
export function planDeclined(s: Draft): void {
  const keys = s.planners.get(ROOT)?.keys;
  const declined = new Set(s.proposed);
  for (const [key, id] of keys ?? []) if (declined.has(id)) keys!.delete(key);
  s.proposed = [];
  taskIn(s, ROOT).tries.answers -= 1; // As if it had not been given: the next one may be the first again.
}

/** The planner was told of its news and of steering messages, and has answered. */
function takeIn(s: Draft, task: TaskDraft, said: PlanSaid): void {
  task.scratchpad = said.scratchpad;
  task.rejected = [];
  if (task.id === ROOT) s.steers.splice(0, said.steers);
  const planner = s.planners.get(task.id);
  if (!planner) return;
  planner.news.splice(0, said.heard);
  for (const addressed of said.addressed) deal(planner, addressed);
  if (said.deferred) planner.deferred = [...planner.deferred, ...said.deferred];
}

/** What was only said is gone once it is dealt with; what was not done is kept, with what became of it. */
function deal(planner: PlannerDraft, { concern: id, by, because }: Addressed): void {
  const concern = planner.concerns.get(id);
  if (!concern) return;
  planner.concerns.delete(id);
  if (concern.kind !== "undone") return;
  // In older logs an id was enough.
  const reason = because ?? (by === undefined ? NO_REASON : undefined);
  planner.dealt.push({ concern, ...(by && { by }), ...(reason !== undefined && { because: reason }) });
}

export function planRejected(s: Draft, event: EventOf<"plan.rejected">): void {
  const task = taskIn(s, event.task);
  task.rejected = event.reasons;
  if (event.charge === "error") task.tries.planErrors += 1;
  if (event.charge === "unreachable") task.tries.unreachable += 1;
  const concerns = s.planners.get(event.task)?.concerns;
  for (const id of event.sentBack ?? []) {
    const concern = concerns?.get(id);
    if (concern) concerns!.set(id, { ...concern, isSentBack: true });
  }
  retryWhen(s, task, event.retryAt, event.at);
}

export function planEnded(s: Draft, event: EventOf<"plan.ended">): void {
  const task = taskIn(s, event.task);
  const planner = plannerIn(s, event.task);
  task.state = { is: "delegated", over: event.over };
  if (event.said) takeIn(s, task, event.said);
  planner.idle = false;
  if (s.dag.status(task.id) === "ready") s.dag.take(task.id);
  if (planner.active.size === 0 && task.id !== ROOT) s.toSettle.add(task.id);
}

export function steer(s: Draft, message: string): void {
  s.steers.push(message);
  const root = taskIn(s, ROOT);
  const planner = s.planners.get(ROOT);
  if (root.state.is !== "delegated" || !planner) return;
  const ended = root.state.over !== undefined;
  root.state = { is: "delegated" };
  if (!planner.idle && !ended) return; // Asked already, or about to be: it will hear it then or the turn after.
  planner.idle = false;
  release(s, root);
}

/** Shared by all tasks, most of which never have more. */
const NOTHING: readonly never[] = Object.freeze([]);
const JUST_OPEN: TaskState = Object.freeze({ is: "open" });

export function addTask(s: Draft, { id, spec, rank }: NewTask): void {
  s.tasks.set(id, {
    id,
    spec,
    order: orderOf(rank, s.tasks.size),
    state: JUST_OPEN,
    tries: {
      attempts: 0,
      failed: 0,
      refused: 0,
      lost: 0,
      unreachable: 0,
      turns: 0,
      planErrors: 0,
      answers: 0,
    },
    past: NOTHING,
    scratchpad: "",
    rejected: NOTHING,
    cancelling: false,
    base: "",
    startedAt: 0,
    used: NOTHING_USED,
  });
  s.dag.add(id, { after: spec.after, priority: rank, lane: spec.shape === "plan" ? LANE.plan : LANE.work });
  const parent = parentId(id);
  if (parent === undefined) return;
  s.unsettled += 1;
  const planner = plannerIn(s, parent);
  planner.children += 1;
  planner.active.add(id);
  planner.keys.set(spec.key, id);
}

export function plannerIn(s: Draft, id: TaskId): PlannerDraft {
  let planner = s.planners.get(id);
  if (!planner) {
    planner = {
      children: 0,
      active: new Set(),
      keys: new Map(),
      news: [],
      concerns: new Map(),
      dealt: [],
      told: { news: 0, steers: 0 },
      replanAfter: Number.MAX_SAFE_INTEGER, // Until its first answer says otherwise: fix tasks may come before it.
      idle: false,
      held: new ScopeTable(),
      notes: [],
      deferred: [],
    };
    s.planners.set(id, planner);
  }
  return planner;
}
