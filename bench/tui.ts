/** Measures the processor time of the terminal view during a large run, and what viewers cost the engine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openTerminal, type TestTerminal } from "../test/support/terminal.ts";
import { type MadeRun, makeRun } from "../test/web/place.ts";
import { ROOT } from "../tools/source-files.ts";
import { execute, WORKLOADS } from "./engine-workload.ts";
import { type Bench, median } from "./measure.ts";

const SIZES = [1_000, 5_000];
const EVENTS_PER_SECOND = 200;
const SECONDS = 10;
const VIEWERS = 3;
const ROUNDS = 3;
const MAX_OF_FOLD = 20;
const MAX_OF_ALONE = 1.1;

export const tuiBench: Bench = {
  name: "tui",
  run: async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "skein-bench-"));
    try {
      const views = [];
      for (const size of SIZES) views.push({ size, ...(await viewAndFold(size, folder)) });
      const engine = await engineWithViewers(SIZES[0]!, folder);
      return {
        title: `The terminal view: a simulated run, ${EVENTS_PER_SECOND} events a second for ${SECONDS} s`,
        tables: [
          {
            title: "processor time of one viewer, 80 columns and 24 rows",
            rows: views.map(({ size, drawMs, foldMs }) => ({
              tasks: size,
              "view, ms": drawMs,
              "fold alone, ms": foldMs,
              "view of fold": drawMs / foldMs,
              "view, % of a core": drawMs / (SECONDS * 10),
            })),
          },
          {
            title: `processor time of the engine, ${SIZES[0]} tasks; medians of ${ROUNDS} rounds`,
            rows: [
              {
                "alone, ms": engine.alone,
                [`${VIEWERS} viewers, ms`]: engine.watched,
                "watched of alone": engine.watched / engine.alone,
              },
            ],
          },
        ],
        limits: [
          ...views.map(({ size, drawMs, foldMs }) => ({
            claim: `the view of a bare fold, ${size} tasks`,
            measured: drawMs / foldMs,
            max: MAX_OF_FOLD,
          })),
          {
            claim: `the engine with ${VIEWERS} viewers of the engine alone`,
            measured: engine.watched / engine.alone,
            max: MAX_OF_ALONE,
          },
        ],
      };
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  },
};

/** Both follow the same log at the same time. */
async function viewAndFold(size: number, folder: string) {
  const { events } = await execute(WORKLOADS["layers of 100"]!(size, 1), 50);
  const half = Math.floor(events.length / 2);
  await using run = await makeRun("Build it", true);
  await run.more(events.slice(0, half));
  await using view = watch(run, folder);
  await view.shows(/Landing: /);
  const file = path.join(ROOT, "bench/tui-fold.ts");
  const fold = spawn(process.execPath, [file, run.project.located.top, run.home.record.run, String(half)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: measured(run, folder),
  });
  try {
    await once(fold.stdout, "data");
    const both = [view.pty.pid, fold.pid!];
    const before = await cpuOf(both, folder, 1);
    const part = EVENTS_PER_SECOND / 10;
    for (let at = half; at < half + EVENTS_PER_SECOND * SECONDS; at += part) {
      await run.more(events.slice(at, at + part));
      await sleep(100);
    }
    const after = await cpuOf(both, folder, 2);
    return { drawMs: after[0]! - before[0]!, foldMs: after[1]! - before[1]! };
  } finally {
    fold.kill();
  }
}

/** In turns, so that other load affects both. */
async function engineWithViewers(size: number, folder: string) {
  const alone: number[] = [];
  const watched: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await engineMs(size, folder, 0));
    watched.push(await engineMs(size, folder, VIEWERS));
  }
  return { alone: median(alone), watched: median(watched) };
}

async function engineMs(size: number, folder: string, viewers: number): Promise<number> {
  await using run = await makeRun("Build it", true);
  await using attached = new AsyncDisposableStack();
  for (let i = 0; i < viewers; i += 1) await attached.use(watch(run, folder)).shows(/Reading the log/);
  const args = [run.project.located.top, run.home.record.run, size, EVENTS_PER_SECOND, SECONDS].map(String);
  const engine = spawn(process.execPath, [path.join(ROOT, "bench/tui-engine.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: measured(run, folder),
  });
  const [said] = (await once(engine.stdout, "data")) as [Buffer];
  const { cpuMs, events } = JSON.parse(said.toString()) as { cpuMs: number; events: number };
  if (events < EVENTS_PER_SECOND * SECONDS * 0.9) throw new Error(`only ${events} events were written`);
  return cpuMs;
}

const watch = (run: MadeRun, folder: string): TestTerminal =>
  openTerminal([process.execPath, path.join(ROOT, "bin/skein"), "watch", run.home.record.run], {
    folder: run.project.located.top,
    env: measured(run, folder),
  });

const measured = (run: MadeRun, folder: string): NodeJS.ProcessEnv => ({
  ...process.env,
  SKEIN_STATE_DIR: run.stateDir,
  BENCH_CPU_FOLDER: folder,
  NODE_OPTIONS: `--import=${path.join(ROOT, "bench/tui-cpu-hook.ts")}`,
});

/** The processor time that each process reports, at its `time`th request. */
async function cpuOf(pids: readonly number[], folder: string, time: number): Promise<readonly number[]> {
  for (const pid of pids) process.kill(pid, "SIGUSR2");
  const files = pids.map((pid) => path.join(folder, `${pid}-${time}`));
  while (!files.every((file) => existsSync(file))) await sleep(20);
  return files.map((file) => Number(readFileSync(file, "utf8")));
}
