/** Tests that cancelling a run which no process drives closes its log and gives everything back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeAppRun } from "../../test/support/app-run.ts";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { defaultConfig } from "../config/read.ts";
import { hasFailed } from "../core/result.ts";
import { Fold } from "../engine/fold.ts";
import { cancelRun } from "./cancel-run.ts";

const NEVER = new AbortController().signal;
const config = defaultConfig();
const { log: history } = CoreRun.planned([task("one")]);

describe("cancelling a run that no process drives", () => {
  it("closes its log with the reason, starts nothing, and gives everything back", async () => {
    const { home, parts, log, done } = await makeAppRun({
      history,
      work: () => assert.fail("no job starts"),
    });
    const end = await cancelRun({ home, seen: new Fold(), config, reason: "changed my mind" }, parts, NEVER);
    assert.deepEqual(end, { is: "closed", how: "cancelled", kept: [] });
    const added = log.events.slice(history.length).map(({ type }) => type);
    assert.ok(added.includes("run.closed") && !added.includes("job.started"), added.join());
    assert.match(JSON.stringify(log.events), /changed my mind/);
    assert.deepEqual(done, [
      "restored",
      "programs ended",
      "workspaces given back",
      "let go",
      "world closed",
      "lock released",
    ]);
  });

  it("leaves it to the process that has the run by now", async () => {
    const { home, parts, done } = await makeAppRun({ history, isLocked: true });
    assert.deepEqual(await cancelRun({ home, seen: new Fold(), config }, parts, NEVER), { is: "driven" });
    assert.deepEqual(done, []);
  });

  it("writes nothing where the run has not begun, or the caller leaves first", async () => {
    for (const [events, signal, why] of [
      [[], NEVER, /has not begun/],
      [history, AbortSignal.abort(), /stopped before anything was cancelled/],
    ] as const) {
      const { home, parts, log } = await makeAppRun({ history: events });
      const end = await cancelRun({ home, seen: new Fold(), config }, parts, signal);
      assert.ok(hasFailed(end));
      assert.match(end.failure.message, why);
      assert.equal(log.events.length, events.length);
    }
  });
});
