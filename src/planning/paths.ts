/** Finds the files of the repository that a text names: files to read, and files that it clearly limits the work to. */
import { readPath } from "../core/scope.ts";
import type { RepositoryFacts } from "./facts.ts";

/** An index of the repository's paths, made once for a plan. */
export type Tree = {
  readonly files: ReadonlySet<string>;
  /** Each ends in "/". */
  readonly folders: ReadonlySet<string>;
  readonly byName: ReadonlyMap<string, readonly string[]>;
};

export function treeOf({ files }: Pick<RepositoryFacts, "files">): Tree {
  const folders = new Set<string>();
  const byName = new Map<string, string[]>();
  for (const file of files) {
    for (let at = file.lastIndexOf("/"); at > 0; at = file.lastIndexOf("/", at - 1)) {
      const folder = file.slice(0, at + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    const name = nameOf(file);
    const same = byName.get(name);
    if (same) same.push(file);
    else byName.set(name, [file]);
  }
  return { files: new Set(files), folders, byName };
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** What a written name refers to. `new`: a path in the repository that does not exist yet. */
type PathMeant =
  | { readonly is: "file" | "folder" | "new"; readonly path: string }
  | { readonly is: "nothing"; readonly path: "" };

export function meantBy(written: string, tree: Tree): PathMeant {
  const read = readPath(written.replace(/^\.\//, ""));
  if ("problem" in read) return NOTHING;
  const { path } = read;
  if (tree.files.has(path)) return { is: "file", path };
  const folder = path.endsWith("/") ? path : `${path}/`;
  if (tree.folders.has(folder)) return { is: "folder", path: folder };
  const same = path.includes("/") ? [] : (tree.byName.get(path) ?? []);
  if (same.length === 1) return { is: "file", path: same[0]! };
  return same.length === 0 && /\.\w{1,10}$/.test(path) ? { is: "new", path } : NOTHING;
}

const NOTHING: PathMeant = { is: "nothing", path: "" };

/** A path or a file name with an ending, or a well-known name without one, inside a sentence. */
const PATH =
  /(?<![\w./@:-])(?:\.\/)?(?:[\w.@-]{1,80}\/){0,20}(?:[\w.@-]{1,80}(?:\.\w{1,10}|\/)|(?:Docker|Make|Gem|Rake|Jenkins|Proc|Pip)file)(?![\w/])/g;
const MAX_READ_CHARS = 100_000;

/**
 * The paths in a text. "routes.ts" beside "src/server/routes.ts" is that file, and "package.json in apps/shop" is the
 * one there.
 */
function pathsIn(text: string): readonly string[] {
  const said = text.slice(0, MAX_READ_CHARS).replace(NAME_IN_FOLDER, "$2/$1");
  const all = [...new Set((said.match(PATH) ?? []).map((path) => path.replace(/\.$/, "")))];
  const long = new Set(all.filter((path) => path.includes("/")).map(nameOf));
  return all.filter((path) => path.includes("/") || !long.has(path));
}

const NAME_IN_FOLDER =
  /(?<![\w./@:-])([\w.@-]{1,80}\.\w{1,10}) in ((?:[\w.@-]{1,80}\/){1,20}[\w@-]{1,80})\/?(?![\w./])/g;

/** Mentioned files and folders that exist. */
export function placesIn(text: string, tree: Tree): readonly string[] {
  const meant = pathsIn(text).map((written) => meantBy(written, tree));
  return [...new Set(meant.flatMap(({ is, path }) => (is === "file" || is === "folder" ? [path] : [])))];
}

/** Mentioned files that exist: the worker should read them first, but is not limited to them. */
export function readsIn(text: string, tree: Tree, max: number): readonly string[] {
  const meant = pathsIn(text).map((written) => meantBy(written, tree));
  return [...new Set(meant.flatMap(({ is, path }) => (is === "file" ? [path] : [])))].slice(0, max);
}

const QUOTE = "[`\"']?";
const NAME = "([\\w.@/-]{1,200}?)";
const AFTER = `${QUOTE}(?=[\\s,;:!?)]|\\.?(?:\\s|$)|$)`;
/** "only in X", "only change X", "change nothing but X". */
const ONLY = new RegExp(
  `\\b(?:only (?:in|within|inside|touch|change|edit|modify)|(?:touch|change|edit|modify) (?:only|nothing but))(?: the| files in)? ${QUOTE}${NAME}${AFTER}`,
  "gi",
);
const MAKE = new RegExp(
  `^(?:please )?(?:create|write|edit) (?:a |the )?(?:new )?(?:file )?${QUOTE}${NAME}${AFTER}`,
  "i",
);

/**
 * The files that a task may change; empty if not limited. A path that is only mentioned does not limit the task,
 * because the change may need others. "Create X" and "edit X" limit it to X if X is prose or settings; not if X is
 * code, because its tests are in another file.
 */
export function scopeIn(text: string, tree: Tree): readonly string[] {
  const said = text.slice(0, MAX_READ_CHARS);
  const only = [...said.matchAll(ONLY)].map(([, name = ""]) => meantBy(name, tree));
  if (only.length > 0)
    return only.every(({ is }) => is === "file" || is === "folder")
      ? [...new Set(only.map(({ path }) => path))]
      : [];
  const [, name = ""] = MAKE.exec(said) ?? [];
  if (name === "" || !isProse(name) || pathsIn(said).length > 1 || /[.!?]\s+\S/.test(said)) return [];
  const { is, path } = meantBy(name, tree);
  const isEdit = /^(?:please )?edit/i.test(said);
  return is === "file" || (is === "new" && !isEdit) ? [path] : [];
}

/** Written for people to read, or settings that a program reads as they are. */
const isProse = (path: string): boolean => /\.(?:md|mdx|rst|adoc|txt|ya?ml|toml|ini|csv)$/i.test(path);

const TEST_NAME = /^(?:test_.*|.*(?:[._-](?:test|spec)|_test|Test|Tests|Spec))\.[a-z]{1,5}$/;
export const isTest = (path: string): boolean =>
  TEST_NAME.test(nameOf(path)) || /(?:^|\/)(?:tests?|__tests__|specs?)\//.test(path);
