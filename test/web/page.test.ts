/** Tests that the page shows what is in the log and does what people press, in a real browser with real logs. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { mailboxOf } from "../../src/compose/project.ts";
import type { Event } from "../../src/core/log/event.ts";
import type { TaskId } from "../../src/core/task.ts";
import { nothingSeen, see } from "../../src/core/view/view.ts";
import type { MailboxMessage } from "../../src/ports/mailbox.ts";
import { ROOT } from "../../tools/source-files.ts";
import { eventsIn, FIXTURES, restoreRun } from "../e2e/recorded-place.ts";
import { digest } from "../simulation/digest.ts";
import { launchBrowser } from "../support/browser.ts";
import { complaints } from "./axe.ts";
import { type Opening, openPage, VIEWS } from "./browse.ts";
import { type MadeRun, makeRun, onFleet, planned, projectAt, serve, specOf } from "./place.ts";

const LIMIT = { timeout: 60_000 };
const T = (n: number) => `t.${n}` as TaskId;

describe("the web page", () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  const open = (address: string, options?: Opening) => openPage(browser, address, options);

  async function openRun(run: MadeRun, address: string, options?: Opening): Promise<Page> {
    const page = await open(address, options);
    await page.getByRole("link", { name: run.home.record.run }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    return page;
  }

  /** Takes the next command to the run and accepts it, as an engine would. */
  async function heard(run: MadeRun, signal: AbortSignal): Promise<MailboxMessage> {
    for await (const { command, answer } of mailboxOf(run.home).receive(signal)) {
      await answer({ is: "heard" });
      return command;
    }
    throw new Error("nothing was said");
  }

  it("follows a run from its plan to its end, with a task and its change", LIMIT, async () => {
    await using run = await makeRun();
    await using served = await serve(run.project);
    const page = await openRun(run, served.address);
    await run.append(
      planned("t" as TaskId, [
        { id: T(1), spec: specOf("words", "Write the words") },
        { id: T(2), spec: specOf("greet", "Say them", "work", [T(1)]) },
      ]),
    );
    const words = page.getByRole("link", { name: /^words/ });
    await words.waitFor();
    assert.equal(await page.getByText("2 tasks in 2 waves").count(), 1);
    await page.getByText("budget left: 5,000 of 5,000 tokens").waitFor();
    const quota = { kind: "quota", message: "quota" } as const;
    await run.append({
      type: "account.parked",
      account: "acme",
      until: Date.now() + 600_000,
      failure: quota,
    });
    await page.getByText(/^acme is rate limited until .* for another (?:9 min|10 min)/).waitFor();
    await run.append({
      type: "job.started",
      job: { kind: "work", task: T(1), attempt: 1 },
      until: Date.now() + 60_000,
    });
    await page.getByRole("link", { name: "words working" }).waitFor();
    await words.click();
    await page.getByText("Write the words").waitFor();
    await page.getByText("Worker, attempt 1, running").waitFor();
    await page.getByRole("link", { name: "Back to the run" }).click();
    await run.append({ type: "run.closed", how: "failed", left: ["nothing was made"] });
    await page.getByText("failed", { exact: true }).waitFor();
    assert.equal(
      await page.getByRole("button", { name: "Pause" }).count(),
      0,
      "a run that is over takes no commands",
    );
  });

  it("shows the machines of a fleet, who does what, and that none is there", LIMIT, async () => {
    await using run = await makeRun();
    await using served = await serve(run.project);
    const page = await openRun(run, served.address);
    const tasks = [{ id: T(1), spec: specOf("words", "Write the words") }];
    await run.append(planned("t" as TaskId, tasks), onFleet.offered(1));
    const needs = page.getByRole("alert", { name: "Needs you" });
    await needs.getByText("no machine is in the fleet now: jobs wait").first().waitFor();
    await page.getByRole("link", { name: "words waiting for a machine" }).waitFor();
    assert.equal(
      await page.locator(".node.working.untaken").count(),
      1,
      "it is drawn apart from what is at work",
    );
    await run.append(onFleet.machine("build-1", "ready", ["gpu"]), onFleet.machine("build-3", "silent"));
    await needs.waitFor({ state: "detached" });
    await run.append(onFleet.taken(1, "build-1"));
    await page.getByText("machines: 1 ready (1 of 2 slots busy with this run), 1 silent: build-3").waitFor();
    await page.getByRole("link", { name: "words working on build-1" }).click();
    await page.getByText("Worker, attempt 1 on build-1, running").waitFor();
    await page.getByRole("link", { name: "Back to the run" }).click();
    await run.append(onFleet.gate(1));
    await page.getByRole("link", { name: "Landing", exact: true }).click();
    await page.getByText("Gate for words: waiting for a machine", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Health" }).click();
    await page.getByRole("heading", { name: "Machines (2)" }).waitFor();
    await page.getByText("build-1 (gpu): ready, 1 of 2 slots busy with this run").waitFor();
    await page.getByText("build-3: silent, 0 of 2 slots busy with this run").waitFor();
    await run.append({ type: "run.closed", how: "cancelled", left: [] });
    await page.getByRole("heading", { name: "Machines (2)" }).waitFor({ state: "detached" });
  });

  it("pauses, steers, approves, declines, answers and cancels", LIMIT, async () => {
    await using run = await makeRun();
    await using served = await serve(run.project);
    const page = await openRun(run, served.address);
    const signal = AbortSignal.timeout(30_000);

    await page.getByRole("button", { name: "Pause" }).click();
    assert.deepEqual(await heard(run, signal), { type: "pause" });
    await run.append({ type: "run.paused" });
    await page.getByText("paused", { exact: true }).waitFor();

    await page.getByLabel("Message to the planner").fill("Keep the old name");
    await page.getByRole("button", { name: "Steer" }).click();
    assert.deepEqual(await heard(run, signal), { type: "steer", message: "Keep the old name" });

    await page.getByRole("button", { name: "Resume" }).click();
    assert.deepEqual(await heard(run, signal), { type: "resume" });
    await run.append({ type: "run.resumed" });
    await run.append(planned("t" as TaskId, [{ id: T(1), spec: specOf("words", "Write the words") }]), {
      type: "plan.proposed",
      tasks: [T(1)],
    });
    const needs = page.getByRole("alert", { name: "Needs you" });
    await needs.getByText("Approve the plan: 1 task: words").click();
    await needs.getByLabel("Reason to decline").fill("Too much at once");
    await needs.getByRole("button", { name: "Decline" }).click();
    assert.deepEqual(await heard(run, signal), { type: "decline", reason: "Too much at once" });
    await needs.getByRole("button", { name: "Approve" }).click();
    assert.deepEqual(await heard(run, signal), { type: "approve" });
    await run.append({ type: "plan.approved" });
    await needs.waitFor({ state: "detached" });

    const job = { kind: "work", task: T(1), attempt: 1 } as const;
    const session = "work:t.1#1" as never;
    const question = {
      id: "q1",
      task: T(1),
      text: "Which greeting?",
      default: "hello",
      until: Date.now() + 600_000,
      to: "person",
      tries: 0,
    } as const;
    await run.append(
      { type: "job.started", job, until: Date.now() + 60_000 },
      { type: "job.ended", job: session, how: "answered" },
      { type: "question.asked", task: T(1), attempt: 1, start: run.base, session, question },
    );
    await needs.getByText("Question of words: Which greeting?").click();
    assert.equal(await needs.getByLabel("Answer to words").getAttribute("placeholder"), "hello");
    await needs.getByLabel("Answer to words").fill("good morning");
    await needs.getByRole("button", { name: "Answer" }).click();
    assert.deepEqual(await heard(run, signal), { type: "answer", question: "q1", text: "good morning" });

    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Cancel run" }).click();
    assert.deepEqual(await heard(run, signal), { type: "cancel" });
    await page.getByRole("link", { name: /^words/ }).click();
    await page.getByRole("button", { name: "Cancel task" }).click();
    assert.deepEqual(await heard(run, signal), { type: "cancel", task: "t.1" });
  });

  it("asks to resume once a person has seen to what it cannot repair itself", LIMIT, async () => {
    await using run = await makeRun();
    await run.append({ type: "setup.failed", failure: { kind: "setup", message: "npm ci failed" } });
    await using served = await serve(run.project);
    const page = await openRun(run, served.address);
    await page.getByRole("alert", { name: "Needs you" }).getByText("Set-up failed: npm ci failed").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    assert.deepEqual(await heard(run, AbortSignal.timeout(30_000)), { type: "resume" });
    await page.getByRole("link", { name: "Skein" }).click();
    await page.getByRole("link", { name: /1118-made running needs you/ }).waitFor();
  });

  it("says why a command was refused", LIMIT, async () => {
    await using run = await makeRun();
    await using served = await serve(run.project);
    const page = await openRun(run, served.address, { isRefused: true });
    await page.getByRole("button", { name: "Pause" }).click();
    for await (const { answer } of mailboxOf(run.home).receive(AbortSignal.timeout(20_000))) {
      await answer({ is: "refused", reason: "it is being cancelled" });
      break;
    }
    await page.getByText("it is being cancelled").waitFor();
  });

  it("connects again after the server was restarted, and shows what came meanwhile", LIMIT, async () => {
    await using run = await makeRun();
    const first = await serve(run.project);
    const page = await openRun(run, first.address);
    // Without this, the text below could be in the list of runs.
    await page.getByRole("navigation", { name: "Views of the run" }).waitFor();
    await page.getByText("0 done of 1 task so far").waitFor();
    await first[Symbol.asyncDispose]();
    await page.getByText("connection lost").waitFor();
    await run.append(
      planned(
        "t" as TaskId,
        [1, 2, 3].map((n) => ({ id: T(n), spec: specOf(`part-${n}`, "x") })),
      ),
    );
    await using _second = await serve(run.project, { port: first.port });
    await page.getByText("0 done of 3 tasks so far").waitFor();
    await page.getByText("connection lost").waitFor({ state: "detached" });
  });

  it("folds to every event of the demo as a replay does", { timeout: 240_000 }, async () => {
    await using place = await restoreRun(path.join(FIXTURES, "2026-11-18", "demo"));
    const { run } = place.recorded;
    const events = await eventsIn(place, run);
    const project = await projectAt(place.repository.folder, place.env);
    await using served = await serve(project);
    const page = await open(served.address);
    await page.goto(`${served.origin}/#/${run}/log`);
    await page.getByText(`event ${events.length} of ${events.length}`).waitFor();
    await page.evaluate(await digestScript());
    const seen = nothingSeen();
    for (const [i, event] of (events as readonly Event[]).entries()) {
      see(seen, event);
      const there = await page.evaluate(`stateAfter(${i + 1})`);
      assert.equal(there, JSON.stringify(digest(seen.state)), `after event ${i + 1}, ${event.type}`);
    }
  });

  it("travels by the slider, and comes back to now", LIMIT, async () => {
    await using place = await restoreRun(path.join(FIXTURES, "2026-11-18", "demo"));
    const { run } = place.recorded;
    await using served = await serve(await projectAt(place.repository.folder, place.env));
    const page = await open(served.address);
    await page.goto(`${served.origin}/#/${run}/tasks`);
    const slider = page.getByLabel("Event that is shown");
    await slider.waitFor();
    await slider.focus();
    await page.keyboard.press("Home");
    await page.getByText("event 1 of").waitFor();
    await page.getByText("1 task", { exact: true }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByText("event 2 of").waitFor();
    await page.getByRole("link", { name: "Log", exact: true }).click();
    await page.getByRole("button", { name: "Jump to the end" }).click();
    await page.getByRole("button", { name: "Show the run after event 190" }).click();
    await page.getByText("event 190 of").waitFor();
    await page.getByRole("button", { name: "Jump to the end" }).click();
    await page.getByText(/event (\d+) of \1 run.closed/).waitFor();
  });

  it("is worked with the keyboard alone", LIMIT, async () => {
    await using run = await makeRun();
    await run.append(
      planned("t" as TaskId, [{ id: T(1), spec: specOf("words", "Write the words", "plan") }]),
      planned(T(1), [{ id: "t.1.1" as TaskId, spec: specOf("verbs", "Write the verbs") }]),
    );
    await using served = await serve(run.project);
    const page = await open(served.address);
    await page.getByRole("link", { name: run.home.record.run }).waitFor();
    const tabTo = async (name: RegExp) => {
      for (let i = 0; i < 40; i += 1) {
        await page.keyboard.press("Tab");
        const text = await page.evaluate(
          "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''",
        );
        if (name.test(text as string)) return;
      }
      assert.fail(`no tab stop ${name}`);
    };
    await tabTo(/^1118-made/);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /^verbs/ }).waitFor();
    await tabTo(/^Message to the planner/);
    await page.keyboard.type("Keep the old name");
    await page.keyboard.press("Enter");
    const said = { type: "steer", message: "Keep the old name" };
    assert.deepEqual(await heard(run, AbortSignal.timeout(30_000)), said);
    await tabTo(/^Hide 1 task below words/);
    await page.keyboard.press("Space");
    await page.getByRole("link", { name: /^verbs/ }).waitFor({ state: "detached" });
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Write the words").waitFor();
  });

  it("fits a phone in every view, with targets that a thumb can hit", LIMIT, async () => {
    await using place = await restoreRun(path.join(FIXTURES, "2026-11-18", "demo"));
    const { run } = place.recorded;
    await using served = await serve(await projectAt(place.repository.folder, place.env));
    const page = await open(served.address, { viewport: { width: 390, height: 800 } });
    for (const view of [...VIEWS, "graph/t.4"]) {
      await page.goto(`${served.origin}/#/${run}/${view}`);
      await page.locator("main section.head ~ section").first().waitFor();
      const wide = (await page.evaluate("document.documentElement.scrollWidth")) as number;
      assert.ok(wide <= 390, `${view}: ${wide} px`);
      const small = await page.evaluate(
        "[...document.querySelectorAll('main button, .bar a, .tabs a, .tasks a, .node a, td a, summary, input')].filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.textContent)",
      );
      assert.deepEqual(small, [], view);
    }
  });

  it("has nothing that axe complains about, on any page, light and dark", { timeout: 240_000 }, async () => {
    await using place = await restoreRun(path.join(FIXTURES, "2026-11-18", "demo"));
    const { run } = place.recorded;
    await using served = await serve(await projectAt(place.repository.folder, place.env));
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await open(served.address, { colorScheme });
      const back = (await page.evaluate("getComputedStyle(document.body).backgroundColor")) as string;
      assert.equal(Number(/\d+/.exec(back)) < 128, colorScheme === "dark", back);
      for (const view of ["", ...[...VIEWS, "graph/t.4"].map((tab) => `${run}/${tab}`), "/devices"]) {
        await page.goto(`${served.origin}/#/${view}`);
        await page.locator("main section, main h1").first().waitFor();
        assert.deepEqual(await complaints(page), [], `${colorScheme} ${view}`);
      }
      await page.close();
    }
  });
});

/** The comparison of two states, as a script for the page. */
async function digestScript(): Promise<string> {
  const built = await build({
    stdin: {
      contents: `import { digest } from ${JSON.stringify(path.join(ROOT, "test/simulation/digest.ts"))}; globalThis.stateAfter = async (n) => {
        skein.travel(n);
        while (skein.at !== n) await new Promise((resolve) => setTimeout(resolve));
        return JSON.stringify(digest(skein.seen.state));
      };`,
      resolveDir: ROOT,
    },
    bundle: true,
    write: false,
    format: "iife",
  });
  return built.outputFiles[0]!.text;
}
