/** Reads a branch's evidence from its commits: files, diff, tests, and marks that a worker must not leave. */

import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Evidence } from "../../core/rules/evidence.ts";
import { onlyFresh } from "./code-lines.ts";
import { conflictsAmong } from "./conflicts.ts";
import { filesWith } from "./files-with.ts";
import { withHabits } from "./habits.ts";
import { conflictMarks, findMarks, keptMarks, mayHaveConflict, placeOfMark } from "./marks.ts";
import { wrongNames } from "./names.ts";
import { readPatch } from "./patch.ts";
import { broken, inStore, neededCommit, type Store } from "./store.ts";
import { casesIn, type TestCase } from "./test-cases/cases.ts";
import { compareTests, type TestChanges, type TestFile } from "./test-cases/compare.ts";
import { isTestFile } from "./test-files.ts";

export async function evidence(
  store: Store,
  base: string,
  commit: string,
  signal: AbortSignal,
): Promise<Evidence | Failed> {
  const wrong = wrongNames({ commits: [base, commit] });
  if (wrong) return wrong;
  for (const name of [base, commit]) {
    const read = await neededCommit(store, name);
    if (hasFailed(read)) return read;
  }
  if (base === commit) return NOTHING;
  const changes = await changesBetween(store, base, commit, signal);
  if (hasFailed(changes)) return changes;
  if (changes.entries.length === 0) return NOTHING;
  const files = readPatch(changes.patch, changes.entries);
  const fresh = onlyFresh(files);
  const suspects = fresh.filter(mayHaveConflict).map(({ path }) => path);
  const conflicts = await conflictsAmong({ gitDir: store.gitDir, commit, files: suspects }, signal);
  if (hasFailed(conflicts)) return conflicts;
  const found = findMarks(fresh);
  const kept = new Set(keptMarks(files, found));
  const more = found.filter((mark) => !kept.has(mark));
  const marks = await withHabits(store, base, more, signal);
  if (hasFailed(marks)) return marks;
  const usual = [...kept, ...marks.usual];
  const { entries } = changes;
  const touched = await testFiles(store, entries);
  if (hasFailed(touched)) return touched;
  const tests = await testChanges(store, commit, touched, signal);
  if (hasFailed(tests)) return tests;
  if (tests.isTooMuch) return TOO_MANY_TESTS;
  const of = (...statuses: readonly string[]) =>
    entries.filter(({ status }) => statuses.includes(status)).length;
  return {
    commit,
    filesChanged: [...new Set(entries.flatMap(({ paths }) => paths))].toSorted(),
    diff: cutDiff(changes.patch),
    linesAdded: changes.linesAdded,
    linesRemoved: changes.linesRemoved,
    filesCreated: of("A", "C"),
    filesModified: of("M", "T", "R"),
    deletedTests: tests.deleted.map(({ name }) => name),
    ...(tests.deleted.length > 0 && { deletedWords: tests.deleted.map(({ words }) => words) }),
    disabledTests: tests.disabled,
    forbiddenMarks: [...marks.unusual.map(placeOfMark), ...conflictMarks(fresh, conflicts)],
    ...(tests.flagged.length > 0 && { flaggedTests: tests.flagged }),
    ...(usual.length > 0 && { usualMarks: usual.map(placeOfMark) }),
  };
}

const NOTHING: Evidence = {
  filesChanged: [],
  diff: "",
  linesAdded: 0,
  linesRemoved: 0,
  filesCreated: 0,
  filesModified: 0,
  deletedTests: [],
  disabledTests: [],
  forbiddenMarks: [],
};

/** Marks and tests are searched in the whole patch, so a patch that is too long to read is refused. */
const MAX_PATCH_BYTES = 32 * 1024 * 1024;
const TOO_LARGE: Failed = failedWith(
  "rule-broken",
  "the change is too large to be judged: its patch has more than 32 MB of text",
  "leave out what is generated or downloaded, or make the change in parts",
);
const TOO_MANY_TESTS: Failed = failedWith(
  "rule-broken",
  "the change is too large to be judged: it puts others in the place of too many tests to compare them all",
  "make the change in parts; a test that moves keeps its name",
);
const MAX_DIFF_CHARS = 1024 * 1024;

const DIFF = [
  ...["diff-tree", "-r", "-M", "-l2000", "--no-ext-diff", "--no-textconv", "--no-color"],
  ...["-z", "--raw", "--numstat", "--no-abbrev"],
  ...["-p", "--full-index", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/"],
];

function cutDiff(patch: string): string {
  if (patch.length <= MAX_DIFF_CHARS) return patch;
  const text = patch.slice(0, MAX_DIFF_CHARS);
  const left = `${patch.length - text.length} characters are left out`;
  return `${text.slice(0, text.lastIndexOf("\n") + 1)}\n[the diff is cut here: ${left}]\n`;
}

/** A changed file: one status letter, and one path, or the old and the new path of a rename. */
type Entry = {
  readonly status: string;
  readonly paths: readonly string[];
  readonly oldId: string;
  readonly newId: string;
};

type Changes = {
  readonly patch: string;
  readonly entries: readonly Entry[];
  readonly linesAdded: number;
  readonly linesRemoved: number;
};

async function changesBetween(
  store: Store,
  base: string,
  commit: string,
  signal: AbortSignal,
): Promise<Changes | Failed> {
  const args = [...DIFF, "--end-of-options", base, commit];
  const answer = await inStore(store, { args, maxBytes: MAX_PATCH_BYTES, cut: true }, signal);
  if (!answer.ok) return { failure: answer.failure };
  return answer.isCut ? TOO_LARGE : parseChanges(answer.out);
}

/**
 * Parses first ":mode mode id id status" and one or two paths, then "added\tremoved\tpath", or two paths after it;
 * then an empty field and the patch.
 */
function parseChanges(out: string): Changes {
  const end = out.indexOf("\0\0");
  const entries: Entry[] = [];
  let linesAdded = 0;
  let linesRemoved = 0;
  const fields = (end === -1 ? out : out.slice(0, end)).split("\0");
  for (let at = 0; at < fields.length; ) {
    const field = fields[at]!;
    const raw = /^:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/.exec(field);
    if (raw !== null) {
      const count = raw[3] === "R" || raw[3] === "C" ? 2 : 1;
      const paths = fields.slice(at + 1, at + 1 + count);
      entries.push({ status: raw[3]!, paths, oldId: raw[1]!, newId: raw[2]! });
      at += 1 + count;
      continue;
    }
    const stat = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field);
    linesAdded += Number(stat?.[1]) || 0; // "-" for a binary file, which has no lines.
    linesRemoved += Number(stat?.[2]) || 0;
    at += stat?.[3] === "" ? 3 : 1;
  }
  return { patch: end === -1 ? "" : out.slice(end + 2), entries, linesAdded, linesRemoved };
}

/** Files in which a runner finds tests, before and after; of Rust all sources, because it has tests among the code. */
async function testFiles(store: Store, entries: readonly Entry[]): Promise<readonly TestFile[] | Failed> {
  const isRead = (path: string) => isTestFile(path) || path.endsWith(".rs");
  const files: TestFile[] = [];
  for (const { status, paths, oldId, newId } of entries) {
    const [from, to] = [paths[0]!, paths.at(-1)!];
    const before = status !== "A" && status !== "C" && isRead(from);
    const after = status !== "D" && isRead(to);
    if (!before && !after) continue;
    const [was, now] = [before ? await textOf(store, oldId) : "", after ? await textOf(store, newId) : ""];
    if (typeof was !== "string") return was;
    if (typeof now !== "string") return now;
    files.push({
      ...(before && { before: { path: from, text: was } }),
      ...(after && { after: { path: to, text: now } }),
    });
  }
  return files;
}

/**
 * Compares tests. Tests that the change's files lost may live on in other files: they existed twice, or an earlier
 * change moved them.
 */
async function testChanges(
  store: Store,
  commit: string,
  files: readonly TestFile[],
  signal: AbortSignal,
): Promise<TestChanges | Failed> {
  const changes = compareTests(files);
  const names = changes.lost.flatMap(({ name }) => (name.length > 3 ? [name] : [])).slice(0, MAX_SOUGHT);
  if (names.length === 0) return changes;
  const paths = await filesWith(store, commit, { texts: names }, signal);
  if (hasFailed(paths)) return paths;
  const touched = new Set(files.map(({ after }) => after?.path));
  const elsewhere: TestCase[] = [];
  for (const path of paths.filter((one) => isTestFile(one) && !touched.has(one)).slice(0, MAX_SOUGHT)) {
    const read = await store.reader.contents(`${commit}:${path}`);
    if (read.is === "found" && read.content.length <= MAX_TEST_BYTES)
      elsewhere.push(...casesIn(path, read.content.toString()));
  }
  return elsewhere.length === 0 ? changes : compareTests(files, elsewhere);
}

/** The limit for names, and for files that may have them. */
const MAX_SOUGHT = 100;

/** A file that cannot be read now is a failure, because its tests may be gone. */
async function textOf(store: Store, id: string): Promise<string | Failed> {
  const info = await store.reader.info(id);
  if (info.is === "failed") return broken(info.why);
  if (info.is !== "found" || info.bytes > MAX_TEST_BYTES) return "";
  const read = await store.reader.contents(id);
  if (read.is === "failed") return broken(read.why);
  return read.is === "found" ? read.content.toString() : "";
}

const MAX_TEST_BYTES = 4 * 1024 * 1024;
