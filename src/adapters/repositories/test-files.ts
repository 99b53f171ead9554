/** Tells test files from others by their names, as the runners of many languages do. */

export function isTestFile(path: string): boolean {
  const folders = path.split("/");
  const name = folders.pop()!;
  if (folders.some((folder) => NO_TESTS.has(folder.toLowerCase())) || !CODE.test(name)) return false;
  if (isNamedAsTest(path)) return true;
  const isInside = folders.some((folder) => TEST_FOLDERS.has(folder.toLowerCase()));
  return isInside && !BESIDE_TESTS.test(name);
}

/** By the file's own name, in any folder. */
export const isNamedAsTest = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return NAMED.some((pattern) => pattern.test(name));
};

/** Also helpers of tests: everything in a folder of tests. */
export const isAmongTests = (path: string): boolean =>
  isNamedAsTest(path) ||
  path
    .split("/")
    .slice(0, -1)
    .some((folder) => TEST_FOLDERS.has(folder.toLowerCase()));

const TEST_FOLDERS = new Set(["test", "tests", "__tests__", "spec", "specs", "e2e"]);

/** Folders of data that tests read, or of third-party code. */
const NO_TESTS = new Set([
  ...["fixtures", "__fixtures__", "fixture", "testdata", "__snapshots__", "__mocks__", "mocks", "data"],
  ...["support", "helpers", "utils", "util", "node_modules", "vendor", "third_party"],
]);

const BESIDE_TESTS =
  /^(?:__init__|conftest|setup|teardown|helpers?|utils?|common|index|mod|main)\b|[._-](?:helpers?|utils?|fixtures?|setup)\./i;

const CODE =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|scala|groovy|cs|fs|vb|rb|php|swift|m|mm|c|cc|cpp|cxx|dart|exs?|erl|hs|lua|pl|t|bats|sh|clj|cljs|elm|ml|zig|jl|r|vue|svelte|feature)$/i;

const NAMED: readonly RegExp[] = [
  /[._-](?:test|tests|tst|spec|specs|e2e|cy)(?:-d)?\.[^.]+$/i, // a.test.ts, a_test.go, a_spec.rb, a-test.js; a.test-d.ts and a.tst.ts test types
  /^tests?[_.-].*\.(?:py|[cm]?[jt]s|rb|php|lua|c|cc|cpp|r|jl)$/i, // test_a.py
  /^tests?\.[^.]+$/i, // tests.py, test.js
  /[A-Za-z0-9](?:Test|Tests|TestCase|Spec|Specs|IT)\.(?:java|kts?|scala|groovy|cs|fs|vb|php|swift|mm?|hs)$/,
  /^Test[A-Z].*\.(?:java|kt|cs)$/,
  /\.(?:t|bats|feature)$/,
];
