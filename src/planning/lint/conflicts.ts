/** Finds tasks that write the same file and could run at the same time. */
import { containing, EVERYTHING } from "../../core/scope.ts";
import { error, type Finding } from "../files/place.ts";
import type { PlanTask } from "../plan.ts";
import type { Waited } from "../waves.ts";

/**
 * Finds nothing exactly if every two tasks that write the same file, or a folder and something in it, are ordered. The
 * writers of one path must form a chain, so only neighbours are compared: all pairs of 1,000 tasks with 2,000 shared
 * files each would be a thousand million.
 */
export function sharedWrites(
  tasks: readonly PlanTask[],
  reach: Reach,
  sharedFiles: readonly string[] = [],
): readonly Finding[] {
  const writers = writersOf(tasks, reach, containing(sharedFiles));
  const conflicts = new Map<string, Conflict>();
  const compare = (a: Writer, b: Writer) => {
    if (a.task === b.task || reach.isOrdered(a.task, b.task)) return;
    const [earlier, later] = a.task < b.task ? [a, b] : [b, a];
    const key = `${earlier.task} ${later.task}`;
    if (!conflicts.has(key)) conflicts.set(key, { earlier, later });
  };
  for (const [path, here] of writers) {
    const above = [...foldersAbove(path)].flatMap((folder) => writers.get(folder) ?? []);
    const all = above.length === 0 ? here : [...here, ...above].sort((a, b) => a.position - b.position);
    for (let at = 1; at < all.length; at += 1) compare(all[at - 1]!, all[at]!);
  }
  return [...conflicts.values()].map((conflict) => told(conflict, tasks));
}

/** `position`: among all tasks, dependencies first. `path`: the index of the path in the task's scope. */
type Writer = { readonly task: number; readonly position: number; readonly path: number };
type Conflict = { readonly earlier: Writer; readonly later: Writer };

/** By path without its last slash, in a topological order. */
function writersOf(
  tasks: readonly PlanTask[],
  { order }: Reach,
  isShared: (path: string) => boolean,
): ReadonlyMap<string, readonly Writer[]> {
  const writers = new Map<string, Writer[]>();
  for (const [position, task] of order.entries()) {
    const { delivers, scope } = tasks[task]!;
    if (delivers === "report") continue;
    for (const [path, written] of scope.entries()) {
      if (isShared(written)) continue;
      const key = written.endsWith("/") && written !== EVERYTHING ? written.slice(0, -1) : written;
      const known = writers.get(key);
      if (known) known.push({ task, position, path });
      else writers.set(key, [{ task, position, path }]);
    }
  }
  return writers;
}

function* foldersAbove(path: string): Generator<string> {
  if (path === EVERYTHING) return;
  yield EVERYTHING;
  for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1))
    yield path.slice(0, slash);
}

function told({ earlier, later }: Conflict, tasks: readonly PlanTask[]): Finding {
  const [first, second] = [tasks[earlier.task]!, tasks[later.task]!];
  const [one, other] = [first.scope[earlier.path]!, second.scope[later.path]!];
  const what =
    one === other
      ? `tasks "${first.id}" and "${second.id}" both write ${one}`
      : `task "${first.id}" writes ${one} and task "${second.id}" writes ${other}`;
  return error(
    `tasks[${later.task}].scope[${later.path}]`,
    `${what}, and neither waits for the other`,
    `let one wait: "blockedBy": ["${first.id}"] in task "${second.id}"; or give the file to one of them`,
  );
}

export type Reach = {
  /** Indexes of the tasks in the plan, dependencies first. */
  readonly order: readonly number[];
  /** True if one of the tasks waits for the other, directly or not. */
  isOrdered(a: number, b: number): boolean;
  /** Dependencies of a task that another of its dependencies already waits for, as indexes in `blockedBy`. */
  redundant(task: number): readonly number[];
};

/** Expects tasks whose waves are known, each id once. Takes 125 kB for 1,000 tasks. */
export function reachOf(tasks: readonly Waited[], waveOf: (id: string) => number): Reach {
  const words = Math.ceil(tasks.length / 32);
  const above = new Uint32Array(tasks.length * words);
  const indirect = new Uint32Array(tasks.length * words);
  const has = (bits: Uint32Array, row: number, one: number) =>
    ((bits[row * words + (one >> 5)]! >>> (one & 31)) & 1) === 1;
  const indexOf = new Map(tasks.map(({ id }, index) => [id, index]));
  const waves = tasks.map(({ id }) => waveOf(id));
  const order = [...tasks.keys()].sort((a, b) => waves[a]! - waves[b]!);
  for (const task of order) {
    const row = task * words;
    const direct = tasks[task]!.blockedBy.flatMap((id) => indexOf.get(id) ?? []);
    for (const before of direct)
      for (let word = 0; word < words; word += 1) indirect[row + word]! |= above[before * words + word]!;
    for (let word = 0; word < words; word += 1) above[row + word] = indirect[row + word]!;
    for (const before of direct) above[row + (before >> 5)]! |= 1 << (before & 31);
  }
  return {
    order,
    isOrdered: (a, b) => has(above, a, b) || has(above, b, a),
    redundant: (task) =>
      tasks[task]!.blockedBy.flatMap((id, at) => {
        const before = indexOf.get(id);
        return before !== undefined && has(indirect, task, before) ? [at] : [];
      }),
  };
}
