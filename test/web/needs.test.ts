/** Tests the page's list of what needs a person: a line each, at most a third of the screen, complete once opened. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { asked, GOAL, T } from "../tui/watching.ts";
import { openPage } from "./browse.ts";
import { makeRun, planned, serve, specOf } from "./place.ts";

const LIMIT = { timeout: 60_000 };
const SCREENS = [
  { width: 1440, height: 900 },
  { width: 1280, height: 720 },
  { width: 390, height: 844 },
];
const NUMBERS = Array.from({ length: 12 }, (_, i) => i + 1);
const LONG = `${"The whole of it matters. ".repeat(60)}Which of them is the LAST word?`;

describe("what needs a person, on the page", () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  const shareOf = (selector: string) =>
    `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().height / innerHeight`;

  it("is a line each and at most a third of any screen, closed and open", LIMIT, async () => {
    await using run = await makeRun();
    await run.append(
      planned(
        GOAL,
        NUMBERS.map((n) => ({ id: T(n), spec: specOf(`part-${n}-with-a-long-name`, `Write part ${n}`) })),
      ),
      ...NUMBERS.flatMap((n) => asked(run, n, n === 1 ? LONG : `Question ${n}? ${LONG}`)),
    );
    await using served = await serve(run.project);
    for (const viewport of SCREENS) {
      const page = await openPage(browser, served.address, { viewport });
      await page.goto(`${served.origin}/#/1118-made/graph`);
      const lines = page.locator(".need > summary");
      await lines.nth(11).waitFor();
      const high = (await page.evaluate(
        "[...document.querySelectorAll('.need > summary')].map((one) => one.getBoundingClientRect().height)",
      )) as number[];
      assert.ok(Math.max(...high) <= 45, `a line each: ${high}`);
      assert.ok(((await page.evaluate(shareOf(".needs"))) as number) <= 1 / 3, JSON.stringify(viewport));
      await lines.first().click();
      await page.getByText("LAST word?").first().waitFor();
      await page.getByText(/^part-1-with-a-long-name asks\. .* the run takes: default 1$/).waitFor();
      assert.ok(((await page.evaluate(shareOf(".needs"))) as number) <= 1 / 3, JSON.stringify(viewport));
      // Even with a long question, its answer can be seen and typed.
      const field = page.getByLabel("Answer to part-1-with-a-long-name");
      assert.deepEqual(
        [await field.getAttribute("placeholder"), await field.inputValue()],
        ["default 1", ""],
        "the default is a hint and not in the field",
      );
      const [box, needs] = [(await field.boundingBox())!, (await page.locator(".needs").boundingBox())!];
      assert.ok(
        box.y >= needs.y && box.y + box.height <= needs.y + needs.height,
        JSON.stringify([box, needs]),
      );
      await page.close();
    }
  });

  it("opens a plan with the files, the acceptance and the order of its tasks", LIMIT, async () => {
    await using run = await makeRun();
    await run.append(
      planned(
        GOAL,
        NUMBERS.map((n) => ({
          id: T(n),
          spec: {
            ...specOf(`part-${n}`, `Write part ${n}`, "work", n > 1 ? [T(n - 1)] : []),
            scope: [`src/part-${n}.ts`],
            acceptance: `part ${n} is tested`,
          },
        })),
      ),
      { type: "plan.proposed", tasks: NUMBERS.map(T) },
    );
    await using served = await serve(run.project);
    const page = await openPage(browser, served.address, { viewport: SCREENS[2]! });
    await page.goto(`${served.origin}/#/1118-made/graph`);
    await page.getByText("Approve the plan: 12 tasks: part-1, part-2").click();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    const plan = (await page.locator(".plan li").nth(4).textContent()) ?? "";
    for (const word of ["part-5", "Write part 5", "src/part-5.ts", "part 5 is tested", "part-4"])
      assert.ok(plan.includes(word), `${word}: ${plan}`);
    assert.ok(((await page.evaluate(shareOf(".needs"))) as number) <= 1 / 3);
    await page.close();
  });
});
