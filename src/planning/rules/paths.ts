/** Which files of the repository does a clause speak of: to change, or only to read? */
import { readPath } from "../../core/scope.ts";
import type { RepositoryFacts } from "../facts.ts";
import type { Clause } from "../reading.ts";
import { READ_FIRST, type Work } from "./work.ts";

/** The tree as it is asked: made once for a plan. */
export type Tree = {
  readonly files: ReadonlySet<string>;
  /** Each ends in "/". */
  readonly folders: ReadonlySet<string>;
  readonly byName: ReadonlyMap<string, readonly string[]>;
  /** How tests that sit beside their sources are marked: "test" in "a.test.ts". Undefined: they do not. */
  readonly testMark?: string;
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
  const known = new Set(files);
  const beside = files.find((file) => MARKED.test(file) && known.has(file.replace(MARKED, ".$2")));
  const testMark = beside === undefined ? undefined : MARKED.exec(beside)![1]!;
  return { files: known, folders, byName, ...(testMark === undefined ? {} : { testMark }) };
}

const MARKED = /\.(test|spec)\.(\w{1,5})$/;

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** What a name that somebody wrote can mean. */
export type Meant =
  | { readonly is: "path"; readonly path: string; readonly isThere: boolean }
  | { readonly is: "several"; readonly written: string; readonly paths: readonly string[] }
  /** Not in the tree, and no path that says where it would be. */
  | { readonly is: "unknown"; readonly written: string }
  | { readonly is: "outside"; readonly written: string; readonly problem: string };

export function meantBy(written: string, tree: Tree): Meant {
  const read = readPath(written.replace(/^\.\//, ""));
  if ("problem" in read) return { is: "outside", written, problem: read.problem };
  const { path } = read;
  if (tree.files.has(path) || tree.folders.has(path)) return { is: "path", path, isThere: true };
  if (tree.folders.has(`${path}/`)) return { is: "path", path: `${path}/`, isThere: true };
  if (path.includes("/")) return { is: "path", path, isThere: false };
  // People write README and mean README.md.
  const paths = tree.byName.get(path) ?? (path.includes(".") ? [] : (tree.byName.get(`${path}.md`) ?? []));
  if (paths.length === 1) return { is: "path", path: paths[0]!, isThere: true };
  return paths.length > 1 ? { is: "several", written, paths } : { is: "unknown", written };
}

export type Paths = { readonly scope: readonly string[]; readonly reads: readonly string[] };

/** `chosen`: which of several files a name means, where somebody decided. */
export type PathsAsked = {
  readonly clause: Pick<Clause, "text" | "verb" | "files">;
  readonly work: Work;
  readonly tree: Tree;
  readonly chosen: ReadonlyMap<string, string>;
  readonly maxScope: number;
};

export function pathsOf({ clause, work, tree, chosen, maxScope }: PathsAsked): Paths {
  const scope = new Set<string>();
  const reads = new Set<string>();
  for (const written of clause.files) {
    const path = pathOf(written, { work, tree, chosen });
    if (path === undefined) continue;
    if (isOnlyRead(clause, work, written, path)) reads.add(path);
    else scope.add(path);
  }
  const withTests =
    work === "change" || work === "build" || work === "tests" ? testsFor(work, scope, reads, tree) : [];
  for (const test of withTests) if (scope.size < maxScope) scope.add(test);
  return { scope: [...scope], reads: [...reads].filter((path) => !scope.has(path)) };
}

function pathOf(
  written: string,
  { work, tree, chosen }: Pick<PathsAsked, "work" | "tree" | "chosen">,
): string | undefined {
  const meant = meantBy(written, tree);
  if (meant.is === "path") return meant.path;
  if (meant.is === "several") return chosen.get(written) ?? meant.paths[0];
  // A new file may be at the top; of one that should be there nobody knows where.
  if (meant.is !== "unknown" || (work !== "build" && work !== "docs")) return undefined;
  return /^[A-Z]+$/.test(written) ? `${written}.md` : written;
}

const READ_FROM = /\bfrom\s+(?:the\s+)?[`"'(]{0,2}$/i;
/** What these make from a file is elsewhere; "remove x from a.ts" changes a.ts. */
const MAKING_FROM: ReadonlySet<string> = new Set(
  "generate derive copy port create build implement write compute produce read import".split(" "),
);

/** What these leave is in files that nobody has named: who may only touch the old ones cannot do it. */
const LEAVING: ReadonlySet<string> = new Set(
  "extract convert translate port split move transform".split(" "),
);
export const leavesFiles = ({ verb }: Pick<Clause, "verb">): boolean =>
  verb !== undefined && LEAVING.has(verb);

function isOnlyRead(clause: PathsAsked["clause"], work: Work, written: string, path: string): boolean {
  if (leavesFiles(clause)) return true;
  if (work === "report" || work === "verify" || work === "operate") return true;
  if (work === "tests") return !isTest(path) && !path.endsWith("/");
  if (work === "docs" && !isProse(path) && clause.files.some(isProse)) return true;
  const at = clause.text.indexOf(written);
  if (at === -1) return true; // Where a trace leads is not where the fault is.
  const before = clause.text.slice(Math.max(0, at - 40), Math.max(0, at));
  return READ_FIRST.test(before) || (READ_FROM.test(before) && MAKING_FROM.has(clause.verb ?? ""));
}

/** Written for people to read. */
export const isProse = (path: string): boolean => /\.(?:md|mdx|rst|adoc|txt)$/i.test(path);

const TEST_NAME = /^(?:test_.*|.*(?:[._-](?:test|spec)|_test|Test|Tests|Spec))\.[a-z]{1,5}$/;
export const isTest = (path: string): boolean =>
  TEST_NAME.test(nameOf(path)) || /(?:^|\/)(?:tests?|__tests__|specs?)\//.test(path);

/** The one test of each source file, where its name says so: who changes the source must be free to change it. */
function testsFor(
  work: Work,
  scope: ReadonlySet<string>,
  reads: ReadonlySet<string>,
  tree: Tree,
): readonly string[] {
  const sources = work === "tests" ? reads : scope;
  return [...sources].flatMap((path) => {
    const test = path.endsWith("/") || isTest(path) ? undefined : testOf(path, tree);
    return test === undefined ? [] : [test];
  });
}

const CODE = /^(?:[cm]?[jt]sx?|vue|svelte|dart)$/;

export function testOf(path: string, tree: Tree): string | undefined {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  if (dot < 1) return undefined;
  const [stem, ending] = [name.slice(0, dot), name.slice(dot + 1)];
  const names = [
    `${stem}.test.${ending}`,
    `${stem}.spec.${ending}`,
    `test_${stem}.${ending}`,
    `${stem}_test.${ending}`,
  ];
  const folder = path.slice(0, path.length - name.length);
  for (const one of [...names, `${stem}Test.${ending}`, `${stem}_spec.${ending}`]) {
    const found = tree.byName.get(one) ?? [];
    const beside = found.find((test) => test.startsWith(folder) && folder !== "");
    if (beside !== undefined) return beside;
    if (found.length === 1) return found[0];
  }
  // Not there yet: who mends something may show it by the first test of its file.
  const isSource = tree.files.has(path) && tree.testMark !== undefined && CODE.test(ending);
  return isSource ? `${folder}${stem}.${tree.testMark}.${ending}` : undefined;
}
