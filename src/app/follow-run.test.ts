/** Tests how a run starts, resumes, is refused or is lost in this process, and what it gives back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeAppRun } from "../../test/support/app-run.ts";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { defaultConfig } from "../config/read.ts";
import type { Outcome } from "../core/job.ts";
import { hasFailed } from "../core/result.ts";
import { followRun } from "./follow-run.ts";

const NEVER = new AbortController().signal;
const config = defaultConfig();
const CLOSED = ["queue closed", "workspaces given back", "let go", "world closed", "lock released"];

describe("a run that goes on in this process", () => {
  it("is opened with the flaky tests that are known, and gives everything back when it is closed", async () => {
    const { home, parts, log, done } = await makeAppRun();
    const live = await followRun({ home, config }, parts, NEVER);
    assert.ok(!hasFailed(live));
    assert.equal((await live.ended).is, "closed");
    const [opened] = log.events;
    assert.deepEqual(opened?.type === "run.opened" && opened.request.flaky, ["test: comes and goes"]);
    assert.deepEqual(done, ["target made", ...CLOSED]);
  });

  it("is resumed from its log: what was lost is put right, and told, before anything starts", async () => {
    const { log: history } = CoreRun.planned([task("one")]);
    const restored: string[] = [];
    const { home, parts, log, done } = await makeAppRun({
      history,
      place: { restore: async () => ["the target was put back"] },
      letters: [{ type: "cancel", reason: "the key is hunter2" }],
    });
    const request = { home, config, onRestored: (what: string) => void restored.push(what) };
    const live = await followRun(request, parts, NEVER);
    assert.ok(!hasFailed(live));
    assert.equal((await live.ended).is, "closed");
    assert.deepEqual(restored, ["the target was put back"]);
    assert.deepEqual(done, ["programs ended", ...CLOSED]);
    assert.ok(!JSON.stringify(log.events).includes("hunter2"), "what people say has no secrets in the log");
  });

  it("is refused without a trace where another process has it, or its place is not ready", async () => {
    const taken = await makeAppRun({ isLocked: true });
    const refused = await followRun({ home: taken.home, config }, taken.parts, NEVER);
    assert.ok(hasFailed(refused) && refused.because === "run");
    assert.deepEqual(taken.done, []);
    const elsewhere = await makeAppRun({ place: { makeTarget: async () => "elsewhere" } });
    const lost = await followRun({ home: elsewhere.home, config }, elsewhere.parts, NEVER);
    assert.ok(hasFailed(lost) && lost.because === "repository");
    assert.match(lost.failure.message, /the log of run r is lost/);
    assert.deepEqual(elsewhere.done, ["world closed", "lock released"]);
    const late = await makeAppRun();
    const stopped = await followRun({ home: late.home, config }, late.parts, AbortSignal.abort());
    assert.ok(hasFailed(stopped) && stopped.because === "stopped");
    assert.equal(late.log.events.length, 0);
  });

  it("ends as lost, and keeps its workspaces, when another process takes the run", async () => {
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
    const { home, parts, done, loseLock } = await makeAppRun({
      work: () => {
        isAsked();
        return new Promise<Outcome>(() => {}); // Its job never ends.
      },
    });
    const live = await followRun({ home, config }, parts, NEVER);
    assert.ok(!hasFailed(live));
    await asked;
    loseLock();
    const end = await live.ended;
    assert.ok(end.is === "lost" && end.failure.message === "another process took it");
    assert.deepEqual(done, ["target made", "queue closed", "world closed", "lock released"]);
  });
});
