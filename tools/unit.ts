/** `npm run unit`: all tests, in two processes side by side, since half of them wait for programs that they started. */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";

type End = { readonly code: number; readonly failures: string };

const ALL = ["src/**/*.test.ts", "test/**/*.test.ts", "tools/**/*.test.ts"];
/** Whole runs: about half of the time. */
const RUNS = /^test\/e2e\//;

/** Of `node --test`, such as `-- --test-name-pattern=…`. */
const OPTIONS = process.argv.slice(2);

const files = ALL.flatMap((pattern) => globSync(pattern)).sort();
const halves = [files.filter((file) => RUNS.test(file)), files.filter((file) => !RUNS.test(file))];
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
