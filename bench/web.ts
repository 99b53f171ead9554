/** Measures in a real browser whether the web page stays responsive during a large run, at 200 events a second. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Event } from "../src/core/log/event.ts";
import { launchBrowser } from "../test/support/browser.ts";
import { makeRun, serve } from "../test/web/place.ts";
import { MAX_SCRIPT_KB } from "../tools/build-web.ts";
import { ROOT } from "../tools/source-files.ts";
import { execute, WORKLOADS } from "./engine-workload.ts";
import type { Bench } from "./measure.ts";

const SIZES = [1_000, 5_000];
const EVENTS_PER_SECOND = 200;
/** The seconds spent in each view of the run. */
const SECONDS = 3;
const VIEWS = ["graph", "timeline", "tasks", "landing", "health", "cost", "log", "graph/t.1"];
const MAX_BLOCK_MS = 100;

export const webBench: Bench = {
  name: "web",
  run: async () => {
    const rows = [];
    for (const size of SIZES) rows.push(await measure(size));
    const script = gzipSync(readFileSync(path.join(ROOT, "dist/web/main.js"))).length / 1_000;
    return {
      title: `The web page: a simulated run, ${EVENTS_PER_SECOND} events a second, ${SECONDS} s in each view`,
      tables: [
        {
          title: "by tasks; a block is shorter by processor time where other programs use the machine, too",
          rows: rows.map(({ size, paintMs, block, cpuMs, heapMb }) => ({
            tasks: size,
            "first paint, ms": paintMs,
            "longest block, ms": block.ms,
            "in view": block.view,
            "by processor time, ms": cpuMs,
            "heap, MB": heapMb,
          })),
        },
      ],
      limits: [
        ...rows.map(({ size, block }) => ({
          claim: `the main thread is never blocked for longer, ${size} tasks (ms)`,
          measured: block.ms,
          max: MAX_BLOCK_MS,
        })),
        { claim: "script of the page, gzipped (kB)", measured: script, max: MAX_SCRIPT_KB },
      ],
    };
  },
};

async function measure(size: number) {
  const { events } = await execute(WORKLOADS["layers of 100"]!(size, 1), 50);
  const half = Math.floor(events.length / 2);
  await using run = await makeRun("Build it", true);
  await using served = await serve(run.project);
  await run.more(events.slice(0, half));
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
    await page.addInitScript(
      "window.blocks = []; new PerformanceObserver((l) => { for (const e of l.getEntries()) window.blocks.push({ ms: Math.round(e.duration), view: location.hash.split('/').slice(2).join('/') }); }).observe({ type: 'longtask', buffered: true });",
    );
    await page.goto(served.address);
    await page.getByRole("link", { name: run.home.record.run }).waitFor();
    await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline", "__metadata"] });
    let paintMs: number | undefined;
    let at = half;
    for (const view of VIEWS) {
      const started = performance.now();
      await page.goto(`${served.origin}/#/${run.home.record.run}/${view}`);
      await page
        .locator(view === "graph" ? ".node" : "main section.head ~ section")
        .first()
        .waitFor();
      paintMs ??= Math.round(performance.now() - started);
      await feed(run.more, events.slice(at, at + EVENTS_PER_SECOND * SECONDS));
      at += EVENTS_PER_SECOND * SECONDS;
    }
    const trace = await browser.stopTracing();
    const blocks = (await page.evaluate("window.blocks")) as { ms: number; view: string }[];
    const block = blocks.reduce((most, one) => (one.ms > most.ms ? one : most), { ms: 0, view: "" });
    const heap = (await page.evaluate("performance.memory?.usedJSHeapSize ?? 0")) as number;
    return {
      size,
      paintMs: paintMs ?? 0,
      block,
      cpuMs: longestTaskMs(trace),
      heapMb: Math.round(heap / 1e6),
    };
  } finally {
    await browser.close();
  }
}

/** The longest task of the page's main thread, in processor time. */
function longestTaskMs(trace: Buffer): number {
  type Entry = { name: string; pid: number; tid: number; tdur?: number; args: { name?: string } };
  const { traceEvents } = JSON.parse(trace.toString("utf8")) as { traceEvents: readonly Entry[] };
  const threads = new Set(
    traceEvents.flatMap(({ name, pid, tid, args }) =>
      name === "thread_name" && args.name === "CrRendererMain" ? [`${pid} ${tid}`] : [],
    ),
  );
  return traceEvents.reduce(
    (most, { pid, tid, tdur = 0 }) => (threads.has(`${pid} ${tid}`) ? Math.max(most, tdur / 1_000) : most),
    0,
  );
}

/** Writes ten times a second, as an engine does. */
async function feed(
  more: (events: readonly Event[]) => Promise<void>,
  events: readonly Event[],
): Promise<void> {
  const part = EVENTS_PER_SECOND / 10;
  for (let at = 0; at < events.length; at += part) {
    await more(events.slice(at, at + part));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
