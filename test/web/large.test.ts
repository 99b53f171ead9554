/** Tests a run of a thousand tasks in a real browser: graph, timeline, table and log, by mouse, keys and touch. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { execute, WORKLOADS } from "../../bench/engine-workload.ts";
import { jobId } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import { launchBrowser } from "../support/browser.ts";
import { complaints } from "./axe.ts";
import { openPage, VIEWS } from "./browse.ts";
import { type MadeRun, makeRun, type Served, serve } from "./place.ts";

const LIMIT = { timeout: 60_000 };
const HOUR = 3_600_000;

type Large = AsyncDisposable & { readonly made: MadeRun; readonly served: Served };

/** The first part of a simulated run, ending now; it was paused for two hours, which interrupted jobs under way. */
async function largeRun(size: number): Promise<Large> {
  const { events } = await execute(WORKLOADS["layers of 100"]!(size, 1), 50);
  const half = events.slice(0, Math.floor(events.length * 0.6));
  const middle = Math.floor(half.length / 2);
  const shift = Date.now() - half.at(-1)!.at;
  const pausedAt = half[middle - 1]!.at + shift - 2 * HOUR;
  const begun = new Set(
    half.slice(0, middle).flatMap((e) => (e.type === "job.started" ? [jobId(e.job)] : [])),
  );
  const made = await makeRun("Build it", true);
  await made.more([
    ...half.slice(0, middle).map((event) => ({ ...event, at: event.at + shift - 2 * HOUR }) as Event),
    { type: "run.paused", at: pausedAt },
    { type: "run.resumed", at: pausedAt + 2 * HOUR },
    ...half.slice(middle).map((event): Event => {
      const isCut = event.type === "job.ended" && begun.has(event.job);
      return { ...event, at: event.at + shift, ...(isCut && { how: "interrupted" }) } as Event;
    }),
  ]);
  const served = await serve(made.project);
  return {
    made,
    served,
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}

describe("a run of many tasks on the page", () => {
  let browser: Browser;
  let thousand: Large;
  let page: Page;
  before(async () => {
    browser = await launchBrowser();
    thousand = await largeRun(1_000);
    page = await openPage(browser, thousand.served.address);
  });
  after(async () => {
    await browser.close();
    await thousand[Symbol.asyncDispose]();
  });

  const show = async (view: string) => {
    await page.goto(`${thousand.served.origin}/#/1118-made/${view}`);
    await page.locator("main section.head ~ section").first().waitFor();
  };
  const look = async () =>
    (await page.evaluate(
      "(() => { const m = new DOMMatrix(getComputedStyle(document.querySelector('.layer')).transform); return [m.a, m.e, m.f]; })()",
    )) as [scale: number, x: number, y: number];
  /** Asks the page again at every frame, because its content policy lets no test wait inside of it. */
  const becomes = async (test: string) => {
    const until = performance.now() + 15_000;
    while (!(await page.evaluate(test))) {
      assert.ok(performance.now() < until, `it did not come to: ${test}`);
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
    }
  };

  it(
    "fits the graph into its box, in groups, and goes nearer by button, wheel, key and fingers",
    LIMIT,
    async () => {
      await show("graph");
      await page.getByText("1000 tasks in 10 waves").waitFor();
      await page
        .getByRole("button", { name: /^\d+ done/ })
        .first()
        .waitFor();
      const waiting = page.getByRole("button", { name: "100 waiting" });
      assert.ok((await waiting.count()) >= 3, "waves that have not begun are one box each");
      const canvas = page.locator(".canvas");
      const isAllIn =
        "(() => { const [a, b] = ['.canvas', '.layer'].map((s) => document.querySelector(s).getBoundingClientRect()); return b.left >= a.left - 1 && b.right <= a.right + 1 && b.top >= a.top - 1 && b.bottom <= a.bottom + 1; })()";
      await becomes(isAllIn);

      let [scale] = await look();
      const grows = async (act: () => Promise<unknown>, what: string) => {
        await act();
        const [next] = await look();
        assert.ok(next > scale, `${what}: ${scale} → ${next}`);
        scale = next;
      };
      await grows(() => page.getByRole("button", { name: "Zoom in" }).click(), "button");
      const { x, y } = (await canvas.boundingBox())!;
      await page.mouse.move(x + 400, y + 150);
      await grows(async () => {
        await page.mouse.wheel(0, -300);
        await becomes(
          `new DOMMatrix(getComputedStyle(document.querySelector('.layer')).transform).a > ${scale}`,
        );
      }, "wheel");
      await canvas.focus();
      await grows(() => page.keyboard.press("+"), "key");
      const fingers = await page.context().newCDPSession(page);
      const touch = (type: string, apart: number) =>
        fingers.send("Input.dispatchTouchEvent", {
          type: type as "touchStart",
          touchPoints:
            apart < 0 ? [] : [-apart, apart].map((dx, id) => ({ x: x + 400 + dx, y: y + 150, id })),
        });
      await grows(async () => {
        await touch("touchStart", 40);
        await touch("touchMove", 60);
        await touch("touchMove", 90);
        await touch("touchEnd", -1);
      }, "two fingers");

      const [, left] = await look();
      await page.keyboard.press("ArrowLeft");
      assert.ok((await look())[1] > left, "an arrow moves it");
      await page.keyboard.press("0");
      await becomes(isAllIn);
    },
  );

  it("moves by a drag, which opens nothing, and a click opens a group", LIMIT, async () => {
    await show("graph");
    const first = page.getByRole("button", { name: /^\d+ done/ }).first();
    const { x, y } = (await first.boundingBox())!;
    const [, before] = await look();
    await page.mouse.move(x + 20, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + 80, y + 40, { steps: 4 });
    await page.mouse.up();
    assert.ok(Math.abs((await look())[1] - before - 60) < 2, "it follows the hand");
    const groups = await page.locator(".node.group").count();
    await first.click();
    await becomes(
      `document.querySelectorAll('.node.group').length < ${groups} || document.querySelectorAll('.box').length > 0`,
    );
    assert.match(page.url(), /\/graph$/);
    await page.getByRole("button", { name: "Fit" }).click();
    await page.getByRole("button", { name: "Group alike" }).click();
    await page.locator("path.box").first().waitFor(); // A thousand boxes are drawn as one picture.
    await page.getByRole("button", { name: "Group alike" }).click();
    await page.locator("path.box").first().waitFor({ state: "detached" });
  });

  it("zooms the timeline until jobs have names, and leaves out the hours of a pause", LIMIT, async () => {
    await show("timeline");
    await page.locator(".bars").first().waitFor();
    const wait = page.locator(".wait");
    await wait.waitFor();
    assert.match((await wait.getAttribute("title")) ?? "", /^2 h 00 min in which nothing was under way/);
    const narrow = (await wait.boundingBox())!.width;
    await page.getByRole("button", { name: "Skip waits" }).click();
    await wait.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Skip waits" }).click();
    await wait.waitFor();
    assert.ok(narrow < 60, `${narrow} px for two hours`);

    const lanes = page.locator(".timeline");
    await lanes.focus();
    for (let i = 0; i < 12 && (await page.locator("a.span").count()) === 0; i += 1) {
      const jobs = await page.getByText(/steps? of planners/).textContent();
      await page.keyboard.press("+");
      await becomes(`!document.body.textContent.includes(${JSON.stringify(jobs)})`);
    }
    await page.locator("a.span").first().waitFor();
    const from = await page.getByText(/ to .* steps? of planners/).textContent();
    const { x, y } = (await lanes.boundingBox())!;
    await page.mouse.move(x + 600, y + 60);
    await page.mouse.down();
    await page.mouse.move(x + 300, y + 60, { steps: 3 });
    await page.mouse.up();
    await becomes(`!document.body.textContent.includes(${JSON.stringify(from)})`);
    await page.getByRole("button", { name: "Fit" }).click();
    await page.locator(".bars").first().waitFor();
  });

  it("sorts and filters the table of tasks, which scrolls with the page", LIMIT, async () => {
    await show("tasks");
    const rows = page.locator(".tasks tbody tr:not(.space)");
    await rows.nth(5).waitFor();
    assert.equal(await page.locator("main section div[style*=overflow], main .list").count(), 0);
    await page.getByRole("button", { name: "Time" }).click();
    await page.locator('th[aria-sort="descending"]', { hasText: "Time" }).waitFor();
    const times = async () =>
      (await page.locator("td.of-time").allTextContents()).slice(0, 5).map((text) => {
        const [, hours = 0, minutes = 0, seconds = 0] = /(?:(\d+) h)? ?(?:(\d+) min)? ?(?:(\d+) s)?/.exec(
          text,
        )!;
        return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
      });
    await becomes("document.querySelector('td.of-time')?.textContent.includes('min')");
    const longest = await times();
    assert.deepEqual(
      longest,
      longest.toSorted((a, b) => b - a),
    );
    await page.getByRole("button", { name: "Time" }).click();
    await page.locator('th[aria-sort="ascending"]', { hasText: "Time" }).waitFor();
    await becomes("!document.querySelector('td.of-time')?.textContent.includes('min')");
    await page.getByRole("button", { name: "Task", exact: true }).click();
    // The last task is at the end of the page, not of a scrolling box in it.
    await page.evaluate("document.querySelector('main').scrollTo(0, 1e6)");
    await page.getByRole("link", { name: /^k999 / }).click();
    const heading = page.getByRole("heading", { name: /^k999/ });
    await heading.waitFor();
    await becomes("document.querySelector('main h2').getBoundingClientRect().top > 0");
    await page.goBack();
    await page.getByRole("link", { name: /^k999 / }).waitFor();
    assert.ok(((await page.evaluate("document.querySelector('main').scrollTop")) as number) > 10_000);
    await page.getByLabel("Filter tasks").fill("k99");
    await page.getByText("11 of 1000 tasks").waitFor();
    await page.getByRole("link", { name: /^k999 / }).waitFor();
  });

  it("tells the log in the sentences of skein logs, with the event a click away", LIMIT, async () => {
    await show("log");
    await page.getByLabel("Filter the log").fill("Paused: no new work starts");
    await page.getByText("Paused: no new work starts").click();
    await page.getByText('"type": "run.paused"').waitFor();
    await page.getByLabel("Filter the log").fill("landed as");
    await page
      .getByText(/k\d+ landed as/)
      .first()
      .waitFor();
    assert.equal(await page.getByText("batch.landed", { exact: true }).count(), 0);
    await page.getByLabel("Filter the log").fill("");
    await page.getByRole("button", { name: "Every event" }).click();
    await page
      .getByText(/landing\.turned|job\.ended/)
      .first()
      .waitFor();
  });

  it("covers nothing with the slider, wherever the page is scrolled", LIMIT, async () => {
    for (const view of VIEWS) {
      await show(view);
      await page.evaluate("document.querySelector('main').scrollTo(0, 1e6)");
      const [bottom, top] = (await page.evaluate(
        "[document.querySelector('main').getBoundingClientRect().bottom, document.querySelector('.travel').getBoundingClientRect().top]",
      )) as [number, number];
      assert.ok(bottom <= top + 0.5, `${view}: ${bottom} ${top}`);
    }
  });

  it(
    "has 120 tasks on a phone without a scroll to the side, and without what axe complains about",
    LIMIT,
    async () => {
      await using run = await largeRun(120);
      const phone = await openPage(browser, run.served.address, { viewport: { width: 390, height: 844 } });
      for (const view of VIEWS) {
        await phone.goto(`${run.served.origin}/#/1118-made/${view}`);
        await phone.locator("main section.head ~ section").first().waitFor();
        const wide = (await phone.evaluate(
          "Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth)",
        )) as number;
        assert.ok(wide <= 390, `${view}: ${wide} px`);
        const tab = (await phone.locator(".tabs [aria-current]").boundingBox())!;
        assert.ok(tab.x >= 0 && tab.x + tab.width <= 390, `${view}: its tab is in sight`);
        assert.deepEqual(await complaints(phone), [], view);
      }
      await phone.goto(`${run.served.origin}/#/1118-made/graph`);
      await phone.locator(".node").nth(5).waitFor();
      const edges = (await phone.evaluate(
        "[...document.querySelectorAll('.node')].map((box) => box.getBoundingClientRect().right)",
      )) as number[];
      assert.ok(Math.max(...edges) <= 390, `every box is in sight: ${Math.max(...edges)}`);
      // At first the graph is large enough for a thumb; the button shows all of it.
      const isWhole =
        "(() => { const [a, b] = ['.canvas', '.layer'].map((s) => document.querySelector(s).getBoundingClientRect()); return b.right <= a.right + 1 && b.bottom <= a.bottom + 1; })()";
      assert.equal(await phone.evaluate(isWhole), false);
      await phone.getByRole("button", { name: "Fit" }).click();
      assert.equal(await phone.evaluate(isWhole), true);
      await phone.goto(`${run.served.origin}/#/1118-made/timeline`);
      await phone.locator(".ticks span").nth(1).waitFor();
      const labels = (await phone.evaluate(
        "[...document.querySelectorAll('.ticks span')].map((label) => label.getBoundingClientRect()).map(({ left, right }) => [left, right])",
      )) as [number, number][];
      for (const [i, [left]] of labels.entries())
        assert.ok(i === 0 || left >= labels[i - 1]![1], `no label is on another: ${JSON.stringify(labels)}`);
      assert.ok(labels.at(-1)![1] <= 390, `no label is cut: ${JSON.stringify(labels)}`);
      await phone.close();
    },
  );
});
