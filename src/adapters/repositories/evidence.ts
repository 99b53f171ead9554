/** What does a branch show? Its files, its diff, and what a worker must not leave, all read from the commits. */

import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Evidence } from "../../core/rules/evidence.ts";
import { onlyFresh } from "./code-lines.ts";
import { conflictsAmong } from "./conflicts.ts";
import { conflictMarks, findMarks, mayHaveConflict } from "./marks.ts";
import { wrongNames } from "./names.ts";
import { type PatchFile, parsePatch } from "./patch.ts";
import { inStore, neededCommit, type Store } from "./store.ts";
import { caseCount, disabledIn, isTestFile } from "./test-files.ts";

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
  const patch = await inStore(
    store,
    { args: [...PATCH, "--end-of-options", base, commit], maxBytes: MAX_PATCH_BYTES, cut: true },
    signal,
  );
  if (!patch.ok) return { failure: patch.failure };
  if (patch.isCut) return TOO_LARGE;
  const files = parsePatch(patch.out);
  const fresh = onlyFresh(files);
  const suspects = fresh.filter(mayHaveConflict).map(({ path }) => path);
  const conflicts = await conflictsAmong({ gitDir: store.gitDir, commit, files: suspects }, signal);
  if (hasFailed(conflicts)) return conflicts;
  const { entries } = changes;
  const of = (...statuses: readonly string[]) =>
    entries.filter(({ status }) => statuses.includes(status)).length;
  return {
    commit,
    filesChanged: [...new Set(entries.flatMap(({ paths }) => paths))].toSorted(),
    diff: cutDiff(patch.out),
    linesAdded: changes.linesAdded,
    linesRemoved: changes.linesRemoved,
    filesCreated: of("A", "C"),
    filesModified: of("M", "T", "R"),
    deletedTests: [...deletedTests(entries), ...(await emptiedTests(store, entries, files))],
    disabledTests: disabledIn(fresh),
    forbiddenMarks: [...findMarks(fresh), ...conflictMarks(fresh, conflicts)],
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
const MAX_DIFF_CHARS = 1024 * 1024;

const DIFF = ["diff-tree", "-r", "-M", "-l2000", "--no-ext-diff", "--no-textconv", "--no-color"];
const PATCH = [...DIFF, "-p", "--full-index", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/"];

function cutDiff(patch: string): string {
  if (patch.length <= MAX_DIFF_CHARS) return patch;
  const text = patch.slice(0, MAX_DIFF_CHARS);
  const left = `${patch.length - text.length} characters are left out`;
  return `${text.slice(0, text.lastIndexOf("\n") + 1)}\n[the diff is cut here: ${left}]\n`;
}

/** One status letter; the old and the new path of a rename. */
type Entry = {
  readonly status: string;
  readonly paths: readonly string[];
  readonly oldId: string;
  readonly newId: string;
};

type Changes = {
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
  const args = [...DIFF, "-z", "--raw", "--numstat", "--no-abbrev", "--end-of-options", base, commit];
  const answer = await inStore(store, { args }, signal);
  return answer.ok ? parseChanges(answer.out) : { failure: answer.failure };
}

/** First ":mode mode id id status" and one or two paths, then "added\tremoved\tpath", or two paths after it. */
function parseChanges(out: string): Changes {
  const entries: Entry[] = [];
  let linesAdded = 0;
  let linesRemoved = 0;
  const fields = out.split("\0");
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
  return { entries, linesAdded, linesRemoved };
}

/** A test that was renamed so that no runner finds it counts as deleted. */
const deletedTests = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ status, paths: [from = "", to = ""] }) =>
    isTestFile(from) && (status === "D" || (status === "R" && !isTestFile(to))) ? [from] : [],
  );

async function emptiedTests(
  store: Store,
  entries: readonly Entry[],
  files: readonly PatchFile[],
): Promise<readonly string[]> {
  const removes = new Set(
    files.filter(({ path, removed }) => caseCount(path, removed.join("\n")) > 0).map(({ path }) => path),
  );
  const emptied: string[] = [];
  for (const { status, paths, oldId, newId } of entries) {
    const path = paths.at(-1)!;
    if ((status !== "M" && status !== "R") || !removes.has(path) || !isTestFile(path)) continue;
    const before = caseCount(path, await textOf(store, oldId));
    const after = caseCount(path, await textOf(store, newId));
    if (before > 0 && after === 0) emptied.push(`${path} (all of its ${before} cases)`);
  }
  return emptied;
}

async function textOf(store: Store, id: string): Promise<string> {
  const info = await store.reader.info(id);
  if (info.is !== "found" || info.bytes > MAX_TEST_BYTES) return "";
  const read = await store.reader.contents(id);
  return read.is === "found" ? read.content.toString() : "";
}

const MAX_TEST_BYTES = 4 * 1024 * 1024;
