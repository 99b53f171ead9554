/** Tests a run whose refs are moved from outside: nothing lands without a gate, and nothing lost is called done. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { closing, makeSetting, runGoal, type Setting } from "../support/live-runs.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { plans, task, writes } from "../support/scripts.ts";

const FILES = { "check.sh": "! grep -l bad *.txt\n", "seed.txt": "good\n" };
const QUICK = { gate: ["sh check.sh"], "retry.first": "10ms", "retry.max": "20ms" };

/** Runs git while an event is handled, before anything follows from the event. */
const meddle = ({ repository }: Setting, ...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: repository.folder, env: plainEnvironment(), encoding: "utf8" }).trim();

describe("a run whose refs somebody moves", () => {
  it("lands what was judged, not what was put on the task's branch afterwards", async () => {
    await using setting = await makeSetting({
      files: FILES,
      script: { plans: { t: [plans(task("a"))] }, work: { a: [writes("a.txt", "good a\n")] } },
    });
    const other = await setting.repository.branch("other", { "a.txt": "good, but not judged\n" });
    const moved: string[] = [];
    const watch = (event: Event) => {
      if (event.type !== "task.handed-off") return;
      const refs = meddle(setting, "for-each-ref", "--format=%(refname)", "refs/heads/skein/");
      for (const ref of refs.split("\n").filter((name) => name.includes("/task/"))) {
        meddle(setting, "update-ref", ref, other);
        moved.push(ref);
      }
    };
    const { end, target } = await runGoal(setting, setting.config(QUICK), { watch });
    assert.equal(moved.length, 1);
    assert.equal(closing(end), "done");
    assert.equal(await setting.repository.git("show", `${target}:a.txt`), "good a");
  });

  it("is not done if a landing was taken back, however late, and says which", async () => {
    await using setting = await makeSetting({
      files: FILES,
      script: {
        plans: { t: [plans(task("a"), task("b", { after: ["a"] })), plans()] },
        work: { a: [writes("a.txt")], b: [writes("b.txt")] },
      },
    });
    // `plan.ended`: after the last task was landed and checked. `batch.landed`: when the first task had landed.
    for (const when of ["plan.ended", "batch.landed"] as const) {
      let taken = 0;
      const watch = (event: Event) => {
        if (event.type !== when || taken > 0) return;
        const base = setting.project.located.head;
        const refs = meddle(setting, "for-each-ref", "--sort=-committerdate", "--format=%(refname)");
        const target = refs.split("\n").find((ref) => ref.endsWith(`${run}/target`));
        meddle(setting, "update-ref", target!, base);
        taken += 1;
      };
      let run = "";
      const seen = (event: Event) => {
        if (event.type === "run.opened") run = event.request.run;
        watch(event);
      };
      const { end, events } = await runGoal(setting, setting.config(QUICK), { watch: seen });
      assert.equal(taken, 1);
      const landed = events.find((event) => event.type === "batch.landed");
      assert.match(closing(end), /^incomplete; /);
      const words = `t.1 (a) landed as ${landed?.commit}, but was taken back`;
      assert.ok(closing(end).includes(words), closing(end));
    }
  });

  it("does not land under somebody who has the target checked out, and lands when they have left it", async () => {
    await using setting = await makeSetting({
      files: FILES,
      script: { plans: { t: [plans(task("a"))] }, work: { a: [writes("a.txt")] } },
    });
    let run = "";
    const status: string[] = [];
    const watch = (event: Event) => {
      if (event.type === "run.opened") run = event.request.run;
      if (event.type === "task.handed-off") meddle(setting, "checkout", "-q", `skein/${run}/target`);
      if (event.type !== "landing.turned" || event.errors === 0) return;
      status.push(meddle(setting, "status", "--porcelain"));
      meddle(setting, "checkout", "-q", "--detach");
    };
    const { end, target } = await runGoal(setting, setting.config(QUICK), { watch });
    assert.equal(closing(end), "done");
    assert.deepEqual(status, [""]);
    assert.equal(await setting.repository.git("show", `${target}:a.txt`), "good");
    assert.equal(await setting.repository.git("status", "--porcelain"), "");
  });
});
