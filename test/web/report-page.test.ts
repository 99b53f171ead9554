/** Tests that the HTML report is harmless and readable: in a real browser, light and dark, with hostile texts. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { htmlOf } from "../../src/surfaces/cli/render/sections-html.ts";
import { launchBrowser } from "../support/browser.ts";
import { newFolder } from "../support/folders.ts";
import { HOSTILE, hostileRun, sectionsOf } from "../support/hostile-report.ts";

describe("the HTML report", () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  for (const colorScheme of ["light", "dark"] as const)
    it(`runs nothing, asks for nothing and fits a phone, ${colorScheme}`, { timeout: 60_000 }, async () => {
      const { source } = (await import("axe-core")).default as unknown as { source: string };
      for (const [i, text] of HOSTILE.entries()) {
        const file = path.join(newFolder(), `${i}.html`);
        await writeFile(file, htmlOf(sectionsOf(hostileRun(text)).sections, text));
        const page = await browser.newPage({ colorScheme, viewport: { width: 390, height: 800 } });
        const seen: string[] = [];
        page.on("request", (request) => seen.push(request.url()));
        page.on("dialog", (dialog) => seen.push(dialog.message()));
        page.on("console", (said) => seen.push(said.text()));
        const address = pathToFileURL(file).href;
        await page.goto(address);
        assert.deepEqual(seen, [address]);
        assert.equal(await page.locator("script, img, a, iframe, b").count(), 0);
        assert.equal(await page.locator("svg").count(), 2, "the time as bars and as lanes");
        assert.ok((await page.evaluate<number>("document.documentElement.scrollWidth")) <= 390);
        await page.evaluate(source);
        const found = await page.evaluate<readonly string[]>(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))",
        );
        assert.deepEqual(found, []);
        await page.close();
      }
    });
});
