/** Tests the page of a closed run: texts for missing things, gate output, bisections, and commands to copy. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { transcriptName } from "../../src/adapters/transcripts.ts";
import { FIXTURES, restoreRun } from "../e2e/recorded-place.ts";
import { launchBrowser } from "../support/browser.ts";
import { openPage } from "./browse.ts";
import { projectAt, type Served, serve } from "./place.ts";

const LIMIT = { timeout: 60_000 };

describe("the page of a run that is over", () => {
  let browser: Browser;
  let place: Awaited<ReturnType<typeof restoreRun>>;
  let served: Served;
  let run: string;
  let folder: string;
  before(async () => {
    browser = await launchBrowser();
    place = await restoreRun(path.join(FIXTURES, "2026-11-18", "demo"));
    run = place.recorded.run;
    const project = await projectAt(place.repository.folder, place.env);
    const home = await project.runs.open(run);
    if ("failure" in home) throw new Error(home.failure.message);
    folder = path.join(home.folder, "transcripts");
    await mkdir(folder, { recursive: true });
    served = await serve(project);
  });
  after(async () => {
    await browser.close();
    await served[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });

  it(
    "says how long each run took and whether it was delivered, and which browser this is",
    LIMIT,
    async () => {
      const page = await openPage(browser, served.address);
      await page.getByText(/19 of 19 tasks done *10 s *not delivered/).waitFor();
      await page.getByRole("link", { name: "Devices" }).click();
      await page.getByText(/^Chrome on Linux \(this one\)/).waitFor();
      await page.getByText(/^last used /).waitFor();
      await page.close();
    },
  );

  it("says in the graph why a task is tried again", LIMIT, async () => {
    const page = await openPage(browser, served.address);
    await page.goto(`${served.origin}/#/${run}/graph`);
    await page.getByText(/event (\d+) of \1 run.closed/).waitFor();
    assert.equal(await page.locator(".node .bad").count(), 0, "nothing of what is done");
    await page.evaluate(
      "skein.travel(skein.events.findIndex(({ type, job }) => type === 'job.started' && job.task === 't.4' && job.attempt === 2) + 1)",
    );
    await page.getByRole("link", { name: "week: gate failed working, attempt 2" }).waitFor();
    await page.close();
  });

  it("says that a run is not there, and leads back", LIMIT, async () => {
    const page = await openPage(browser, served.address, { isRefused: true });
    await page.goto(`${served.origin}/#/0101-none/graph`);
    await page
      .getByRole("alert")
      .getByText(/0101-none/)
      .waitFor();
    await page.getByRole("link", { name: "All runs of this repository" }).click();
    await page.getByRole("link", { name: new RegExp(run) }).waitFor();
    await page.close();
  });

  it("lets the command that delivers be copied", LIMIT, async () => {
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    await page.goto(served.address);
    await page.goto(`${served.origin}/#/${run}/graph`);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    assert.match(
      (await page.evaluate("navigator.clipboard.readText()")) as string,
      new RegExp(`^skein deliver ${run}`),
    );
    await context.close();
  });

  it("draws a bisection, and shows what the gate wrote, what failed in it first", LIMIT, async () => {
    const evil = '<img src=x onerror="window.bad=1">';
    const lines = Array.from({ length: 3_000 }, (_, i) => `ok ${i} - fine`);
    const text = `$ node test/all.js\n${lines.join("\n")}\nnot ok 3001 - ${evil}\u001b[31m\u202e ${"x".repeat(100_000)}\n[exit code 1]\n`;
    await writeFile(path.join(folder, transcriptName("land#5")), text);
    const page = await openPage(browser, served.address);
    await page.goto(`${served.origin}/#/${run}/landing`);
    const picture = page.locator(".bisection");
    await picture
      .getByText(/week found among 8 tasks in 4 runs of the gate/)
      .first()
      .waitFor();
    assert.equal(await picture.locator("rect.failed").count(), 4);
    assert.equal(await picture.locator("rect.found").count(), 1);

    await page
      .getByText(/failed after 0\.1 s: week$/)
      .first()
      .click();
    const output = page.getByRole("group", { name: "What failed" });
    await output.getByText("not ok 3001 - <img").waitFor();
    const shown = (await output.textContent()) ?? "";
    for (const mark of ["fine", "\u001b", "\u202e"]) assert.ok(!shown.includes(mark), JSON.stringify(mark));
    await page.getByRole("button", { name: "All 3003 lines" }).click();
    const whole = page.getByRole("group", { name: "All of the output" });
    await whole.filter({ hasText: "ok 900 - fine" }).waitFor();
    await page.getByRole("button", { name: "More lines (2003 more)" }).click();
    await whole.filter({ hasText: "ok 1900 - fine" }).waitFor();
    assert.equal(await page.evaluate("window.bad"), undefined);
    assert.equal(await page.locator("main img").count(), 0);
    await page.getByRole("button", { name: "What failed" }).click();
    await output.waitFor();
    await page
      .getByText(/failed after 0\.1 s: week$/)
      .first()
      .click();
    await writeFile(
      path.join(folder, transcriptName("land#8")),
      `$ true\n${"ok - Error\n".repeat(50)}# pass 50\n`,
    );
    await page
      .getByText(/passed after .*: week$/)
      .first()
      .click();
    const end = page.getByRole("group", { name: "Its end" });
    await end.getByText("# pass 50").waitFor();
    const wide = await page.evaluate("document.querySelector('main').scrollWidth <= innerWidth");
    assert.ok(wide, "a long line is broken");
    await page.close();
  });

  it("shows why the gate refused an attempt, and what the attempt had changed", LIMIT, async () => {
    const page = await openPage(browser, served.address);
    await page.goto(`${served.origin}/#/${run}/landing/t.4`);
    await page.getByText(/^Worker, attempt 1/).click();
    await page.getByText(/gate for week, land#5/).click();
    await page
      .getByText(/not ok 3001/)
      .first()
      .waitFor();
    await page.getByText("What attempt 1 changed").click();
    await page.locator(".diff .add").first().waitFor();
    await page.close();
  });
});
