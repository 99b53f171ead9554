/** `npm run pictures`: takes the documentation's pictures from a run of the demo. Look at them before you commit. */
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import type { WorkAttempt } from "../src/ports/agent-script.ts";
import { demoGoal } from "../src/surfaces/demo/project.ts";
import { CACHE_VARIABLE, demoScript, demoSettings } from "../src/surfaces/demo/script.ts";
import { launchBrowser } from "../test/support/browser.ts";
import { openTerminal } from "../test/support/terminal.ts";
import { projectAt, serve } from "../test/web/place.ts";
import { ROOT } from "./source-files.ts";
import { terminalSvg } from "./terminal-svg.ts";

const OUT = path.join(ROOT, "docs/pictures");
const SKEIN = path.join(ROOT, "bin/skein");
const SIZE = { width: 1360, height: 880 };
const TERMINAL = { columns: 100, rows: 27 };

/** Pages use the fonts of the tests' browser, and this machine's font for code. */
const FONTS = `<?xml version="1.0"?><fontconfig><include>fonts.conf</include><dir>/usr/share/fonts</dir>
${["sans-serif", "system-ui"].map((name) => `<alias binding="strong"><family>${name}</family><prefer><family>Open Sans</family></prefer></alias>`).join("\n")}
</fontconfig>`;

const folder = await realpath(await mkdtemp(path.join(tmpdir(), "skein-pictures-")));
try {
  await mkdir(OUT, { recursive: true });
  const env = { ...process.env, SKEIN_STATE_DIR: path.join(folder, "demo/state") };
  const repository = path.join(folder, "demo/almanac");
  await runDemo();
  await takePages(repository, env);
  await takeTerminal(repository, env);
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Runs the unchanged demo to its end, for the pictures of the pages. */
async function runDemo(): Promise<void> {
  const demo = spawn(SKEIN, ["demo", "--folder", path.join(folder, "demo")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await new Promise((resolve) => demo.once("exit", resolve));
}

/** Runs the same project with a slower gate and a worker that asks, so that there is a queue and a question. */
async function takeTerminal(repository: string, env: NodeJS.ProcessEnv): Promise<void> {
  const script = path.join(folder, "asking.json");
  const { plans, work } = demoScript();
  const slowly = (one: WorkAttempt, ms: number): WorkAttempt => ({
    ...one,
    steps: [{ do: "wait", ms }, ...(one.steps ?? [])],
  });
  const slow = (task: string, ms: number) => work[task]!.map((one) => slowly(one, ms));
  const ask = { question: "Seasons of which hemisphere?", default: "both" };
  const [, season] = work["season"]!;
  const asking = { steps: [{ do: "wait", ms: 900 }], end: { ask }, goesOn: [slowly(season!, 60_000)] };
  // In the demo the repair waits for the others, so that they land together.
  const fix = work["fix-tests-1"]!.map((one) => ({
    ...one,
    steps: one.steps?.filter((step) => step.do !== "await"),
  }));
  const asks = {
    ...work,
    moon: slow("moon", 60_000),
    roman: slow("roman", 13_000),
    ordinal: slow("ordinal", 5_000),
    season: [asking],
    "fix-tests-1": fix,
  };
  await writeFile(script, JSON.stringify({ plans, work: asks }));
  const settings = {
    ...demoSettings,
    gate: ["sleep 5", "node test/all.js"],
    agent: { kind: "scripted", script },
  };
  const sets = Object.entries(settings).flatMap(([key, value]) => [
    "--set",
    `${key}=${typeof value === "object" ? JSON.stringify(value) : value}`,
  ]);
  const more = { ...env, [CACHE_VARIABLE]: path.join(folder, "demo/cache") };
  const run = spawn(SKEIN, ["run", demoGoal, "--plain", ...sets], {
    cwd: repository,
    env: more,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => run.once("exit", resolve));
  try {
    await new Promise((resolve) =>
      run.stdout.on("data", (text) => String(text).includes("asks") && resolve(text)),
    );
    await using terminal = openTerminal([SKEIN, "watch"], { folder: repository, env, ...TERMINAL });
    await terminal.shows(
      /NEEDS YOU[\s\S]*[1-9]\d* done of \d+ tasks so far[\s\S]*At work[\s\S]*gate on[\s\S]*queue \(\d/,
      60_000,
    );
    await writeFile(path.join(OUT, "terminal-question.svg"), terminalSvg(terminal.cells(), TERMINAL));
    terminal.press("r\r"); // Answers with the question's default.
    await terminal.shows(/Nothing needs you[\s\S]*At work[\s\S]*Bisecting[\s\S]*gate on/, 60_000);
    await writeFile(path.join(OUT, "terminal.svg"), terminalSvg(terminal.cells(), TERMINAL));
  } finally {
    run.kill("SIGTERM");
    await ended;
  }
}

async function takePages(repository: string, env: NodeJS.ProcessEnv): Promise<void> {
  const fonts = path.join(folder, "fonts.conf");
  await writeFile(fonts, FONTS);
  const browser = await launchBrowser(fonts);
  try {
    await using served = await serve(await projectAt(repository, env));
    const page = await browser.newPage({ viewport: SIZE });
    await page.goto(served.address);
    await page.locator(".runs a").click();
    await page.locator(".node").first().waitFor();
    const run = /#\/([^/]+)/.exec(page.url())![1]!;
    const show = async (view: string) => {
      await page.goto(`${served.origin}/#/${run}/${view}`);
      await page.locator("main section.head ~ section").first().waitFor();
    };
    await take(page, "timeline", () => show("timeline"));
    await take(page, "task", async () => {
      await show("timeline");
      await page.getByRole("link", { name: /^worker: week, attempt 2/ }).click();
      await page.locator(".diff .add").first().waitFor();
    });
    await take(page, "landing", async () => {
      await show("landing");
      await page
        .locator("summary", { hasText: /failed after .*: command$/ })
        .first()
        .click();
      await page.locator(".output").first().waitFor();
      await page.evaluate(
        "[...document.querySelectorAll('h2')].find((h) => h.textContent.startsWith('Bisections')).scrollIntoView()",
      );
    });
    await take(page, "graph", async () => {
      await show("graph");
      await travelToTheRetry(page);
    });
    const { stdout } = await promisify(execFile)(SKEIN, ["report", run, "--html"], { cwd: repository, env });
    // A separate page, because the server's rules for styles do not apply to the report.
    const report = await browser.newPage({ viewport: { width: 900, height: 900 } });
    await take(report, "report", () => report.setContent(stdout));
  } finally {
    await browser.close();
  }
}

async function take(page: Page, name: string, prepare: () => Promise<void>): Promise<void> {
  await prepare();
  await page.evaluate("document.fonts.ready.then(() => new Promise((r) => setTimeout(r, 300)))"); // Ten draws a second.
  await page.screenshot({ path: path.join(OUT, `${name}.png`) });
}

/** Moves the page to the moment at which a worker retries a task that the gate refused. */
async function travelToTheRetry(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const refused = skein.events.find(({ type, failure }) => type === "task.retried" && failure.kind === "gate-red");
    const isRetry = ({ type, job }) => type === "job.started" && job.task === refused.task && job.attempt > refused.attempt;
    const at = skein.events.findIndex(isRetry) + 1;
    skein.travel(at);
    while (skein.at !== at) await new Promise((resolve) => setTimeout(resolve, 50));
  })()`);
}
