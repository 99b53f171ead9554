/** `npm run pictures`: the pictures of the documentation, taken of a run of the demo. Look at them before you commit. */
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
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

/** Pages have the fonts that the tests' browser brings, and this machine's for code. */
const FONTS = `<?xml version="1.0"?><fontconfig><include>fonts.conf</include><dir>/usr/share/fonts</dir>
${["sans-serif", "system-ui"].map((name) => `<alias binding="strong"><family>${name}</family><prefer><family>Open Sans</family></prefer></alias>`).join("\n")}
</fontconfig>`;

const folder = await realpath(await mkdtemp(path.join(tmpdir(), "skein-pictures-")));
try {
  await mkdir(OUT, { recursive: true });
  const env = { ...process.env, SKEIN_STATE_DIR: path.join(folder, "demo/state") };
  const repository = path.join(folder, "demo/almanac");
  await takeTerminal(repository, env);
  await takePages(repository, env);
  await takeQuestion(repository, env);
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** In the middle of the run, when some tasks have landed and others are at work. */
async function takeTerminal(repository: string, env: NodeJS.ProcessEnv): Promise<void> {
  const demo = spawn(SKEIN, ["demo", "--folder", path.join(folder, "demo")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => demo.once("exit", resolve));
  for await (const text of demo.stdout) if (String(text).includes("landed")) break;
  await using terminal = openTerminal([SKEIN, "watch"], { folder: repository, env, ...TERMINAL });
  await terminal.becomes(() => {
    const screen = terminal.screen();
    return (
      /(?:9|1[0-5]) done of 1\d tasks so far[\s\S]*working/.test(screen) &&
      !screen.includes("cannot be reached")
    );
  });
  await writeFile(path.join(OUT, "terminal.svg"), terminalSvg(terminal.cells(), TERMINAL));
  demo.stdout.resume();
  await ended;
}

/** The same project again, with a slower gate and a worker who asks: there is a queue, and something to do. */
async function takeQuestion(repository: string, env: NodeJS.ProcessEnv): Promise<void> {
  const script = path.join(folder, "asking.json");
  const { plans, work } = demoScript();
  const [, season] = work["season"]!;
  const ask = { question: "Seasons of which hemisphere?", default: "both" };
  const asking = { steps: [{ do: "wait", ms: 900 }], end: { ask }, goesOn: [season] };
  // In the demo the repair waits for the others, so that they land together.
  const fix = work["fix-tests-1"]!.map((one) => ({
    ...one,
    steps: one.steps?.filter((step) => step.do !== "await"),
  }));
  const slow = (task: string, ms: number) =>
    work[task]!.map((one) => ({ ...one, steps: [{ do: "wait", ms }, ...(one.steps ?? [])] }));
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
    await take(page, "graph", async () => {
      await show("graph");
      await travelToTheMiddle(page);
    });
    const { stdout } = await promisify(execFile)(SKEIN, ["report", run, "--html"], { cwd: repository, env });
    // A page of its own: the server's rules for styles are not the report's.
    const report = await browser.newPage({ viewport: { width: 900, height: 900 } });
    await take(report, "report", () => report.setContent(stdout));
  } finally {
    await browser.close();
  }
}

async function take(page: Page, name: string, prepare: () => Promise<void>): Promise<void> {
  await prepare();
  await page.evaluate("document.fonts.ready.then(() => new Promise((r) => setTimeout(r, 300)))"); // Drawn ten times a second.
  await page.screenshot({ path: path.join(OUT, `${name}.png`) });
}

/** In the last third of the run, the moment at which most jobs are running. */
async function travelToTheMiddle(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    let [best, most, running] = [1, 0, 0];
    skein.events.forEach(({ type }, i) => {
      running += type === "job.started" ? 1 : type === "job.ended" ? -1 : 0;
      if (i > skein.events.length * 0.65 && running > most) [best, most] = [i + 1, running];
    });
    skein.travel(best);
    while (skein.at !== best) await new Promise((resolve) => setTimeout(resolve, 50));
  })()`);
}
