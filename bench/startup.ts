/** Measures how long commands take in the packed package and in the checkout, beside an empty Node program. */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../tools/source-files.ts";
import { type Bench, type BenchForm, type BenchReport, median } from "./measure.ts";

export const startupBench: Bench = { name: "startup", run };

const ROUNDS = 21;
const SHORT_ROUNDS = 5;
const REQUEST = "Build user auth with login, logout, register";
/** Uses all parts of planning by rules: an order, files, a limit. */
const LONG_REQUEST =
  "First refactor src/part-1/file-1.ts and src/part-2/file-2.ts to use one parser. Then add search with filters, " +
  "sorting and paging. Finally, make the tests pass. Don't change the public API.";

type Timed = { readonly name: string; readonly args: readonly string[]; readonly max: number };

/**
 * `max`: the largest multiple of `node -e 0`, which takes about 40 ms. A checkout strips types, and may take twice as
 * long.
 */
const COMMANDS: readonly Timed[] = [
  { name: "--version", args: ["--version"], max: 1.6 },
  { name: "plan --by rules", args: ["plan", REQUEST, "--by", "rules"], max: 3 },
  { name: "plan --by rules --json", args: ["plan", REQUEST, "--by", "rules", "--json"], max: 3 },
  { name: "plan --by rules (a paragraph)", args: ["plan", LONG_REQUEST, "--by", "rules"], max: 3 },
  { name: "status", args: ["status"], max: 6 },
];

const FLOOR: Timed = { name: "node -e 0", args: ["-e", "0"], max: Number.POSITIVE_INFINITY };

type Times = { readonly wall: number[]; readonly cpu: number[] };

async function run(form: BenchForm = "whole"): Promise<BenchReport> {
  const rounds = form === "short" ? SHORT_ROUNDS : ROUNDS;
  const home = await mkdtemp(path.join(tmpdir(), "skein-startup-"));
  try {
    const packed = await unpackedIn(home);
    const checkout = path.join(ROOT, "bin/skein");
    await makeRun(home, checkout);
    const of = (bin: string, where: string, factor: number) =>
      COMMANDS.map(({ name, args, max }) => ({
        name: `${where}: ${name}`,
        args: [bin, ...args],
        max: max * factor,
      }));
    const all = [FLOOR, ...of(packed, "package", 1), ...of(checkout, "checkout", 2)];
    const times = new Map<Timed, Times>(all.map((timed) => [timed, { wall: [], cpu: [] }]));
    // The first round is not counted: in a checkout it fills the compile cache, like a developer's first command.
    for (let round = 0; round <= rounds; round += 1) {
      for (const timed of all) {
        const { wall, cpu } = await timeOf(timed.args, home);
        if (round === 0) continue;
        times.get(timed)!.wall.push(wall);
        times.get(timed)!.cpu.push(cpu);
      }
    }
    return report(times, rounds);
  } finally {
    await rm(home, { recursive: true });
  }
}

/** Unpacks the package beside this checkout's dependencies; returns the path of its command. */
async function unpackedIn(home: string): Promise<string> {
  execFileSync("npm", ["run", "-s", "build"], { cwd: ROOT });
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", home];
  const pack = execFileSync("npm", args, { cwd: ROOT }).toString();
  const [{ filename }] = JSON.parse(pack.slice(pack.search(/^\[/m))) as [{ filename: string }];
  execFileSync("tar", ["-xzf", path.join(home, filename), "-C", home]);
  await symlink(path.join(ROOT, "node_modules"), path.join(home, "package/node_modules"));
  return path.join(home, "package/bin/skein");
}

/** Makes a repository of 300 files with a failed run, so that `status` has something to show. */
async function makeRun(home: string, bin: string): Promise<void> {
  const at = { cwd: repositoryIn(home), env: environmentIn(home), stdio: "ignore" } as const;
  await makeFiles(at.cwd);
  const person = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
  execFileSync("git", ["init", "-q"], at);
  execFileSync("git", ["add", "."], at);
  execFileSync("git", [...person, "commit", "-q", "-m", "begin"], at);
  const sets = ["planner=none", "gate=none", "retry.maxFailed=1"].flatMap((set) => ["--set", set]);
  const run = spawnSync(process.execPath, [bin, "run", "nothing", "--agent", "true", ...sets], at);
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
});

/** Milliseconds by the clock, and of processor time in all started processes. */
async function timeOf(args: readonly string[], home: string): Promise<{ wall: number; cpu: number }> {
  const options = { cwd: repositoryIn(home), env: environmentIn(home), timeout: 60_000 };
  // Only a shell reports the processor time of its children.
  const timed = 'TIMEFORMAT="%3R %3U %3S"; time "$0" "$@" >/dev/null 2>&1';
  const { stderr } = await promisify(execFile)("bash", ["-c", timed, process.execPath, ...args], options);
  const [wall = 0, user = 0, system = 0] = stderr.trim().split(" ").map(Number);
  return { wall: wall * 1000, cpu: (user + system) * 1000 };
}

function report(times: ReadonlyMap<Timed, Times>, rounds: number): BenchReport {
  const medians = [...times].map(([timed, { wall, cpu }]) => ({
    timed,
    wall: median(wall),
    cpu: median(cpu),
  }));
  const floor = medians[0]!;
  const rows = medians.map(({ timed, wall, cpu }) => ({
    command: timed.name,
    ms: wall,
    "of node -e 0": wall / floor.wall,
    "cpu ms": cpu,
    "of its cpu": cpu / floor.cpu,
  }));
  return {
    title: "startup: from the command to its end",
    tables: [{ title: `medians of ${rounds} rounds`, rows }],
    limits: medians.slice(1).map(({ timed, wall }) => ({
      claim: `${timed.name}, of node -e 0`,
      measured: wall / floor.wall,
      max: timed.max,
    })),
  };
}
