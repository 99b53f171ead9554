/** The tasks of a plan that waits for approval, with the files and the acceptance that a person approves. */
import { isProposed, type RunState, taskOf } from "../log/state.ts";
import { isSettled } from "../task.ts";
import { scopeLabel } from "./task-facts.ts";
import { type Named, named } from "./view-reasons.ts";

type ProposedTask = Named & {
  readonly description: string;
  readonly files: string;
  readonly acceptance: string;
  /** By name. */
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
