/** Do the paths of a plan fit the repository, as far as one can tell? What a task makes need not be there yet. */

import { containing, EVERYTHING } from "../../core/scope.ts";
import { closest } from "../../text/closest.ts";
import { type Finding, warning } from "../files/place.ts";
import type { PlanTask } from "../plan.ts";

/** A new folder is fine; one that is nearly the name of another is a slip. A file to read must come from somewhere. */
export function fileFindings(tasks: readonly PlanTask[], files: readonly string[]): readonly Finding[] {
  const known = new Set(files);
  const folders = foldersOf(files);
  const isMade = containing(tasks.flatMap(({ scope }) => scope));
  const isThere = (path: string) =>
    path === EVERYTHING || known.has(path) || folders.has(withoutSlash(path)) || isMade(path);
  const near = nearIn(folders);
  return tasks.flatMap(({ scope, reads }, index) => [
    ...scope.flatMap((path, at) => {
      const folder = folderOf(path);
      const meant = folder === "" || folders.has(folder) ? undefined : near(folder);
      const place = `tasks[${index}].scope[${at}]`;
      return meant === undefined
        ? []
        : [warning(place, `there is no folder ${folder}/`, `did you mean ${meant}/?`)];
    }),
    ...reads.flatMap((path, at) =>
      isThere(path)
        ? []
        : [warning(`tasks[${index}].reads[${at}]`, `there is no ${path}, and no task makes it`)],
    ),
  ]);
}

const withoutSlash = (path: string) => (path.endsWith("/") ? path.slice(0, -1) : path);

/** Of a file, where it is; of a folder, itself. */
const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

function foldersOf(files: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const file of files) {
    for (let slash = file.lastIndexOf("/"); slash > 0; slash = file.lastIndexOf("/", slash - 1)) {
      const folder = file.slice(0, slash);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

/** To look for a near name costs more than anything else here. */
const MAX_LOOKS = 20;
const MAX_FOLDERS = 2_000;

function nearIn(folders: ReadonlySet<string>): (folder: string) => string | undefined {
  const names = [...folders].slice(0, MAX_FOLDERS);
  const answers = new Map<string, string | undefined>();
  return (folder) => {
    if (!answers.has(folder) && answers.size < MAX_LOOKS) {
      const deep = folder.split("/").length;
      answers.set(
        folder,
        closest(
          folder,
          names.filter((name) => isSlip(name, folder, deep)),
        )[0],
      );
    }
    return answers.get(folder);
  };
}

/** As deep, with one part that differs; "src/api" is no slip for "src/cli". */
function isSlip(name: string, folder: string, deep: number): boolean {
  const parts = name.split("/");
  if (parts.length !== deep) return false;
  const written = folder.split("/");
  const other = parts.flatMap((part, index) => (part === written[index] ? [] : [index]));
  const [only] = other;
  return (
    other.length === 1 && closest(written[only!]!, [parts[only!]!]).length === 1 && written[only!]!.length > 3
  );
}
