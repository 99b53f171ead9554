/** How long is one kept waiting before a command says something? Against `node -e 0`, in turns, on the same Node. */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Bench, type BenchReport, median } from "./measure.ts";

export const startupBench: Bench = { name: "startup", run };

const ROUNDS = 15;
/** Of `node -e 0`, some 40 ms. What asks git and reads a log takes more; a third of it is for the settings. */
const MAX_OF_FLOOR: Readonly<Record<string, number>> = {
  "skein --version": 4,
  "skein plan --by rules": 4,
  "skein plan --by rules --json": 4,
  "skein plan --by rules (a paragraph)": 4,
  "skein status": 10,
};

const BIN = fileURLToPath(new URL("../bin/skein", import.meta.url));
const REQUEST = "Build user auth with login, logout, register";
/** Some of everything that a plan is made by: an order, files, a constraint. */
const LONG_REQUEST =
  "First refactor src/part-1/file-1.ts and src/part-2/file-2.ts to use one parser. Then add search with filters, " +
  "sorting and paging. Finally, make the tests pass. Don't change the public API.";

const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ["node -e 0", ["-e", "0"]],
  ["skein --version", [BIN, "--version"]],
  ["skein plan --by rules", [BIN, "plan", REQUEST, "--by", "rules"]],
  ["skein plan --by rules --json", [BIN, "plan", REQUEST, "--by", "rules", "--json"]],
  ["skein plan --by rules (a paragraph)", [BIN, "plan", LONG_REQUEST, "--by", "rules"]],
  ["skein status", [BIN, "status"]],
];

async function run(): Promise<BenchReport> {
  const home = await mkdtemp(path.join(tmpdir(), "skein-startup-"));
  try {
    await makeRun(home);
    const times = new Map<string, number[]>(COMMANDS.map(([name]) => [name, []]));
    // The first round fills the compile cache, as a user's first command does.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [name, args] of COMMANDS) {
        const ms = await timeOf(args, home);
        if (round > 0) times.get(name)!.push(ms);
      }
    }
    return report(new Map([...times].map(([name, all]) => [name, median(all)])));
  } finally {
    await rm(home, { recursive: true });
  }
}

/** A repository of 300 files with a run that came to nothing, so that there is something to tell. */
async function makeRun(home: string): Promise<void> {
  const at = { cwd: repositoryIn(home), env: environmentIn(home), stdio: "ignore" } as const;
  await makeFiles(at.cwd);
  const person = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
  execFileSync("git", ["init", "-q"], at);
  execFileSync("git", ["add", "."], at);
  execFileSync("git", [...person, "commit", "-q", "-m", "begin"], at);
  const sets = ["planner=none", "gate=none", "retry.maxFailed=1"].flatMap((set) => ["--set", set]);
  const run = spawnSync(process.execPath, [BIN, "run", "nothing", "--agent", "true", ...sets], at);
  if (run.status !== 1) throw new Error(`the run ended with ${run.status}, not with 1`);
}

async function makeFiles(folder: string): Promise<void> {
  for (let part = 0; part < 10; part += 1) {
    const at = path.join(folder, part < 8 ? `src/part-${part}` : `test/part-${part}`);
    await mkdir(at, { recursive: true });
    for (let file = 0; file < 30; file += 1)
      await writeFile(path.join(at, `file-${file}.ts`), `export const one = ${file};\n`);
  }
  await writeFile(path.join(folder, "package.json"), JSON.stringify({ scripts: { test: "node --test" } }));
}

const repositoryIn = (home: string) => path.join(home, "repository");

const environmentIn = (home: string) => ({
  PATH: process.env["PATH"],
  HOME: home,
  SKEIN_STATE_DIR: path.join(home, "state"),
  NODE_COMPILE_CACHE: path.join(home, "cache"),
});

function report(medians: ReadonlyMap<string, number>): BenchReport {
  const floor = medians.get("node -e 0")!;
  const rows = [...medians].map(([command, ms]) => ({ command, ms, "of node -e 0": ms / floor }));
  return {
    title: "startup: from the command to its end, with a warm compile cache",
    tables: [{ title: `medians of ${ROUNDS} rounds`, rows }],
    limits: rows.slice(1).map((row) => ({
      claim: `${row.command} of node -e 0`,
      measured: row["of node -e 0"],
      max: MAX_OF_FLOOR[row.command]!,
    })),
  };
}

function timeOf(args: readonly string[], home: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const start = performance.now();
  const at = { cwd: repositoryIn(home), env: environmentIn(home), timeout: 60_000 };
  execFile(process.execPath, args, at, (error) =>
    error ? reject(error) : resolve(performance.now() - start),
  );
  return promise;
}
