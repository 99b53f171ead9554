/** Tests that a trial of the gate probes a green gate and gives everything back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GREEN, RED } from "../../test/support/job-ports.ts";
import { defaultConfig } from "../config/read.ts";
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type { GateRun } from "../ports/gate.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Parts, RunWorld } from "./parts.ts";
import { tryGate } from "./try-gate.ts";

const REQUEST = { config: defaultConfig(), commit: "c" };

/** Records the steps in their order. */
function machine(ran: GateRun | "throws") {
  const done: string[] = [];
  const note = (what: string) => async () => void done.push(what);
  const gate = {
    run: async () => (ran === "throws" ? assert.fail("the disk is full") : ran),
    probe: async () => ({ is: "proved" }),
  };
  const world = {
    jobs: { gate },
    leave: note("leave"),
    workspaces: {
      holders: async () => [],
      space: async () => ({ freeBytes: 1e9 }),
      close: async () => done.push("workspaces") && [],
    },
    settle: note("settle"),
    close: note("close"),
  } as unknown as RunWorld;
  const parts: Pick<Parts, "newRunName" | "openTrialHome" | "openWorld"> = {
    newRunName: () => "1118-made",
    openTrialHome: async () => ({ home: {} as RunHome, [Symbol.asyncDispose]: note("home") }),
    openWorld: () => world,
  };
  return { parts, done };
}

const NEVER = new AbortController().signal;
const ALL = ["settle", "leave", "workspaces", "close", "home"];

describe("a trial of the gate", () => {
  it("is probed where it passes, and leaves nothing", async () => {
    const { parts, done } = machine(GREEN);
    const tried = await tryGate(REQUEST, parts, NEVER);
    assert.ok(!hasFailed(tried));
    assert.deepEqual(tried.probed, { is: "proved" });
    assert.deepEqual(done, ALL);
  });

  it("is not probed where it fails", async () => {
    const tried = await tryGate(REQUEST, machine(RED).parts, NEVER);
    assert.ok(!hasFailed(tried) && tried.probed === undefined);
  });

  it("gives everything back where it breaks, and where its home cannot be made nothing is opened", async () => {
    const { parts, done } = machine("throws");
    const broke = await tryGate(REQUEST, parts, NEVER);
    assert.ok(hasFailed(broke));
    assert.match(broke.failure.message, /the gate could not be tried: the disk is full/);
    assert.deepEqual(done, ALL);
    const openTrialHome = async () => ({ failure: failure("repository", "no room") });
    const none = await tryGate(REQUEST, { ...parts, openTrialHome }, NEVER);
    assert.ok(hasFailed(none) && none.failure.message === "no room");
  });
});
