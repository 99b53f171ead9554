/** Tests that text of models stays text on the page, in every view. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, it } from "node:test";
import { transcriptName } from "../../src/adapters/transcripts.ts";
import { type Handoff, NO_METRICS } from "../../src/core/handoff.ts";
import type { JobId } from "../../src/core/job.ts";
import type { TaskId } from "../../src/core/task.ts";
import { launchBrowser } from "../support/browser.ts";
import { openPage, VIEWS } from "./browse.ts";
import { type MadeRun, makeRun, planned, serve, specOf } from "./place.ts";

const T = (n: number) => `t.${n}` as TaskId;

it("shows what models wrote as text, never as a page", { timeout: 120_000 }, async () => {
  const html = '<img src=x onerror="window.bad=1"><script>window.bad=1</script>';
  const evil = `${html}\u001b]0;title\u0007\u001b[31m\u202eabc`;
  const long = `${evil}\n${"x".repeat(1_000_000)}`;
  await using run = await makeRun(evil);
  const { commit, fileName } = await commitEvil(run, evil, long);
  const handoff = {
    ...handoffOf(evil, [fileName]),
    commit,
    concerns: [evil],
    suggestions: [long],
    flags: [evil],
  };
  const job = { kind: "work", task: T(1), attempt: 1 } as const;
  await mkdir(path.join(run.home.folder, "transcripts"), { recursive: true });
  const transcript = path.join(run.home.folder, "transcripts", transcriptName("work:t.1#1"));
  await writeFile(transcript, `${long}\n${evil}\n`);
  await run.append(
    { type: "target.moved", tip: run.base },
    planned("t" as TaskId, [
      { id: T(1), spec: { ...specOf(evil, long), acceptance: evil, scope: [evil] } },
      { id: T(2), spec: specOf(`${evil} 2`, evil) },
    ]),
    { type: "job.started", job, until: Date.now() + 60_000 },
    { type: "job.ended", job: "work:t.1#1" as JobId, how: "answered" },
    { type: "task.handed-off", task: T(1), attempt: 1, handoff },
    { type: "landing.proposed", task: T(1), flags: [evil] },
    { type: "account.refused", account: evil, failure: { kind: "authentication", message: long } },
  );
  await using served = await serve(run.project);
  const browser = await launchBrowser();
  after(() => browser.close());
  const page = await openPage(browser, served.address);
  const isHarmless = async (where: string) => {
    assert.equal(await page.evaluate("window.bad"), undefined, where);
    assert.equal(await page.locator("main img, main script").count(), 0, where);
    const mark = (await page.evaluate(
      String.raw`document.querySelector('main').innerHTML.match(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]/u)?.[0].codePointAt(0) ?? 0`,
    )) as number;
    assert.equal(mark, 0, `${where}: a control or bidi character is left, ${mark.toString(16)}`);
  };
  for (const view of VIEWS) {
    await page.goto(`${served.origin}/#/1118-made/${view}`);
    await page.locator(`nav a[aria-current][href$="/${view}"]`).waitFor();
    await isHarmless(view);
  }
  await page.locator(".log summary").first().click(); // Opens an event with all its fields.
  await isHarmless("an event");
  await page.goto(`${served.origin}/#/1118-made/graph/t.1`);
  await page.locator(".diff .add").first().waitFor();
  await page.locator(".transcript", { hasText: "abc" }).waitFor();
  await isHarmless("the task");
  await page.goto(`${served.origin}/#/`);
  await page.getByRole("link", { name: /1118-made/ }).waitFor();
  await isHarmless("the list");
});

/** Commits a file whose name and text are hostile, as git allows them. */
async function commitEvil({ repository }: MadeRun, name: string, text: string) {
  const fileName = name.replaceAll("/", "_");
  await writeFile(path.join(repository.folder, fileName), `${text}\n`);
  await repository.git("add", "--all");
  await repository.git("commit", "--quiet", "--message=evil");
  return { fileName, commit: await repository.git("rev-parse", "HEAD") };
}

const handoffOf = (summary: string, filesChanged: readonly string[]): Handoff => ({
  taskId: "t.1",
  status: "complete",
  summary,
  diff: "",
  filesChanged,
  concerns: [],
  suggestions: [],
  metrics: NO_METRICS,
});
