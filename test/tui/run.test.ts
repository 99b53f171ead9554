/** Tests `skein run` on a real terminal: it shows the run, obeys keys, detaches, and gives the terminal back. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { watch, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { RunHome } from "../../src/ports/runs.ts";
import { ROOT } from "../../tools/source-files.ts";
import { makePlace, type Place } from "../e2e/cli-place.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { openTerminal, type TestTerminal } from "../support/terminal.ts";
import { projectAt } from "../web/place.ts";

const LIMIT = { timeout: 120_000 };
const SKEIN = path.join(ROOT, "bin/skein");
const CTRL_C = "\u0003";
const CTRL_Z = "\u001a";

type Waiting = Place & {
  readonly env: NodeJS.ProcessEnv;
  /** Waits until the worker of a task is at work, and lets it go on. */
  readonly release: (task: string) => Promise<void>;
  readonly home: () => Promise<RunHome>;
};

/** A place with two tasks, whose workers print a line and then wait to be released. */
async function waitingPlace(): Promise<Waiting> {
  const place = await makePlace({
    work: 'echo "looking at $SKEIN_TASK"; read -r _ < "$(dirname "$0")/$SKEIN_TASK"',
  });
  for (const task of ["t.1", "t.2"]) execFileSync("mkfifo", [path.join(place.folder, task)]);
  const env = { ...plainEnvironment(), HOME: path.join(place.folder, "home"), SKEIN_STATE_DIR: place.state };
  return {
    ...place,
    env,
    release: (task) =>
      new Promise((resolve) => createWriteStream(path.join(place.folder, task)).end("go\n", () => resolve())),
    home: async () => {
      const { runs } = await projectAt(place.repository.folder, env);
      const [record] = await runs.list();
      const home = await runs.open(record!.run);
      return hasFailed(home) ? assert.fail(home.failure.message) : home;
    },
    [Symbol.asyncDispose]: async () => {
      await place.skein("stop", "--now"); // Ends a run that a failed test has left in the background.
      await place[Symbol.asyncDispose]();
    },
  };
}

const run = (place: Waiting, ...flags: readonly string[]): TestTerminal =>
  onTerminal(place, [
    process.execPath,
    SKEIN,
    "run",
    "Write two files",
    "--agent",
    place.agent,
    "--gate",
    "none",
    ...flags,
  ]);

const onTerminal = (place: Waiting, command: readonly string[], env: NodeJS.ProcessEnv = {}): TestTerminal =>
  openTerminal(command, { folder: place.repository.folder, env: { ...place.env, ...env } });

/** All events of the run, once it is closed. */
async function closedLog(home: RunHome): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of home.log.follow(0, AbortSignal.timeout(60_000))) {
    events.push(event);
    if (event.type === "run.closed") return events;
  }
  return assert.fail(`it was never closed: ${JSON.stringify(events.at(-1))}`);
}

const startsOf = (events: readonly Event[], task: string) =>
  events.filter(
    (event) => event.type === "job.started" && event.job.kind === "work" && event.job.task === task,
  );

describe("skein run on a terminal", () => {
  it("shows the run from its start to its end, does what is pressed, and reports", LIMIT, async () => {
    await using place = await waitingPlace();
    await using terminal = run(place, "--approve");
    await terminal.shows(/^NEEDS YOU: the plan waits for your approval/);
    terminal.press("a");
    await terminal.shows(/At work \(1\)\n.*one +looking at t\.1/);
    terminal.press("p");
    await terminal.shows(/\npaused · /);
    terminal.press("u");
    await terminal.shows(/\nrunning · /);
    terminal.press("s");
    await terminal.shows(/Tell the planner:/);
    terminal.press("keep it short");
    await terminal.shows(/keep it short/);
    terminal.press("\r");
    await terminal.shows(/steer: sent to the run/);
    await place.release("t.1");
    await terminal.shows(/At work \(1\)\n.*two +looking at t\.2/);
    terminal.resize(120, 40);
    await terminal.shows(/1 done of 2 tasks so far[\s\S]*✓ +one +done/);
    await place.release("t.2");
    assert.equal(await terminal.exited, 0);
    await terminal.shows(/is done: 2 of 2 tasks done/);
    assert.ok(terminal.isOrdinary());
    const events = await closedLog(await place.home());
    assert.ok(events.some((event) => event.type === "run.steered"));
  });

  it("detaches: the run goes on by itself, and nothing is done twice", LIMIT, async () => {
    await using place = await waitingPlace();
    await using terminal = run(place);
    await terminal.shows(/looking at t\.1/);
    assert.doesNotMatch(terminal.raw(), /No process drives/);
    terminal.press("d");
    assert.equal(await terminal.exited, 0);
    assert.ok(terminal.isOrdinary());
    assert.match(
      terminal.screen(),
      /continues in the background[\s\S]*skein watch [\w-]+\. To stop it: skein stop/,
    );
    const home = await place.home();
    assert.ok(await home.owner(), "it is driven");
    await place.release("t.1");
    await place.release("t.2");
    const events = await closedLog(home);
    assert.deepEqual(events.at(-1), { ...events.at(-1), type: "run.closed", how: "done" });
    assert.equal(startsOf(events, "t.1").length, 1);
    await place.skein("stop", home.record.run); // Waits for the end of the run's process.
  });

  it("stops the run with Ctrl-C, as it says, and skein resume shows it again", LIMIT, async () => {
    await using place = await waitingPlace();
    await using terminal = run(place);
    await terminal.shows(/looking at t\.1/);
    terminal.press(CTRL_C);
    assert.equal(await terminal.exited, 130);
    assert.ok(terminal.isOrdinary());
    await terminal.shows(/unfinished work is kept\. To continue: ske/);
    assert.match(terminal.raw(), /stopping: finishing what is landing/);
    const home = await place.home();
    assert.equal(await home.owner(), undefined);
    await using again = onTerminal(place, [process.execPath, SKEIN, "resume"]);
    await again.shows(/At work \(1\)\n.*one.* +looking at t\.1/);
    await place.release("t.1");
    await place.release("t.2");
    assert.equal(await again.exited, 0);
    assert.ok(again.isOrdinary());
    assert.match(again.raw(), /resuming run/);
  });

  it("stops the run when its terminal is closed", LIMIT, async () => {
    await using place = await waitingPlace();
    await using terminal = run(place);
    await terminal.shows(/looking at t\.1/);
    const home = await place.home();
    (terminal.pty as unknown as { destroy(): void }).destroy(); // Closes the terminal; the types lack this method.
    for await (const _ of watch(home.folder, { signal: AbortSignal.timeout(60_000) }))
      if ((await home.owner()) === undefined) break;
  });

  it("gives the terminal back when the process that drives the run is killed", LIMIT, async () => {
    await using place = await waitingPlace();
    await using terminal = run(place);
    await terminal.shows(/looking at t\.1/);
    const { pid } = (await (await place.home()).owner())!;
    process.kill(pid, "SIGKILL");
    assert.equal(await terminal.exited, 1);
    assert.ok(terminal.isOrdinary());
    await terminal.shows(
      /the process that drove run .* has ended: it was killed \(SIGKILL\)\s+try: skein resume/,
    );
    await place.release("t.1"); // Ends the worker that was left running.
  });

  it("gives the terminal back when it crashes itself, and the run goes on", LIMIT, async () => {
    await using place = await waitingPlace();
    const crash = "process.on('SIGUSR2',()=>{throw new Error('a defect')})";
    await using terminal = onTerminal(
      place,
      [process.execPath, SKEIN, "run", "Write two files", "--agent", place.agent, "--gate", "none"],
      { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(crash)}` },
    );
    await terminal.shows(/looking at t\.1/);
    terminal.pty.kill("SIGUSR2");
    assert.notEqual(await terminal.exited, 0);
    assert.ok(terminal.isOrdinary());
    await terminal.shows(/a defect/);
    const home = await place.home();
    await place.release("t.1");
    await place.release("t.2");
    assert.deepEqual((await closedLog(home)).at(-1)?.type, "run.closed");
    await place.skein("stop", home.record.run);
  });

  it("is put aside with Ctrl-Z and comes back with fg, in a shell", LIMIT, async () => {
    await using place = await waitingPlace();
    await using terminal = onTerminal(place, ["bash", "--norc", "--noprofile", "-i"], { PS1: "ready> " });
    await terminal.shows(/ready>/);
    const command = `"${process.execPath}" "${SKEIN}" run "Write two files" --agent "${place.agent}" --gate none; echo "it ended with $?"`;
    terminal.press(`${command}\r`);
    await terminal.shows(/looking at t\.1/);
    terminal.press(CTRL_Z);
    await terminal.becomes(() => terminal.isOrdinary());
    await terminal.shows(/Stopped/);
    await place.release("t.1"); // The run goes on meanwhile.
    terminal.press("fg\r");
    await terminal.becomes(() => !terminal.isOrdinary());
    await terminal.shows(/looking at t\.2/);
    await place.release("t.2");
    await terminal.becomes(() => terminal.isOrdinary());
    await terminal.shows(/ready> $/m);
  });

  it("gives the terminal back when the run has ended while the view was put aside", LIMIT, async () => {
    await using place = await waitingPlace();
    await using terminal = onTerminal(place, ["bash", "--norc", "--noprofile", "-i"], { PS1: "ready> " });
    await terminal.shows(/ready>/);
    terminal.press(
      `"${process.execPath}" "${SKEIN}" run "Write two files" --agent "${place.agent}" --gate none\r`,
    );
    await terminal.shows(/looking at t\.1/);
    terminal.press(CTRL_Z);
    await terminal.shows(/Stopped/);
    const home = await place.home();
    await place.release("t.1");
    await place.release("t.2");
    await closedLog(home);
    terminal.press("fg\r");
    await terminal.shows(/is done: 2 of 2 tasks done[\s\S]*ready> $/m);
    terminal.press("echo still $((40 + 2))\r");
    await terminal.shows(/^still 42$/m);
    assert.ok(terminal.isOrdinary());
  });

  it("answers a worker's question", LIMIT, async () => {
    await using place = await waitingPlace();
    const script = path.join(place.folder, "script.json");
    const asks = {
      steps: [],
      end: { ask: { question: "In which language?", default: "none", wait_s: 600 } },
      goesOn: [{ steps: [{ do: "write", path: "end.txt", text: "x\n" }], end: "done" }],
    };
    await writeFile(script, JSON.stringify({ plans: {}, work: { t: [asks] } }));
    await using terminal = onTerminal(place, [
      ...[process.execPath, SKEIN, "run", "Greet", "--script", script, "--planner", "none", "--gate", "none"],
    ]);
    await terminal.shows(/^NEEDS YOU: .* asks: In which language\? \(press r; .* left\)/);
    terminal.press("r");
    await terminal.shows(/In which language\?[\s\S]*Answer to .*: ▏default: none/);
    terminal.press("English\r");
    assert.equal(await terminal.exited, 0);
    const events = await closedLog(await place.home());
    const answered = events.find((event) => event.type === "question.answered");
    assert.match(JSON.stringify(answered), /English/);
  });

  it("keeps lines with --plain, and in this process", LIMIT, async () => {
    await using place = await waitingPlace();
    await using terminal = run(place, "--plain");
    await terminal.shows(/Worker started on one/);
    const { pid } = (await (await place.home()).owner())!;
    assert.equal(pid, terminal.pty.pid);
    await place.release("t.1");
    await place.release("t.2");
    assert.equal(await terminal.exited, 0);
    assert.ok(!terminal.raw().includes("\u001b[?1049h"));
  });
});
