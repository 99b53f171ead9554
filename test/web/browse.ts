/** Opens the page in a browser, and fails the test over anything that the page complains about. */
import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";

/** Of a run. */
export const VIEWS = ["graph", "timeline", "tasks", "landing", "health", "cost", "log"];
const DESKTOP = { width: 1280, height: 860 };

/** `isRefused`: the test asks for what the server refuses, and the browser writes each refusal on its console. */
export type Opening = Parameters<Browser["newPage"]>[0] & { readonly isRefused?: boolean };

/** Whatever the page complains about fails the test, and so does a request to another server. */
export async function openPage(
  browser: { newPage(options?: Parameters<Browser["newPage"]>[0]): Promise<Page> },
  address: string,
  { isRefused = false, ...options }: Opening = {},
): Promise<Page> {
  const page = await browser.newPage({ viewport: DESKTOP, ...options });
  page.setDefaultTimeout(15_000);
  page.on("pageerror", (error) => assert.fail(error));
  // A server that went away is said on the page, too.
  const expected = new RegExp(`^Failed to load resource: ${isRefused ? "" : "net::"}`);
  page.on("console", (said) => {
    if (said.type() === "error" && !expected.test(said.text()))
      assert.fail(`the console says: ${said.text()}`);
  });
  const { origin } = new URL(address);
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) assert.equal(new URL(request.url()).origin, origin);
  });
  await page.goto(address);
  return page;
}
