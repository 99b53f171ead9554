/** `npm run unit` and `verify`: which tests run? Two processes side by side, since half of them wait for programs. */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";

type End = { readonly code: number; readonly failures: string };

const ALL = ["src/**/*.test.ts", "test/**/*.test.ts", "tools/**/*.test.ts"];

/** Whole runs, installs, and long searches: nobody should wait for them before a small change. */
const LONG: readonly RegExp[] = [
  /^test\/(?:e2e|chaos|histories)\//,
  /^test\/(?:package|recorded-runs|guide|examples|docs)\.test/,
  /^test\/contracts\/(?:agents-acp|calling-agents|workspaces-traps|workspaces-pruned)\.test/,
  /^src\/surfaces\/demo\//,
  /^src\/adapters\/agents\/acp\//,
  /^src\/adapters\/gates\/(?:unrunnable|gate-changes|probe)\.test/,
  /property\.test\.ts$/,
];

/** Of these, one whole run, one that is killed and resumed, and one walk through the command line. */
const SAMPLES: ReadonlySet<string> = new Set([
  "test/e2e/run.test.ts",
  "test/e2e/after-a-kill.test.ts",
  "test/e2e/cli-init.test.ts",
]);

const isQuick = (file: string) => SAMPLES.has(file) || !LONG.some((long) => long.test(file));

const CHOICES: Readonly<Record<string, (file: string) => boolean>> = {
  quick: isQuick,
  rest: (file) => !isQuick(file),
  all: () => true,
};

/** Then options of `node --test`, such as `--test-name-pattern=…`. */
const [choice = "", ...OPTIONS] = process.argv.slice(2);
const isChosen = CHOICES[choice];
if (isChosen === undefined) {
  console.error(`node tools/tests.ts ${Object.keys(CHOICES).join(" | ")} [options of node --test]`);
  process.exit(2);
}

const files = ALL.flatMap((pattern) => globSync(pattern))
  .filter(isChosen)
  .sort();
// Neighbours take about as long as each other.
const halves = [0, 1].map((half) => files.filter((_, i) => i % 2 === half));
const ends = await Promise.all(halves.map(run));
process.exitCode = ends.every(({ code }) => code === 0) ? 0 : 1;
// Said again at the very end: where only the end of a long output is kept, it is what matters.
for (const { code, failures } of ends)
  if (code !== 0) console.log(failures || `a process ended with ${code}`);

/** Within each, one file after the other: a process for each file would take longer to start than most to run. */
function run(tests: readonly string[], place: number): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>();
  const child = spawn(process.execPath, ["--test", "--test-isolation=none", ...OPTIONS, ...tests], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => child.kill(signal));
  const said: Buffer[] = [];
  child.stdout.on("data", (text: Buffer) => {
    said.push(text);
    if (place === 0) process.stdout.write(text);
  });
  child.once("close", (code) => {
    const output = Buffer.concat(said);
    // The second is heard when it is over, so that the two can be read.
    if (place > 0) process.stdout.write(output);
    const start = output.lastIndexOf("✖ failing tests:");
    resolve({ code: code ?? 1, failures: start < 0 ? "" : output.toString("utf8", start) });
  });
  child.once("error", (error) =>
    resolve({ code: 1, failures: `the tests could not be started: ${error.message}` }),
  );
  return promise;
}
