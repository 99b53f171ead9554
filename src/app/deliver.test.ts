/** Tests when a run is delivered, how new commits of the branch are merged first, and the refusals. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { defaultConfig } from "../config/read.ts";
import { toSettings } from "../config/settings.ts";
import { hasFailed } from "../core/result.ts";
import { Fold } from "../engine/fold.ts";
import type { Brought } from "../ports/delivery.ts";
import type { RunHome } from "../ports/runs.ts";
import { deliverAtEnd, deliverRun } from "./deliver.ts";
import type { Parts, RunWorld } from "./parts.ts";

const NEVER = new AbortController().signal;
const MOVED = { is: "base-moved", base: "b", target: "t" } as const;
const DELIVERED = { is: "delivered", from: "b", to: "t" } as const;

/** A run in which `one` has landed, or nothing, and all steps of its delivery. */
async function delivered({
  landed = true,
  pid,
  partial = true,
  brought = [DELIVERED],
  isGreen = true,
  closed,
  atEnd,
}: {
  landed?: boolean;
  pid?: number;
  partial?: boolean;
  brought?: readonly Brought[];
  isGreen?: boolean;
  closed?: "done" | "cancelled";
  /** The configuration at the end of the run. */
  atEnd?: { readonly deliver: boolean };
}) {
  const run = CoreRun.planned([task("one")]);
  if (landed) run.finish("t.1");
  const seen = new Fold();
  for (const event of run.log) seen.take(event);
  const did: string[] = [];
  const note = (what: string) => async () => void did.push(what);
  const home = {
    record: { run: "a", base: "b", baseBranch: "main", settings: toSettings(defaultConfig()) },
    owner: async () => (pid === undefined ? undefined : { pid, since: 0 }),
    lock: async () => ({ release: note("unlocked") }),
  } as unknown as RunHome;
  const answers = [...brought];
  const command = { name: "test", green: isGreen, failures: isGreen ? [] : ["x"] };
  const world = {
    close: note("closed"),
    workspaces: { close: note("workspaces") },
    place: { filterProblem: async () => undefined },
    jobs: {
      gate: { run: async () => ({ report: { commands: [command] } }) },
      repository: { land: async () => ({ is: "landed", did: did.push("landed") }) },
    },
  } as unknown as RunWorld;
  const parts = {
    openWorld: () => world,
    git: async () => "",
    delivery: {
      bring: async () => answers.shift() ?? MOVED,
      mergeBase: async () => ({ is: "candidate", commit: "c", onto: "t" }),
      letGo: note("let go"),
    },
  } as unknown as Pick<Parts, "openWorld" | "git" | "delivery">;
  if (closed) seen.take({ type: "run.closed", how: closed, left: [], at: 9 });
  const request = { home, seen, partial };
  const end = await (atEnd
    ? deliverAtEnd({ ...request, config: atEnd }, parts, NEVER)
    : deliverRun(request, parts, NEVER));
  return { end, did };
}

const OPENED = ["let go", "workspaces", "closed", "unlocked"];

describe("a run that is delivered", () => {
  it("moves the branch, and gives back everything that it opened", async () => {
    const { end, did } = await delivered({});
    assert.deepEqual(end, { branch: "main", end: { ...DELIVERED, isMerged: false } });
    assert.deepEqual(did, OPENED);
  });

  it("has what the branch got meanwhile gated and landed first, three times at most", async () => {
    const { end, did } = await delivered({ brought: [MOVED, DELIVERED] });
    assert.ok(end && !hasFailed(end) && end.end.is === "delivered" && end.end.isMerged);
    assert.deepEqual(did, ["landed", ...OPENED]);
    const moving = await delivered({ brought: [] });
    assert.deepEqual(moving.end, { branch: "main", end: { is: "base-keeps-moving", isMerged: true } });
    const red = await delivered({ brought: [MOVED], isGreen: false });
    assert.ok(red.end && !hasFailed(red.end) && red.end.end.is === "red");
    assert.deepEqual(red.did, OPENED, "what fails the gate does not land");
  });

  it("is delivered at its end only if that is configured, and it is done", async () => {
    const at = async (closed: "done" | "cancelled", deliver: boolean) =>
      (await delivered({ closed, atEnd: { deliver } })).end;
    const end = await at("done", true);
    assert.ok(end && !hasFailed(end) && end.end.is === "delivered");
    assert.equal(await at("done", false), undefined);
    assert.equal(await at("cancelled", true), undefined);
  });

  it("stays where it is while it is driven, has landed nothing, or is not closed", async () => {
    for (const [how, why] of [
      [{ pid: 7 }, /running in process 7/],
      [{ landed: false }, /nothing has landed/],
      [{ partial: false }, /is not closed/],
    ] as const) {
      const { end, did } = await delivered(how);
      assert.ok(end && hasFailed(end));
      assert.match(end.failure.message, why);
      assert.deepEqual(did, []);
    }
  });
});
