/** Changes the state when a planner has answered, or when a person has steered it, approved or declined its plan. */

import { NO_REASON } from "../rules/given-up.ts";
import { parentId, ROOT, type TaskId, type TaskState } from "../task.ts";
import { NOTHING_USED } from "../used.ts";
import {
  type Evolvers,
  type PlannerDraft,
  release,
  type StateDraft,
  type TaskDraft,
  taskIn,
} from "./draft.ts";
import type { Addressed, NewTask, PlanSaid } from "./event.ts";
import { ScopeTable } from "./scope-table.ts";
import { noteSetupError, retryWhen, wantsTurn } from "./settle.ts";
import { LANE, orderOf } from "./state.ts";

export const planEvents = {
  "run.steered"(s, { message }) {
    s.steers = [...s.steers, message];
    const root = taskIn(s, ROOT);
    const planner = s.planners.get(ROOT);
    if (root.state.is !== "delegated" || !planner) return;
    const ended = root.state.over !== undefined;
    root.state = { is: "delegated" };
    if (!planner.idle && !ended) return; // Its current turn, or the next one, is told the message.
    planner.idle = false;
    release(s, root);
  },
  "plan.accepted"(s, { task: id, into, replanAfter, notes, said }) {
    const task = taskIn(s, id);
    for (const child of into) addTask(s, child);
    const planner = plannerIn(s, id);
    task.state = { is: "delegated" };
    task.tries.planErrors = 0;
    task.tries.unreachable = 0;
    task.tries.answers += 1;
    planner.replanAfter = replanAfter;
    planner.notes = notes;
    takeIn(s, task, said);
    if (wantsTurn(s, id, planner)) release(s, task);
    else planner.idle = true;
  },
  "plan.proposed"(s, { tasks }) {
    s.proposed = tasks;
  },
  "plan.approved"(s) {
    s.proposed = [];
    s.approved = true;
  },
  /**
   * The names of the declined tasks are free again: the next plan may use them for improved versions of the same tasks.
   */
  "plan.declined"(s) {
    const keys = s.planners.get(ROOT)?.keys;
    const declined = new Set(s.proposed);
    for (const [key, id] of keys ?? []) if (declined.has(id)) keys!.delete(key);
    s.proposed = [];
    taskIn(s, ROOT).tries.answers -= 1; // A declined answer does not count: the next one may be the first again.
  },
  "plan.rejected"(s, { task: id, failure, reasons, charge, sentBack = [], retryAt, at }) {
    const task = taskIn(s, id);
    task.rejected = reasons;
    noteSetupError(s, failure);
    if (charge === "error") task.tries.planErrors += 1;
    if (charge === "unreachable") task.tries.unreachable += 1;
    const concerns = s.planners.get(id)?.concerns;
    for (const sent of sentBack) {
      const concern = concerns?.get(sent);
      if (concern) concerns!.set(sent, { ...concern, isSentBack: true });
    }
    retryWhen(s, task, retryAt, at);
  },
  "plan.kept-whole"(s, { task: id }) {
    const task = taskIn(s, id);
    task.state = { is: "open" };
    task.spec = { ...task.spec, shape: "work" };
    task.tries.planErrors = 0;
    release(s, task);
  },
  "plan.ended"(s, { task: id, over, said }) {
    const task = taskIn(s, id);
    const planner = plannerIn(s, id);
    task.state = { is: "delegated", over };
    if (said) takeIn(s, task, said);
    planner.idle = false;
    if (s.dag.status(id) === "ready") s.dag.take(id);
    if (planner.active.size === 0 && id !== ROOT) s.toSettle.add(id);
  },
} satisfies Partial<Evolvers>;

/** Removes the news and the steering messages that this answer took into account. */
function takeIn(s: StateDraft, task: TaskDraft, said: PlanSaid): void {
  task.scratchpad = said.scratchpad;
  task.rejected = [];
  if (task.id === ROOT) s.steers = s.steers.slice(said.steers);
  const planner = s.planners.get(task.id);
  if (!planner) return;
  planner.news.splice(0, said.heard);
  for (const addressed of said.addressed) closeConcern(planner, addressed);
  if (said.deferred) planner.deferred = [...planner.deferred, ...said.deferred];
}

/** A concern about something undone is kept with how it was dealt with; any other concern is removed. */
function closeConcern(planner: PlannerDraft, { concern: id, by, because }: Addressed): void {
  const concern = planner.concerns.get(id);
  if (!concern) return;
  planner.concerns.delete(id);
  if (concern.kind !== "undone") return;
  // In older logs an id alone closed such a concern.
  const reason = because ?? (by === undefined ? NO_REASON : undefined);
  const dealt = { concern, ...(by && { by }), ...(reason !== undefined && { because: reason }) };
  planner.dealt = [...planner.dealt, dealt];
}

/** Shared by all tasks, because most tasks never have another value. */
const NOTHING: readonly never[] = Object.freeze([]);
const JUST_OPEN: TaskState = Object.freeze({ is: "open" });

export function addTask(s: StateDraft, { id, spec, rank }: NewTask): void {
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
  if (spec.delivers === "change") s.onlyAnswers = false;
  const planner = plannerIn(s, parent);
  planner.children += 1;
  planner.active.add(id);
  planner.keys.set(spec.key, id);
}

export function plannerIn(s: StateDraft, id: TaskId): PlannerDraft {
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
      replanAfter: Number.MAX_SAFE_INTEGER, // Until the first answer: fix tasks may come before it.
      idle: false,
      held: new ScopeTable(),
      notes: [],
      deferred: [],
    };
    s.planners.set(id, planner);
  }
  return planner;
}
