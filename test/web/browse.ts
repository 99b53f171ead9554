/** Opens the page in a browser, and fails the test on any error or on a request to another server. */
import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";

/** The views of a run. */
export const VIEWS = ["graph", "timeline", "tasks", "landing", "health", "cost", "log"];
const DESKTOP = { width: 1280, height: 860 };

/** `isRefused`: the test makes requests that the server refuses, and the browser logs each refusal on its console. */
export type Opening = Parameters<Browser["newPage"]>[0] & { readonly isRefused?: boolean };

/** Fails the test on errors of the page or its console, and on requests to other servers. */
export async function openPage(
  browser: { newPage(options?: Parameters<Browser["newPage"]>[0]): Promise<Page> },
  address: string,
  { isRefused = false, ...options }: Opening = {},
): Promise<Page> {
  const page = await browser.newPage({ viewport: DESKTOP, ...options });
  page.setDefaultTimeout(15_000);
  page.on("pageerror", (error) => assert.fail(error));
  // The page itself reports a server that went away.
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
