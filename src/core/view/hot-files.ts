/** Lists the files that several tasks are to change, with how long tasks waited for each. */
import { nameOf, type RunState } from "../log/state.ts";
import { EVERYTHING } from "../scope.ts";
import type { TaskId, TaskSpec } from "../task.ts";
import type { FileWait } from "./story.ts";
import type { Seen } from "./view.ts";

type ScopedTask = { readonly id: TaskId; readonly name: string; readonly spec: TaskSpec };

export type HotFile = {
  readonly path: string;
  /**
   * Names of the tasks with the path, or something in it, in their scope; and of tasks that waited for a folder above
   * it.
   */
  readonly tasks: readonly string[];
  readonly waitedMs: number;
};

/** The longest wait first, then the most tasks. Takes time in proportion to the paths, their depth and the waits. */
export function hotFiles({
  tasks,
  fileWaits,
}: {
  readonly tasks: readonly ScopedTask[];
  readonly fileWaits: readonly FileWait[];
}): readonly HotFile[] {
  const writers = tasks.filter(writes);
  const found = new Map<string, { readonly tasks: Set<string>; waitedMs: number }>();
  for (const { spec } of writers)
    for (const path of spec.scope) found.set(path, { tasks: new Set(), waitedMs: 0 });
  for (const { name, spec } of writers)
    for (const path of spec.scope)
      for (const place of [path, ...above(path)]) found.get(place)?.tasks.add(name);
  const byId = new Map<TaskId, Writer>(writers.map((task) => [task.id, { task, own: ownOf(task) }]));
  for (const { task, behind, ms } of fileWaits) {
    const [one, other] = [byId.get(task), byId.get(behind)];
    if (!one || !other) continue;
    for (const path of shared(one, other)) {
      const entry = found.get(path);
      if (!entry) continue;
      entry.waitedMs += ms;
      entry.tasks.add(one.task.name).add(other.task.name); // One of them may have only a folder above it in its scope.
    }
  }
  return [...found]
    .map(([path, entry]) => ({ path, tasks: [...entry.tasks], waitedMs: entry.waitedMs }))
    .filter((one) => one.tasks.length > 1 || one.waitedMs > 0)
    .sort((a, b) => b.waitedMs - a.waitedMs || b.tasks.length - a.tasks.length || (a.path < b.path ? -1 : 1));
}

/** The files of a loose task are unknown, and planners and reports change no file. */
const writes = ({ spec }: ScopedTask): boolean =>
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

/** A task with its paths, without trailing slashes. */
type Writer = { readonly task: ScopedTask; readonly own: ReadonlySet<string> };

const ownOf = ({ spec }: ScopedTask): ReadonlySet<string> => new Set(spec.scope.map(withoutSlash));

const withoutSlash = (path: string): string =>
  path.endsWith("/") && path !== EVERYTHING ? path.slice(0, -1) : path;

/** The paths in which two tasks overlap: of a folder and a file in it, the file. */
function shared(one: Writer, other: Writer): readonly string[] {
  const inFoldersOf = (own: ReadonlySet<string>, path: string) =>
    above(path).some((folder) => own.has(withoutSlash(folder)));
  const met = new Set<string>();
  for (const path of one.task.spec.scope)
    if (other.own.has(withoutSlash(path)) || inFoldersOf(other.own, path)) met.add(path);
  for (const path of other.task.spec.scope) if (inFoldersOf(one.own, path)) met.add(path);
  return [...met];
}

/**
 * `conflicts`: how many attempts that had changed the file were refused for a conflict, where a landed task had changed
 * it, too.
 */
export type RunHotFile = HotFile & { readonly conflicts: number };

/** The hot files of a finished run, the most conflicts first. */
export function runHotFiles({ state, story }: Seen): readonly RunHotFile[] {
  const tasks = [...state.tasks.values()].map(({ id, spec }) => ({ id, spec, name: nameOf(state, id) }));
  const waited = hotFiles({ tasks, fileWaits: story.fileWaits }).filter(({ waitedMs }) => waitedMs > 0);
  const found = new Map(waited.map((file) => [file.path, { ...file, conflicts: 0 }]));
  const changedBy = changersOf(state);
  for (const { task, files } of story.conflicts)
    for (const path of files) {
      const others = (changedBy.get(path) ?? []).filter((id) => id !== task);
      if (others.length === 0) continue;
      const before = found.get(path) ?? { path, tasks: [], waitedMs: 0, conflicts: 0 };
      const names = [task, ...others].map((id) => nameOf(state, id));
      const both = { tasks: [...new Set([...before.tasks, ...names])], conflicts: before.conflicts + 1 };
      found.set(path, { ...before, ...both });
    }
  return [...found.values()]
    .sort((a, b) => b.conflicts - a.conflicts || b.waitedMs - a.waitedMs)
    .slice(0, MAX_HOT_FILES);
}

const MAX_HOT_FILES = 10;

/**
 * The log does not say in which files a conflict was, so files count that both the refused attempt and a landed task
 * changed.
 */
function changersOf({ tasks }: RunState): ReadonlyMap<string, readonly TaskId[]> {
  const landed = new Map<string, TaskId[]>();
  for (const { id, spec, state } of tasks.values())
    if (state.is === "done" && spec.shape === "work" && !spec.spawn)
      for (const file of state.handoff.filesChanged) landed.set(file, [...(landed.get(file) ?? []), id]);
  return landed;
}
