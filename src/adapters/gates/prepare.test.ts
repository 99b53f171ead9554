/** Tests that a gate prepares its next workspace in the background, and that no gate waits for one in vain. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import { hasFailed } from "../../core/result.ts";
import type { Programs } from "../../ports/programs.ts";
import type { Workspace, Workspaces } from "../../ports/workspaces.ts";
import { CommandGate } from "./command.ts";
import { gateRules } from "./rules.ts";

const quiet = new AbortController().signal;
const tree = (job: string, commit: string) => ({ job: job as JobId, commit, rules: "rules" });

/** Makes a background workspace that is ready only when `ready` is called, or given up when it is stopped. */
function slowly() {
  const done: string[] = [];
  const begun = Promise.withResolvers<void>();
  const made = Promise.withResolvers<void>();
  const workspaces: Workspaces = {
    take: async ({ job, commit }, signal) => {
      done.push(`take ${job}`);
      const place: Workspace = { job, folder: "/nowhere", commit, environment: {}, notices: [] };
      if (!job.endsWith(".next")) return place;
      const stopped = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => stopped.resolve());
      begun.resolve();
      await Promise.race([made.promise, stopped.promise]);
      return signal.aborted ? { failure: failure("cancelled", "it was stopped") } : place;
    },
    keep: async () => ({ commit: undefined, left: [] }),
    release: async ({ job }) => void done.push(`release ${job}`),
    heldBy: async () => undefined,
    leftovers: async () => ({ left: [], removed: [] }),
  };
  const programs: Programs = {
    run: async () => ({ is: "exited", code: 0, output: "", errors: "", tail: "" }),
    endLeftovers: async () => 0,
  };
  const gate = new CommandGate({
    repository: "/nowhere",
    rules: gateRules([{ name: "test", run: "test" }], ""),
    conflicts: { in: async () => [] },
    workspaces,
    programs,
    transcripts: {
      open: () => ({ write: () => {}, close: async () => {} }),
      openNext: (name) => ({ name, write: () => {}, close: async () => {} }),
    },
    limits: { maxMs: 60_000, maxOutputBytes: 1_000_000, maxFileBytes: 1_000_000 },
    redact: (text) => text,
    maxAtOnce: 2,
  });
  return { gate, done, begun: begun.promise, ready: () => made.resolve() };
}

describe("a place that is being prepared", () => {
  it("is waited for by the gate of the very tree, and by no other", async () => {
    const { gate, done, begun, ready } = slowly();
    gate.prepare(tree("land#1", "next"));
    await begun;
    const same = gate.run(tree("land#2", "next"), quiet);
    assert.ok(!hasFailed(await gate.run(tree("check#1", "other"), quiet)));
    assert.deepEqual(done, ["take land#1.next", "take check#1", "release check#1"]);
    ready();
    assert.ok(!hasFailed(await same));
    assert.deepEqual(done.slice(3), ["release land#1.next", "take land#2", "release land#2"]);
  });

  it("is not waited for by a gate that is told to stop", async () => {
    const { gate, begun } = slowly();
    gate.prepare(tree("land#1", "next"));
    await begun;
    const stop = new AbortController();
    const same = gate.run(tree("land#2", "next"), stop.signal);
    setImmediate(() => stop.abort());
    await same;
    await gate.close();
  });

  it("is the only one: a second is not begun", async () => {
    const { gate, done, begun } = slowly();
    gate.prepare(tree("land#1", "next"));
    gate.prepare(tree("land#2", "other"));
    await begun;
    await gate.close();
    assert.deepEqual(done, ["take land#1.next"]);
  });

  it("is given up when the gate is closed, after which none is begun", async () => {
    const { gate, done, begun } = slowly();
    gate.prepare(tree("land#1", "next"));
    await begun;
    await gate.close();
    gate.prepare(tree("land#2", "later"));
    await gate.close();
    assert.deepEqual(done, ["take land#1.next"], "nothing was held, so nothing is given back");
  });
});
