/** Turns a state into plain data, so that two states can be compared. */
import type { RunState } from "../../src/core/log/state.ts";

export function digest(state: RunState): unknown {
  return {
    ...state,
    tasks: [...state.tasks.values()],
    dag: [...state.tasks.keys()].map((id) => state.dag.status(id)),
    ready: [0, 1, 2].map((lane) => [...state.dag.ready(lane)]),
    planners: [...state.planners].map(([id, planner]) => ({
      ...planner,
      id,
      keys: [...planner.keys],
      active: [...planner.active],
      concerns: [...planner.concerns],
      held: planner.held.size,
    })),
    running: [...state.running],
    late: [...state.late],
    unanswered: [...state.unanswered],
    deadlines: state.deadlines.due(Number.POSITIVE_INFINITY).map((key) => [key, state.deadlines.get(key)]),
    atWork: state.atWork.size,
    waiting: [...state.waiting],
    tips: [...state.tips],
    lost: [...state.lost],
    heldBack: [...state.heldBack],
    repair: { ...state.repair, pending: [...state.repair.pending] },
    flaky: [...state.flaky],
    subtrees: [...state.subtrees],
    owed: [...state.owed],
    unapproved: [...state.unapproved],
    questions: [...state.questions],
    accounts: [...state.accounts],
    machines: [...state.machines],
    toSettle: [...state.toSettle],
  };
}
