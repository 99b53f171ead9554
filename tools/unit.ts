/** `npm run unit`: all tests, in two processes side by side, since half of them wait for programs that they started. */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";

const ALL = ["src/**/*.test.ts", "test/**/*.test.ts", "tools/**/*.test.ts"];
/** Whole runs: about half of the time. */
const RUNS = /^test\/e2e\//;

/** Of `node --test`, such as `-- --test-name-pattern=…`. */
const OPTIONS = process.argv.slice(2);

const files = ALL.flatMap((pattern) => globSync(pattern)).sort();
const halves = [files.filter((file) => RUNS.test(file)), files.filter((file) => !RUNS.test(file))];
const codes = await Promise.all(halves.map(run));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;

/** Within each, one file after the other: a process for each file would take longer to start than most to run. */
function run(tests: readonly string[], place: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const child = spawn(process.execPath, ["--test", "--test-isolation=none", ...OPTIONS, ...tests], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => child.kill(signal));
  const held: Buffer[] = [];
  // The second is heard when it is over, so that the two can be read.
  child.stdout.on(
    "data",
    (text: Buffer) => void (place === 0 ? process.stdout.write(text) : held.push(text)),
  );
  child.once("close", (code) => {
    if (place > 0) process.stdout.write(Buffer.concat(held));
    resolve(code ?? 1);
  });
  child.once("error", (error) => {
    console.error(`the tests could not be started: ${error.message}`);
    resolve(1);
  });
  return promise;
}
