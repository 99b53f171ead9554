/** Why is something not done, and what was anybody concerned about? Each reason once, with the names that people know. */
import type { Failure } from "./failure.ts";
import { type RunState, taskOf } from "./state.ts";
import type { Story } from "./story.ts";
import { childId, parentId, ROOT, type Task, type TaskId } from "./task.ts";

export type Named = { readonly task: TaskId; readonly name: string };

export type UndoneView = Named & {
  readonly end: "failed" | "skipped" | "cancelled";
  /** Of a task whose parts failed: "because a, b failed". Why they did is said of them. */
  readonly reason: string;
  readonly next?: string;
};

/** `isOpen`: no planner has said that it is dealt with. */
export type ConcernView = Named & { readonly text: string; readonly isOpen: boolean };

/** "parser/lexer": the planners' own names, from the top. */
export function nameOf(state: RunState, id: TaskId): string {
  if (id === ROOT) return "the goal";
  const above = parentId(id)!;
  const { key } = taskOf(state, id).spec;
  return above === ROOT ? key : `${nameOf(state, above)}/${key}`;
}

export const named = (state: RunState, task: TaskId): Named => ({ task, name: nameOf(state, task) });

export function undoneOf(state: RunState, { id, state: end }: Task): readonly UndoneView[] {
  switch (end.is) {
    case "failed": {
      const { next } = end.failure;
      const view = { ...named(state, id), end: end.is, reason: reasonOf(state, id, end.failure) };
      return [next === undefined ? view : { ...view, next }];
    }
    case "skipped":
      return [{ ...named(state, id), end: end.is, reason: `${nameOf(state, end.because)} did not land` }];
    case "cancelled":
      return [{ ...named(state, id), end: end.is, reason: end.reason }];
    default:
      return [];
  }
}

/** "lexer failed: exit code 9", "parser failed, because parser/lexer failed". */
export function undoneText({ name, end, reason }: UndoneView): string {
  const what = `${name} ${end === "failed" ? "failed" : `was ${end}`}`;
  return reason.startsWith("because ") ? `${what}, ${reason}` : `${what}: ${reason}`;
}

/** The events carry what failed below again and again, for planners; people are told of each part by itself. */
export function reasonOf(state: RunState, id: TaskId, why: Failure): string {
  if (why.kind !== "children-failed") return inNames(state, why.message);
  const parts = partsOf(state, id).filter((part) => isUndone(taskOf(state, part)));
  const failed = parts.filter((part) => taskOf(state, part).state.is === "failed");
  const [those, end] = failed.length > 0 ? [failed, "failed"] : [parts, "did not land"];
  if (those.length === 0) return "nothing of it was done";
  const names = those.slice(0, MAX_NAMES).map((part) => nameOf(state, part));
  const more = those.length - names.length;
  return `because ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""} ${end}`;
}

const MAX_NAMES = 5;

const partsOf = ({ planners }: RunState, id: TaskId): readonly TaskId[] =>
  Array.from({ length: planners.get(id)?.children ?? 0 }, (_, i) => childId(id, i + 1));

const isUndone = ({ state: { is } }: Task) => is === "failed" || is === "skipped" || is === "cancelled";

/** Ids, where the core's own sentences have them. */
export function inNames(state: RunState, text: string): string {
  return withNames(text, (id) => (state.tasks.has(id) ? nameOf(state, id) : id));
}

export const withNames = (text: string, named: (id: TaskId) => string): string =>
  text.replace(
    /\b(the planner of|skipped, because) (t(?:\.\d+)*)(?= (?:failed|was not done|did not land))/g,
    (_, before: string, id: string) => `${before} ${named(id as TaskId)}`,
  );

/** What was said when the run closed, without what is told of the tasks that are not done. */
export function leftOf(state: RunState): readonly string[] {
  const root = state.tasks.get(ROOT)?.state;
  const concerns = [...(state.planners.get(ROOT)?.concerns.values() ?? [])];
  const told = new Set([
    ...(root?.is === "failed" ? [root.failure.message, `${root.failure.message}: ${root.failure.next}`] : []),
    ...concerns.filter(({ from }) => isUndoneWithin(state, from)).map(({ text }) => text),
  ]);
  return (state.closed?.left ?? []).filter((text) => !told.has(text)).map((text) => inNames(state, text));
}

const isUndoneWithin = (state: RunState, top: TaskId): boolean =>
  state.tasks.values().some((task) => (task.id === top || task.id.startsWith(`${top}.`)) && isUndone(task));

/** What those who worked have said, those first that no planner has dealt with; a failure is told elsewhere. */
export function concernsOf(state: RunState, story: Story): readonly ConcernView[] {
  const open = new Map<string, ConcernView>();
  const add = (to: Map<string, ConcernView>, from: TaskId, said: string, isOpen: boolean) => {
    const { task, text } = originOf(state, from, said);
    to.set(`${task} ${text}`, { ...named(state, task), text: inNames(state, text), isOpen });
  };
  for (const [id, planner] of state.planners) {
    if (id !== ROOT && taskOf(state, id).state.is === "done") continue; // Handed up, to whom it is open.
    for (const { kind, from, text } of planner.concerns.values())
      if (kind === "said" && !isFailureOf(state, from, text)) add(open, from, text, true);
  }
  const others = new Map<string, ConcernView>();
  for (const [task, texts] of story.concerns) {
    // Of a goal that one worker took whole, no planner hears: its concerns are the person's.
    const isDealtWith = task !== ROOT && taskOf(state, task).state.is === "done";
    for (const text of texts) add(isDealtWith ? others : open, task, text, !isDealtWith);
  }
  return [...open.values(), ...[...others].flatMap(([key, view]) => (open.has(key) ? [] : [view]))];
}

/** "[t.1.2] [t.1.2.1] odd": handed up by one planner after the other, and said by the last that is named. */
function originOf(state: RunState, from: TaskId, said: string): { task: TaskId; text: string } {
  let origin = { task: from, text: said };
  for (;;) {
    const [, id = "", text = ""] = /^\[(t(?:\.\d+)+)\] (.*)$/s.exec(origin.text) ?? [];
    if (!state.tasks.has(id as TaskId)) return origin;
    origin = { task: id as TaskId, text };
  }
}

function isFailureOf(state: RunState, from: TaskId, text: string): boolean {
  const { spec, state: end } = taskOf(state, from);
  return end.is === "failed" && text === `${spec.key} failed: ${end.failure.message}`;
}
