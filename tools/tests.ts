/** `npm run unit`, `verify` and `verify:rest`: chooses the tests to run, and divides them between two processes. */
import { globSync } from "node:fs";
import path from "node:path";
import { ROOT } from "./source-files.ts";
import { runTests, type TestsEnd } from "./test-process.ts";

const ALL = ["src/**/*.test.ts", "test/**/*.test.ts", "tools/**/*.test.ts", "bench/**/*.test.ts"];

/** Whole runs, installs and interactive programs, which take too long to run before each small change. */
const LONG: readonly RegExp[] = [
  /^test\/(?:e2e|chaos|fleet|histories|web|tui)\//,
  /^test\/(?:package|recorded-runs|guide|examples|docs|schemas)\.test/,
  /^test\/contracts\/(?:agents-acp|calling-agents|workspaces-traps|workspaces-pruned)\.test/,
  /^src\/surfaces\/demo\//,
  /^src\/adapters\/agents\/acp\//,
  /^src\/adapters\/gates\/(?:unrunnable|gate-changes|probe)\.test/,
];

/** Samples of these: one whole run, one that is killed and resumed, and one walk through the command line. */
const SAMPLES: ReadonlySet<string> = new Set([
  "test/e2e/run.test.ts",
  "test/e2e/after-a-kill.test.ts",
  "test/e2e/cli-init.test.ts",
]);

/** Quick files with more cases than `npm test` tries: test/support/cases.ts. */
const MORE_CASES = /property\.test\.ts$|^test\/simulation\/simulation\.test/;

const isLong = (file: string) => LONG.some((long) => long.test(file));
const isQuick = (file: string) => SAMPLES.has(file) || !isLong(file);

const CHOICES: Readonly<Record<string, (file: string) => boolean>> = {
  quick: isQuick,
  rest: (file) => !isQuick(file) || MORE_CASES.test(file),
  all: () => true,
};

/** The number of files per process. A start takes 1 s; a batch that is started last should end soon. */
const LONG_AT_ONCE = 4;
const QUICK_AT_ONCE = 40;
const LANES = 2;

/** The choice, then options of `node --test`, such as `--test-name-pattern=…`. */
const [choice = "", ...OPTIONS] = process.argv.slice(2);
const isChosen = CHOICES[choice];
if (isChosen === undefined) {
  console.error(`node tools/tests.ts ${Object.keys(CHOICES).join(" | ")} [options of node --test]`);
  process.exit(2);
}

const ENV = {
  ...process.env,
  TEST_CASES: choice === "quick" ? "few" : "all",
  NODE_COMPILE_CACHE: path.join(ROOT, "node_modules/.cache/skein-tests"),
};
const files = ALL.flatMap((pattern) => globSync(pattern))
  .filter(isChosen)
  .sort();
// The long files first, so that both lanes end with short ones, at about the same time.
const batches = [
  ...inBatches(files.filter(isLong), LONG_AT_ONCE),
  ...inBatches(
    files.filter((file) => !isLong(file)),
    QUICK_AT_ONCE,
  ),
];
const ends: TestsEnd[] = [];
await Promise.all(Array.from({ length: LANES }, runLane));
process.exitCode = ends.every(({ code }) => code === 0) ? 0 : 1;
// Printed again at the end: if only the end of a long output is kept, it has the failures.
for (const { code, failures } of ends)
  if (code !== 0) console.log(failures || `a process ended with ${code}`);

async function runLane(): Promise<void> {
  for (let batch = batches.shift(); batch !== undefined; batch = batches.shift())
    ends.push(await runTests(batch, { options: OPTIONS, env: ENV }));
}

function inBatches(all: readonly string[], size: number): readonly (readonly string[])[] {
  const count = Math.ceil(all.length / size);
  // Dealt in turn, because neighbours in the alphabet take about equally long.
  return Array.from({ length: count }, (_, batch) => all.filter((_, i) => i % count === batch));
}
