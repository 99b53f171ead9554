/** Tests runs that are interrupted by Ctrl-C, other signals, kill -9 or a closed output: each can be resumed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { plainEnvironment } from "../support/repositories.ts";
import { type Ended, makeBarrier, makePlace, type Place, type Started } from "./cli-place.ts";
import { agentOf, appears, checkoutOf, eventsOf, isAlive, runOf } from "./odd-place.ts";

const LIMIT = { timeout: 90_000 };
const GATE = ["--gate", "test -f README.md"];

type Held = {
  readonly live: Started;
  readonly open: () => Promise<void>;
  readonly pid: number;
  readonly before: unknown;
};

/** Starts a run in which `one` has landed, and the worker on `two`, or the gate of its work, waits. */
async function heldRun(place: Place, at: "work" | "gate"): Promise<Held> {
  const barrier = await makeBarrier(place.folder);
  const pid = path.join(place.folder, "agent-pid");
  const waits = `${at === "work" ? "" : "trap '' TERM; "}echo $$ > '${pid}.new'; mv '${pid}.new' '${pid}'; ${barrier.wait}`;
  const slow = `if [ "$SKEIN_TASK" = t.2 ]; then echo half > half.txt; ${waits}; rm -f half.txt; fi`;
  const agent = await agentOf(place, "slow.sh", `${at === "work" ? slow : ""}\nexec '${place.agent}'`);
  const gate = at === "work" ? "test -f README.md" : `[ ! -f t.2.txt ] || { ${waits}; }`;
  const before = await checkoutOf(place);
  const outside = ["--set", "gateSandbox=off"]; // The gate's sandbox hides the barrier.
  const live = place.start("run", "write two files", "--agent", agent, "--gate", gate, ...outside);
  await live.says(at === "work" ? "Worker started on two" : "Running the gate: two");
  await appears(pid);
  return { live, open: barrier.open, pid: Number(await readFile(pid, "utf8")), before };
}

/**
 * After every stop, the run is listed as stopped, none of its processes runs, the checkout is unchanged, and a resume
 * ends it.
 */
async function goesOn(place: Place, held: Held, run: string): Promise<void> {
  assert.ok(!isAlive(held.pid), "what it ran is still there");
  const [listed] = JSON.parse((await place.skein("status", "--json")).out).runs;
  assert.deepEqual([listed.run, listed.state, listed.pid, listed.done], [run, "stopped", undefined, 1]);
  await held.open();
  const resumed = await place.skein("resume", run);
  assert.equal(resumed.code, 0, resumed.out + resumed.err);
  assert.match(resumed.out, /2 of 2 tasks done/);
  assert.doesNotMatch(resumed.out, /Worker started on one/, "what was done is not done again");
  const target = `skein/${run}/target`;
  assert.equal(await place.repository.git("ls-tree", "--name-only", target), "README.md\nt.1.txt\nt.2.txt");
  const log = await place.repository.git("rev-list", "--first-parent", "--count", `main..${target}`);
  assert.equal(log, "2", "nothing lands twice");
  assert.deepEqual(await checkoutOf(place), held.before);
  const home = await homeOf(place, run);
  assert.deepEqual(await readdir(path.join(home, "programs")), []);
  assert.ok(!(await readdir(home)).includes("workspaces"));
}

async function homeOf({ state }: Place, run: string): Promise<string> {
  const [repository = ""] = await readdir(state);
  return path.join(state, repository, "runs", run);
}

const saysHow = ({ out }: Ended, run: string) =>
  assert.match(out, new RegExp(`To continue: skein resume ${run}\n$`));

describe("a run that is interrupted can go on:", { concurrency: 2 }, () => {
  it(
    "after one Ctrl-C it stops in order, says how to go on, and keeps what its workers had",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const held = await heldRun(place, "work");
      held.live.kill("SIGINT");
      const ended = await held.live.ended;
      assert.equal(ended.code, 130, ended.out + ended.err);
      assert.match(ended.out, /^stopping: .*Ctrl-C again to stop now$/m);
      const run = runOf(ended.out);
      saysHow(ended, run);
      assert.equal(await place.repository.git("show", `refs/skein/salvage/${run}/t.2.1:half.txt`), "half");
      await goesOn(place, held, run);
    },
  );

  it(
    "after two it stops at once, in the middle of a landing, also with a gate that does not want to end",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const held = await heldRun(place, "gate");
      held.live.kill("SIGINT");
      await held.live.says("Ctrl-C again");
      held.live.kill("SIGINT");
      const ended = await held.live.ended;
      assert.equal(ended.code, 130, ended.out + ended.err);
      assert.match(ended.out, /^stopping now$/m);
      const run = runOf(ended.out);
      saysHow(ended, run);
      await goesOn(place, held, run);
    },
  );

  for (const signal of ["SIGTERM", "SIGHUP"] as const)
    it(`after ${signal} as after Ctrl-C`, LIMIT, async () => {
      await using place = await makePlace();
      const held = await heldRun(place, "work");
      held.live.kill(signal);
      const ended = await held.live.ended;
      assert.equal(ended.code, 130, ended.out + ended.err);
      saysHow(ended, runOf(ended.out));
      if (signal === "SIGTERM") await goesOn(place, held, runOf(ended.out));
      else assert.ok(!isAlive(held.pid));
    });

  it(
    "after kill -9 the next one ends what was left, keeps its work, and a third finds nothing to do",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const held = await heldRun(place, "work");
      held.live.kill("SIGKILL");
      const run = runOf((await held.live.ended).out);
      assert.ok(isAlive(held.pid), "nobody has ended it yet");
      // Later workers do not wait. The one that waits now can only be ended by a kill.
      await writeFile(path.join(place.folder, "barrier-open"), "");
      const resumed = await place.skein("resume", run);
      assert.equal(resumed.code, 0, resumed.out + resumed.err);
      assert.ok(!isAlive(held.pid));
      assert.equal(await place.repository.git("show", `refs/skein/salvage/${run}/t.2.1:half.txt`), "half");
      const events = await eventsOf(place, run);
      const again = await place.skein("resume", run);
      assert.equal(again.code, 0, again.err);
      assert.match(
        again.out,
        new RegExp(
          `^run ${run} is closed: done, 2 of 2 tasks done\nnext: skein deliver ${run} --into-checkout\n$`,
        ),
      );
      assert.deepEqual(await eventsOf(place, run), events);
      assert.deepEqual(await checkoutOf(place), held.before);
    },
  );

  it("a reader that goes away after one line does not end it", LIMIT, async () => {
    await using place = await makePlace();
    const skein = path.resolve(import.meta.dirname, "../../bin/skein");
    const child = spawn(
      "sh",
      [
        "-c",
        '"$@" | head -1',
        "sh",
        process.execPath,
        skein,
        "run",
        "write two files",
        "--agent",
        place.agent,
        ...GATE,
      ],
      {
        cwd: place.repository.folder,
        env: { ...plainEnvironment(), HOME: place.folder, SKEIN_STATE_DIR: place.state },
        timeout: 60_000,
      },
    );
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const { promise, resolve } = Promise.withResolvers<number | null>();
    child.on("close", resolve);
    assert.equal(await promise, 0);
    assert.match(said, /^run {5}\S+\n$/);
    const [run] = JSON.parse((await place.skein("status", "--json")).out).runs;
    assert.deepEqual([run.state, run.done, run.total], ["done", 2, 2]);
  });
});
