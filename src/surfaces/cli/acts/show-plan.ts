/** What does a plan that waits for approval ask of each task? Its files, its order, and what it is accepted by. */
import { EVERYTHING } from "../../../core/scope.ts";
import { isProposed, nameOf, type RunState, taskOf } from "../../../core/state.ts";
import type { TaskId } from "../../../core/task.ts";
import { harmless, harmlessLines } from "../words.ts";

/** The tasks that nobody works on before a person has said yes. */
export const proposedIn = (state: RunState): ReadonlySet<TaskId> =>
  new Set(isProposed(state) ? state.proposed : []);

/** `scope`: where nothing says which files, any. */
export type TaskTerms = {
  readonly scope: readonly string[];
  readonly after: readonly string[];
  readonly acceptance: string;
};

export function termsOf(state: RunState, id: TaskId): TaskTerms {
  const { scope, after, acceptance, terms } = taskOf(state, id).spec;
  return {
    scope: terms?.loose ? [] : scope,
    after: after.map((other) => nameOf(state, other)),
    acceptance,
  };
}

/** What was said of it; a page of acceptance is in `skein show <run> <task>`. */
export function termLines(state: RunState, id: TaskId): readonly string[] {
  const { scope, after, acceptance } = termsOf(state, id);
  const [first = "", ...more] = harmlessLines(acceptance.trim(), MAX_LINES);
  return [
    ...(after.length > 0 ? [`after: ${harmless(after.join(", "))}`] : []),
    `may touch: ${scope.length === 0 || scope.includes(EVERYTHING) ? "any file" : harmless(scope.join(", "))}`,
    ...(first === "" ? [] : [`accepted if: ${first}`, ...more.map((line) => `  ${line}`)]),
  ];
}

const MAX_LINES = 10;
