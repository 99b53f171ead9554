/** Tests mistakes known from other systems in landing, healing, git and waiting: each by its name, on real runs. */
import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { setImmediate as drained } from "node:timers/promises";
import { ManualClock } from "../../src/adapters/clocks/manual.ts";
import { MemoryEventLog } from "../../src/adapters/event-logs/memory.ts";
import type { Event } from "../../src/core/log/event.ts";
import type { RunState } from "../../src/core/log/state.ts";
import { defaultPolicy } from "../../src/core/rules/policy.ts";
import { runEngine } from "../../src/engine/engine.ts";
import { Inbox } from "../../src/engine/inbox.ts";
import { closing, configOf, makeSetting, runGoal } from "../support/live-runs.ts";
import { plans, task, writes } from "../support/scripts.ts";

const CHECK = `for file in $(grep -l bad *.txt); do echo "$file:1:1: error: it says bad"; code=1; done; exit $code\n`;
// The base does not build, and without a person a run would stop there.
const QUICK = { onRedBase: "repair", gate: ["sh check.sh"], "retry.first": "10ms", "retry.max": "20ms" };
const of = <T extends Event["type"]>(events: readonly Event[], type: T) =>
  events.filter((event): event is Extract<Event, { type: T }> => event.type === type);

describe("a trap that others fell into", { concurrency: 2 }, () => {
  it("a fix that does not mend is made again as the same task: there is no fix of a fix", async () => {
    const script = {
      plans: { t: [plans(task("a"))] },
      work: {
        a: [writes("a.txt")],
        "fix-build-1": [
          writes("broken.txt", "still bad\n"),
          writes("broken.txt", "bad again\n"),
          writes("broken.txt"),
        ],
      },
    };
    await using setting = await makeSetting({ files: { "check.sh": CHECK, "broken.txt": "bad\n" }, script });
    const { end, events } = await runGoal(setting, setting.config(QUICK));
    assert.equal(closing(end), "done");
    assert.deepEqual(
      of(events, "repair.planned").flatMap(({ into }) => into.map(({ spec }) => spec.key)),
      ["fix-build-1"],
    );
    assert.deepEqual(
      of(events, "task.retried").map(({ attempt, failure }) => [attempt, failure.kind]),
      [
        [1, "gate-red"],
        [2, "gate-red"],
      ],
    );
  });

  it("a target that could not be moved was not landed on, and its task is not done", async () => {
    await using setting = await makeSetting({
      files: { "check.sh": CHECK, "seed.txt": "good\n" },
      script: { plans: {}, work: {} },
    });
    // Creates git's lock of the target, as another process would, and removes it after two landings have failed over
    // it.
    const refs = path.join(setting.repository.folder, ".git/refs/heads/skein");
    const lock = `for run in "${refs}"/*; do : > "$run/target.lock"; done`;
    const scriptFile = path.join(setting.folder, "script.json");
    const work = { a: [writes("a.txt", "good\n", { do: "run", command: ["sh", "-c", lock] })] };
    await writeFile(scriptFile, JSON.stringify({ plans: { t: [plans(task("a"))] }, work }));
    let landedBefore = -1;
    const watch = (event: Event, { tasks }: RunState) => {
      if (event.type !== "landing.turned" || event.errors !== 2) return;
      landedBefore = [...tasks.values()].filter(({ state }) => state.is === "done").length;
      for (const run of readdirSync(refs)) rmSync(path.join(refs, run, "target.lock"));
    };
    const { end, events, target } = await runGoal(setting, setting.config(QUICK), { watch });
    assert.equal(closing(end), "done");
    assert.equal(landedBefore, 0, "nothing counted as landed while the target could not move");
    assert.equal(of(events, "batch.landed").length, 1);
    assert.equal(await setting.repository.git("show", `${target}:a.txt`), "good");
  });

  it("what a planner writes with git, whatever it chains, reaches nothing of the user's", async () => {
    await using setting = await makeSetting({
      files: { "check.sh": CHECK, "seed.txt": "good\n" },
      script: { plans: {}, work: {} },
    });
    const planner = path.join(setting.folder, "planner.sh");
    await writeFile(
      planner,
      `#!/bin/sh
brief=$(cat)
git log -1; git branch -D main; git update-ref refs/heads/main HEAD~0; git tag -f v1; git branch -f main HEAD
git config user.name nobody; echo x > seed.txt; git commit -qam "by the planner"; git push -q origin HEAD:main
git gc -q --prune=now; git stash; git reset -q --hard
case "$brief" in
*'"first":true'*) echo '{"scratchpad":"","tasks":[{"id":"a","description":"a","acceptance":"a","scope":["a.txt"]}]}' ;;
*) echo '{"scratchpad":"","tasks":[]}' ;;
esac
`,
      { mode: 0o755 },
    );
    const scriptFile = path.join(setting.folder, "script.json");
    await writeFile(scriptFile, JSON.stringify({ plans: {}, work: { a: [writes("a.txt")] } }));
    const { git } = setting.repository;
    const own = () =>
      git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main", "refs/tags", "refs/stash");
    const before = [await own(), await git("status", "--porcelain"), await git("config", "user.name")];
    const agent = { kind: "scripted", script: scriptFile };
    const { end, target } = await runGoal(setting, configOf({ ...QUICK, agent, planner: [planner] }));
    assert.equal(closing(end), "done");
    assert.deepEqual(
      [await own(), await git("status", "--porcelain"), await git("config", "user.name")],
      before,
    );
    assert.equal(await git("show", `${target}:seed.txt`), "good", "nor the target's");
  });

  it("an engine that waits does not look around: it wakes for an answer, or for the deadline it named", async () => {
    const clock = new ManualClock();
    let appointments = 0;
    const counted = {
      now: () => clock.now(),
      wall: () => clock.wall(),
      onJump: (wake: () => void) => clock.onJump(wake),
      wakeAt: (at: number, wake: () => void) => {
        appointments += 1;
        return clock.wakeAt(at, wake);
      },
    };
    const inbox = new Inbox();
    const stop = new AbortController();
    const queue = { offer: () => {}, cancel: () => {}, recover: async () => ({ is: "gone" }) as const };
    const parts = { log: new MemoryEventLog(), queue, clock: counted, policy: defaultPolicy };
    inbox.send({ type: "open", request: { run: "r", goal: "wait", base: "c0" } });
    const ended = runEngine(parts, inbox, stop.signal);
    for (let i = 0; i < 100; i += 1) await drained();
    assert.equal(appointments, 1, "one, for all that may come");
    assert.equal(clock.next(), Math.min(defaultPolicy.leaseMs.plan, defaultPolicy.leaseMs.check));
    stop.abort();
    await ended;
  });
});

it("a failing test is mended in what it tests, not in the test", async () => {
  const test =
    'import { sum } from "./lib/maths.mjs";\nimport test from "node:test";\nimport assert from "node:assert";\ntest("adds", () => assert.equal(sum(1, 2), 3));\n';
  await using setting = await makeSetting({
    files: { "adding.test.mjs": test, "lib/maths.mjs": "export const sum = (a, b) => a - b;\n" },
    script: {
      plans: { t: [plans(task("a"))] },
      work: {
        a: [writes("a.txt")],
        "fix-tests-1": [writes("lib/maths.mjs", "export const sum = (a, b) => a + b;\n")],
      },
    },
  });
  const gate = [`'${process.execPath}' --test`];
  const { end, events } = await runGoal(setting, setting.config({ ...QUICK, gate }));
  const [fix] = of(events, "repair.planned").flatMap(({ into }) => into);
  assert.deepEqual(fix?.spec.scope, ["adding.test.mjs", "lib/maths.mjs"]);
  assert.equal(closing(end), "done");
});
