/** Measures a whole run, with instant agents and without a gate, beside the git commands that its tasks need. */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startedGits } from "../src/adapters/git/git.ts";
import { createRun } from "../src/app/begin-run.ts";
import { followRun } from "../src/app/follow-run.ts";
import { partsOf } from "../src/compose/parts.ts";
import { openProject } from "../src/compose/project.ts";
import { readConfig } from "../src/config/index.ts";
import { hasFailed } from "../src/core/result.ts";
import { makeBenchRepository, plainGit } from "./landing-repository.ts";
import { type Bench, type BenchReport, median } from "./measure.ts";

export const runBench: Bench = { name: "run", run };

const SIZES = [1, 20, 200];
const FILES = 500;
/** The number of tasks that the claim is about. */
const CLAIMED = 20;
const MAX_OF_FLOOR = 3;
const FLOOR_TASKS = 20;
const ROUNDS = 3;

async function run(): Promise<BenchReport> {
  const floors: number[] = [];
  const totals = new Map<number, number[]>(SIZES.map((tasks) => [tasks, []]));
  const gits = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    floors.push(await floorMs());
    for (const tasks of SIZES) {
      const { ms, processes } = await runMs(tasks);
      totals.get(tasks)!.push(ms);
      gits.set(tasks, processes);
    }
  }
  const floor = median(floors);
  const rows = SIZES.map((tasks) => {
    const ms = median(totals.get(tasks)!);
    return {
      tasks: String(tasks),
      "run, ms": ms,
      "ms a task": ms / tasks,
      "git floor, ms a task": floor,
      "run of floor": ms / (tasks * floor),
      "git processes a task": gits.get(tasks)! / tasks,
    };
  });
  const title =
    `${FILES} files, 8 workers; floor: checkout, clean, add, commit, fetch, diff, merge-tree, commit-tree and ` +
    `update-ref of one task, one after the other; medians of ${ROUNDS} rounds`;
  const claimed = median(totals.get(CLAIMED)!) / (CLAIMED * floor);
  return {
    title: "run: instant tasks from a goal to the closed run, gate off",
    tables: [{ title, rows }],
    limits: [{ claim: `a run of ${CLAIMED} tasks of its git floor`, measured: claimed, max: MAX_OF_FLOOR }],
  };
}

/** Milliseconds per task for the git commands that each task needs, in an existing clone. */
async function floorMs(): Promise<number> {
  await using repository = await makeBenchRepository(FILES, 0);
  const { folder, git } = repository;
  const clone = path.join(folder, "..", "clone");
  await git("clone", "-q", "--shared", "--no-checkout", ".", clone);
  let tip = await git("rev-parse", "main");
  await git("branch", "target", tip);
  const times: number[] = [];
  for (let i = 0; i < FLOOR_TASKS; i += 1) {
    const start = performance.now();
    await plainGit(clone, ["checkout", "-q", "--detach", "--force", tip]);
    await plainGit(clone, ["clean", "-q", "-ffdx"]);
    await writeFile(path.join(clone, `task-${i}.txt`), `${i}\n`);
    await plainGit(clone, ["add", "-A"]);
    await plainGit(clone, ["commit", "-q", "-m", `task ${i}`]);
    await plainGit(folder, ["fetch", "-q", "--no-write-fetch-head", clone, `HEAD:refs/heads/task-${i}`]);
    await plainGit(folder, ["diff", "--numstat", tip, `task-${i}`]);
    const tree = await plainGit(folder, ["merge-tree", "--write-tree", tip, `task-${i}`]);
    const commit = await plainGit(folder, ["commit-tree", "-p", tip, "-p", `task-${i}`, "-m", "land", tree]);
    await plainGit(folder, ["update-ref", "refs/heads/target", commit, tip]);
    times.push(performance.now() - start);
    tip = commit;
  }
  return median(times);
}

/** A program that does its task at once; as a planner it prints the plan file beside it. */
const AGENT = `#!/bin/sh
if [ "$SKEIN_KIND" = plan ]; then
  if [ "$SKEIN_TURN" = 1 ]; then cat "$(dirname "$0")/plan.json"; else echo '{"scratchpad":"","tasks":[]}'; fi
else
  echo "$SKEIN_TASK" > "task-$SKEIN_TASK.txt"
  echo '{"status":"complete","summary":"done"}'
fi
`;

async function runMs(tasks: number): Promise<{ readonly ms: number; readonly processes: number }> {
  await using repository = await makeBenchRepository(FILES, 0);
  const folder = await mkdtemp(path.join(tmpdir(), "skein-bench-"));
  try {
    const agent = path.join(folder, "agent.sh");
    await writeFile(agent, AGENT, { mode: 0o755 });
    await writeFile(path.join(folder, "plan.json"), planOf(tasks));
    const config = configOf(agent, tasks);
    const env = { ...process.env, SKEIN_STATE_DIR: path.join(folder, "state") };
    const gits = startedGits();
    const start = performance.now();
    const signal = AbortSignal.timeout(MAX_MS);
    const project = ok(await openProject(repository.folder, env, signal));
    const base = project.located.head;
    const parts = partsOf(project, env);
    const home = ok(await createRun({ goal: "many small things", base, config }, parts));
    const live = ok(await followRun({ home, config }, parts, signal));
    const end = await live.ended;
    const ms = performance.now() - start;
    if (end.is !== "closed" || end.state.closed?.how !== "done") throw new Error(JSON.stringify(end));
    verify(repository.folder, home.record.run, tasks);
    return { ms, processes: startedGits() - gits };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

const MAX_MS = 10 * 60_000;

const planOf = (tasks: number) =>
  JSON.stringify({
    scratchpad: "",
    tasks: Array.from({ length: tasks }, (_, i) => ({
      id: `n${i + 1}`,
      description: `write task ${i + 1}`,
      acceptance: "it is there",
      scope: [`task-t.${i + 1}.txt`],
    })),
  });

function configOf(agent: string, tasks: number) {
  const flags = { agent: [agent], gate: "none", replanAfter: tasks + 1 };
  const read = readConfig({ env: {}, sets: [], flags });
  if (!("config" in read)) throw new Error(JSON.stringify(read.problems));
  return read.config;
}

function ok<T extends object>(result: T): Exclude<T, { readonly failure: unknown }> {
  if (hasFailed(result)) throw new Error(result.failure.message);
  return result as Exclude<T, { readonly failure: unknown }>;
}

/** A run that landed less would be faster because of that. */
function verify(folder: string, run: string, tasks: number): void {
  const files = execFileSync("git", ["ls-tree", "--name-only", `skein/${run}/target`], {
    cwd: folder,
    encoding: "utf8",
  });
  const landed = files.split("\n").filter((name) => name.startsWith("task-")).length;
  if (landed !== tasks) throw new Error(`${landed} of ${tasks} tasks are in the target`);
}
