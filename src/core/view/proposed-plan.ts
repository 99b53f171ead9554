/** Lists the tasks of a plan that waits for approval, with their files and acceptance. */
import { isProposed, type RunState, taskOf } from "../log/state.ts";
import { isSettled } from "../task.ts";
import { scopeLabel } from "./task-facts.ts";
import { type Named, named } from "./view-reasons.ts";

type ProposedTask = Named & {
  readonly description: string;
  readonly files: string;
  readonly acceptance: string;
  /** Names of the tasks that must be done first. */
  readonly after: readonly string[];
};

/** Empty if no plan waits. */
export const proposedPlan = (state: RunState): readonly ProposedTask[] =>
  isProposed(state)
    ? state.proposed
        .map((id) => taskOf(state, id))
        .filter((task) => !isSettled(task))
        .map(({ id, spec }) => ({
          ...named(state, id),
          description: spec.description,
          files: scopeLabel(spec),
          acceptance: spec.acceptance,
          after: spec.after.map((other) => taskOf(state, other).spec.key),
        }))
    : [];
