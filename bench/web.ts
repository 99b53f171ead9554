/** Does the web page stay smooth while a large run goes on? In a real browser, 200 events a second. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Event } from "../src/core/log/event.ts";
import { launchBrowser } from "../test/support/browser.ts";
import { makeRun, serve } from "../test/web/place.ts";
import { ROOT } from "../tools/source-files.ts";
import { execute, WORKLOADS } from "./engine-workload.ts";
import type { Bench } from "./measure.ts";

const SIZES = [1_000, 5_000];
const EVENTS_PER_SECOND = 200;
const SECONDS = 10;
const MAX_BLOCK_MS = 100;
const MAX_SCRIPT_KB = 60;

export const webBench: Bench = {
  name: "web",
  run: async () => {
    const rows = [];
    for (const size of SIZES) rows.push(await measure(size));
    const script = gzipSync(readFileSync(path.join(ROOT, "dist/web/main.js"))).length / 1_000;
    return {
      title: `The web page: a simulated run, ${EVENTS_PER_SECOND} events a second for ${SECONDS} s`,
      tables: [
        {
          title: "by tasks",
          rows: rows.map(({ size, paintMs, blockMs, heapMb, idleBlockMs }) => ({
            tasks: size,
            "first tasks shown, ms": paintMs,
            "longest block, ms": blockMs,
            "of a page that does nothing, ms": idleBlockMs,
            "heap, MB": heapMb,
          })),
        },
      ],
      limits: [
        ...rows.map(({ size, blockMs }) => ({
          claim: `the main thread is never blocked for longer, ${size} tasks (ms)`,
          measured: blockMs,
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
      "window.blocks = []; new PerformanceObserver((l) => { for (const e of l.getEntries()) window.blocks.push(e.duration); }).observe({ type: 'longtask', buffered: true });",
    );
    await page.goto(served.address);
    await page.waitForTimeout(2_000);
    const idleBlockMs = await longest(page);
    const started = performance.now();
    await page.goto(`${served.origin}/#/${run.home.record.run}/graph`);
    await page.locator(".node").first().waitFor({ timeout: 60_000 });
    const paintMs = Math.round(performance.now() - started);
    await feed(run.more, events.slice(half, half + EVENTS_PER_SECOND * SECONDS));
    const blockMs = await longest(page);
    const heap = (await page.evaluate("performance.memory?.usedJSHeapSize ?? 0")) as number;
    return { size, paintMs, blockMs, idleBlockMs, heapMb: Math.round(heap / 1_000_000) };
  } finally {
    await browser.close();
  }
}

const longest = async (page: { evaluate(script: string): Promise<unknown> }) =>
  Math.round((await page.evaluate("Math.max(0, ...window.blocks)")) as number);

/** Ten times a second, as an engine writes them. */
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
