/** Tests that the page follows and steers a run that another process drives, from start to end. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { it } from "node:test";
import type { Page } from "playwright-core";
import { makeBarrier, makePlace, type Place } from "../e2e/cli-place.ts";
import { launchBrowser } from "../support/browser.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { openPage } from "./browse.ts";
import { projectAt, serve } from "./place.ts";

it("follows and steers a run of another process, from its start to its end", {
  timeout: 180_000,
}, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "skein-barrier-"));
  const browser = await launchBrowser();
  try {
    const barrier = await makeBarrier(folder);
    await using place = await makePlace({ work: `echo 'reading the code' >&2; ${barrier.wait}` });
    const env = { ...plainEnvironment(), SKEIN_STATE_DIR: place.state };
    await using served = await serve(await projectAt(place.repository.folder, env));
    const page = await openPage(browser, served.address, { isRefused: true });
    page.setDefaultTimeout(60_000);
    await page.getByText("There is no run in this repository yet").waitFor();

    const live = place.start("run", "write two files", "--agent", place.agent, "--approve", "--gate", "none");
    await page.getByRole("link", { name: /running needs you|waiting for your approval needs you/ }).click();
    await page.getByText("Approve the plan: 2 tasks: one, two").click();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("link", { name: "one working" }).click();
    await page.locator(".transcript", { hasText: "reading the code" }).waitFor();

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("running", { exact: true }).waitFor();
    await page.getByLabel("Message to the planner").fill("Keep it short");
    await page.getByRole("button", { name: "Steer" }).click();
    await page.getByText("Told the planner.").waitFor();

    await barrier.open();
    await page.getByRole("link", { name: "Back to the run" }).click();
    await page.getByText("2 of 2 tasks done").waitFor();
    await page.getByText(/The work is on branch skein\/\S+\. Next: skein deliver \S+/).waitFor();
    await page.getByText("done", { exact: true }).first().waitFor();
    assert.equal((await live.ended).code, 0);
    await page.getByRole("link", { name: "Landing", exact: true }).click();
    await page.getByRole("heading", { name: /^Landed \(\d\)/ }).waitFor();
    await page.getByRole("link", { name: "Log", exact: true }).click();
    await page.getByText("Message to the planner: Keep it short").waitFor();
    await deliver(page, place);
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
});

/** Delivers once the branch is checked out nowhere, because a page never changes the files of a checkout. */
async function deliver(page: Page, { repository: { git } }: Place): Promise<void> {
  const button = page.getByRole("button", { name: "Deliver to main" });
  assert.equal(await button.count(), 0, "main is checked out");
  const before = await git("rev-parse", "main");
  await git("switch", "--quiet", "--create", "elsewhere");
  await page.reload();
  page.once("dialog", (asked) => void asked.dismiss());
  await button.click();
  assert.equal(await git("rev-parse", "main"), before, "it asks first");

  await git("switch", "--quiet", "main"); // The page has not noticed the switch.
  page.once("dialog", (asked) => void asked.accept());
  await button.click();
  await page.getByText(/main is checked out in .*: nothing was changed/).waitFor();
  assert.equal(await git("rev-parse", "main"), before);
  assert.equal(await git("status", "--porcelain"), "");

  await git("switch", "--quiet", "elsewhere");
  page.once("dialog", (asked) => void asked.accept());
  await button.click();
  await page.getByText(/delivered: main went from/).waitFor();
  assert.notEqual(await git("rev-parse", "main"), before);
  assert.equal(await git("show", "main:t.1.txt"), "made by t.1");
}
