/** Which files are in the way? Those that several tasks are to change, with how long the tasks waited for each. */
import { covers, EVERYTHING } from "../core/scope.ts";
import type { TaskId } from "../core/task.ts";
import type { TimedTask, Timeline } from "./timeline.ts";

export type HotFile = {
  readonly path: string;
  /** Names of the tasks that have it, or something in it, in their scope. */
  readonly tasks: readonly string[];
  readonly waitedMs: number;
};

/** The longest wait first, then the most tasks. Time in proportion to the paths, their depth and the waits. */
export function hotFiles({ tasks, fileWaits }: Timeline): readonly HotFile[] {
  const writers = tasks.filter(writes);
  const found = new Map<string, { readonly tasks: Set<string>; waitedMs: number }>();
  for (const { spec } of writers)
    for (const path of spec.scope) found.set(path, { tasks: new Set(), waitedMs: 0 });
  for (const { name, spec } of writers)
    for (const path of spec.scope)
      for (const place of [path, ...above(path)]) found.get(place)?.tasks.add(name);
  const byId = new Map<TaskId, TimedTask>(writers.map((task) => [task.id, task]));
  for (const { task, behind, ms } of fileWaits) {
    for (const path of shared(byId.get(task), byId.get(behind))) {
      const entry = found.get(path);
      if (entry) entry.waitedMs += ms;
    }
  }
  return [...found]
    .map(([path, entry]) => ({ path, tasks: [...entry.tasks], waitedMs: entry.waitedMs }))
    .filter((one) => one.tasks.length > 1 || one.waitedMs > 0)
    .sort((a, b) => b.waitedMs - a.waitedMs || b.tasks.length - a.tasks.length || (a.path < b.path ? -1 : 1));
}

/** What a loose task will change nobody knows, and a planner or a report changes nothing itself. */
const writes = ({ spec }: TimedTask): boolean =>
  spec.delivers === "change" && spec.shape === "work" && !spec.terms?.loose;

function above(path: string): readonly string[] {
  const folders = path === EVERYTHING ? [] : [EVERYTHING];
  for (
    let slash = path.indexOf("/");
    slash !== -1 && slash < path.length - 1;
    slash = path.indexOf("/", slash + 1)
  )
    folders.push(path.slice(0, slash + 1));
  return folders;
}

/** Where two tasks meet: of a folder and a file in it, the file. */
function shared(one: TimedTask | undefined, other: TimedTask | undefined): readonly string[] {
  if (!one || !other) return [];
  const met = one.spec.scope.flatMap((a) =>
    other.spec.scope.flatMap((b) => (covers(a, b) ? [b] : covers(b, a) ? [a] : [])),
  );
  return [...new Set(met)];
}
