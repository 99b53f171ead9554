/** Tests that stopping a run asks its process and waits until the run is free. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type { Project } from "../ports/project.ts";
import type { Owner, RunHome } from "../ports/runs.ts";
import { stopRun } from "./stop-run.ts";

const OWNER: Owner = { pid: 7, since: 1 };

/** `owners`: which process has the run, each time that is looked. */
async function stopped(owners: readonly (Owner | undefined)[], { isUrgent = false, refuses = false } = {}) {
  const told: string[] = [];
  const limit = new AbortController();
  let looks = 0;
  const home = {
    record: { run: "a" },
    owner: async () => owners[Math.min(looks++, owners.length - 1)],
    stop: async (owner: Owner, urgent: boolean) => {
      told.push(`stop ${owner.pid}${urgent ? " now" : ""}`);
      return refuses ? { failure: failure("repository", "not yours") } : undefined;
    },
  } as unknown as RunHome;
  const project = { runs: { open: async () => home } } as unknown as Project;
  const next = async () => {
    if (looks >= owners.length) limit.abort(); // The owner does not change any more.
  };
  const request = { run: "a", isUrgent, onAsk: (run: string) => told.push(`asking ${run}`) };
  const lockChanges = () => ({ next, [Symbol.dispose]: () => void told.push("closed") });
  return { end: await stopRun(request, { project, lockChanges }, limit.signal), told };
}

describe("stopping a run", () => {
  it("asks its process, and waits until the run is free", async () => {
    const { end, told } = await stopped([OWNER, OWNER, undefined]);
    assert.deepEqual(end, { is: "stopped", run: "a", pid: 7 });
    assert.deepEqual(told, ["asking a", "stop 7", "closed"]);
  });

  it("has stopped it also where another process has taken it since", async () => {
    const { end } = await stopped([OWNER, { pid: 7, since: 2 }]);
    assert.ok(!hasFailed(end) && end.is === "stopped");
  });

  it("asks nobody where no process has the run", async () => {
    assert.deepEqual(await stopped([undefined]), { end: { is: "idle", run: "a" }, told: [] });
  });

  it("says what to try where the process goes on, and passes on why it cannot be asked", async () => {
    for (const [isUrgent, next] of [
      [false, "skein stop a --now"],
      [true, "kill -9 7; nothing is lost, skein resume a continues"],
    ] as const) {
      const { end } = await stopped([OWNER, OWNER], { isUrgent });
      assert.ok(hasFailed(end));
      assert.deepEqual([end.because, end.failure.next], ["run", next]);
    }
    const { end } = await stopped([OWNER], { refuses: true });
    assert.ok(hasFailed(end) && end.failure.message === "not yours");
  });
});
