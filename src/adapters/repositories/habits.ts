/** Tells marks that a repository uses itself from those that it does not, by the files of a commit. */
import { type Failed, hasFailed } from "../../core/result.ts";
import { languageOf } from "./code-lines.ts";
import { filesWith } from "./files-with.ts";
import { COARSE, type Mark, type MarkKind, marksIn } from "./marks.ts";
import { broken, type Store } from "./store.ts";
import { isAmongTests } from "./test-files.ts";

type ByHabit = { readonly usual: readonly Mark[]; readonly unusual: readonly Mark[] };

/** Looks at the commit before the change, because a worker's own additions are no habit of the repository. */
export async function withHabits(
  store: Store,
  base: string,
  marks: readonly Mark[],
  signal: AbortSignal,
): Promise<ByHabit | Failed> {
  const habits = new Map<string, boolean>();
  for (const { path, kind } of marks) {
    const key = keyOf(path, kind);
    if (kind === undefined || habits.has(key)) continue;
    const isHabit = await usesItself(store, { base, path, kind }, signal);
    if (typeof isHabit !== "boolean") return isHabit;
    habits.set(key, isHabit);
  }
  const { usual = [], unusual = [] } = Object.groupBy(marks, ({ path, kind }) =>
    habits.get(keyOf(path, kind)) ? "usual" : "unusual",
  );
  return { usual, unusual };
}

/** A mark about types is a habit either of sources, or of tests and declarations; a TODO counts in all files. */
type FileKind = "source" | "tests" | "declarations";

const fileKindOf = (path: string): FileKind =>
  isAmongTests(path) ? "tests" : /\.d\.[cm]?ts$/.test(path) ? "declarations" : "source";

const keyOf = (path: string, kind: MarkKind | undefined): string =>
  `${kind} ${languageOf(path)} ${fileKindOf(path)}`;

const isOfTypes = (kind: MarkKind): boolean => kind !== "TODO" && kind !== "todo!";

/** Whether more than a few files have the mark; for marks about types in declarations or tests, one file is enough. */
async function usesItself(
  store: Store,
  { base, path, kind }: { readonly base: string; readonly path: string; readonly kind: MarkKind },
  signal: AbortSignal,
): Promise<boolean | Failed> {
  const files = await filesWith(store, base, { pattern: COARSE[kind] }, signal);
  if (hasFailed(files)) return files;
  const fileKind = fileKindOf(path);
  const isAlike = (other: string) =>
    languageOf(other) === languageOf(path) &&
    (!isOfTypes(kind) || (fileKind === "source") === (fileKindOf(other) === "source"));
  const enough = fileKind === "source" || !isOfTypes(kind) ? MANY : 1;
  let count = 0;
  for (const file of files.filter(isAlike).slice(0, MAX_READ)) {
    const read = await store.reader.contents(`${base}:${file}`);
    if (read.is === "failed") return broken(read.why);
    const lines = read.is === "found" ? read.content.toString().split("\n") : [];
    if (lines.some((line) => marksIn(file, line).some((mark) => mark.kind === kind))) count += 1;
    if (count >= enough) return true;
  }
  return false;
}

const MANY = 4;
const MAX_READ = 300;
