/** Finds the files, patterns and tests of the repository that matter for a request. */

import type { PlanningData } from "./data.ts";
import type { RepositoryFacts } from "./facts.ts";
import { isTest, nameOf } from "./paths.ts";
import type { ExecutionPlan, PlanTask } from "./plan.ts";

export function contextOf(
  request: string,
  tasks: readonly PlanTask[],
  { facts, data }: { readonly facts: RepositoryFacts; readonly data: PlanningData },
): ExecutionPlan["context"] {
  if (tasks.length === 0) return { files: [], patterns: [], tests: [] };
  return {
    files: relevantFiles(request, tasks, facts, data.limits.maxContextFiles),
    patterns: patternsOf(facts),
    tests: facts.tests.slice(0, MAX_TESTS),
  };
}

const MAX_TESTS = 10;

/** Files that tasks name, then files whose paths share words with the request, most words first. */
function relevantFiles(
  request: string,
  tasks: readonly PlanTask[],
  facts: RepositoryFacts,
  max: number,
): readonly string[] {
  const known = new Set(facts.files);
  const named = new Set(
    tasks.flatMap(({ scope, reads }) => [...scope, ...reads]).filter((path) => known.has(path)),
  );
  const words = wordsOf(request.slice(0, MAX_READ_CHARS));
  const scored: { readonly path: string; readonly shared: number }[] = [];
  for (const path of facts.files) {
    const shared = named.has(path) ? 0 : sharedWords(path, words);
    if (shared > 0) scored.push({ path, shared });
  }
  scored.sort((a, b) => b.shared - a.shared || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return [...named, ...scored.map(({ path }) => path)].slice(0, max);
}

const MAX_READ_CHARS = 5_000;
const MIN_WORD = 4;

/** Words that are too common in requests and paths to connect the two. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "src test tests spec file files code with from that this then into make sure when each every should must need want lib " +
    "index main create build implement update review write read check find docs work they them have does only also more " +
    "some what which after before once type types data code name page user users"
  ).split(" "),
);

function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}[\p{L}\p{N}]+/gu)) {
    if (word.length >= MIN_WORD && !COMMON.has(word)) words.add(singular(word));
  }
  return words;
}

const singular = (word: string) =>
  word.endsWith("s") ? word.replace(/ies$/, "y").replace(/([^s])s$/, "$1") : word;

function sharedWords(path: string, words: ReadonlySet<string>): number {
  if (!mentionsAny(path.toLowerCase(), words)) return 0; // Most paths need not be split.
  const apart = path.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return new Set(apart.split(/[^\p{L}\p{N}]+/u).map(singular)).intersection(words).size;
}

/** Compares the stem, because a plural in "-ies" differs from its singular. */
function mentionsAny(lower: string, words: ReadonlySet<string>): boolean {
  for (const word of words) if (lower.includes(word.endsWith("y") ? word.slice(0, -1) : word)) return true;
  return false;
}

/** How tests and files are organised, as far as the paths show it. */
function patternsOf({ files, languages, testCommand, manifests }: RepositoryFacts): readonly string[] {
  const { tests = [], others = [] } = Object.groupBy(files, (path) => (isTest(path) ? "tests" : "others"));
  const folders = new Set(others.map(folderOf));
  const beside = tests.filter(
    (path) => folders.has(folderOf(path)) && /[._](?:test|spec)\./.test(nameOf(path)),
  ).length;
  return [
    languages.length > 0 ? `Written in ${languages.slice(0, 2).join(" and ")}.` : "",
    tests.length > 0 && beside * 2 > tests.length ? "Tests sit beside the sources." : "",
    tests.length > 0 && beside * 2 <= tests.length ? "Tests have folders of their own." : "",
    testCommand === undefined ? "" : `Tests are run by \`${testCommand}\`.`,
    manifests.length > 1
      ? `Several packages: ${manifests.slice(0, 5).join(", ")}${manifests.length > 5 ? ", …" : ""}.`
      : "",
  ].filter((pattern) => pattern !== "");
}

const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);
