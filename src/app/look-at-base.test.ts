/** Tests the look at the base: what fails, and when an earlier gate's result is reused. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { GREEN, RED } from "../../test/support/job-ports.ts";
import { defaultConfig } from "../config/read.ts";
import { hasFailed } from "../core/result.ts";
import type { GatedTree, GateRun } from "../ports/gate.ts";
import type { RunHome } from "../ports/runs.ts";
import { lookAtBase } from "./look-at-base.ts";
import type { Parts, RunWorld } from "./parts.ts";

async function look(ran: GateRun, mayReuse?: boolean) {
  const asked: GatedTree[] = [];
  const run = async (tree: GatedTree) => {
    asked.push(tree);
    return ran;
  };
  const done = async () => {};
  const world = {
    jobs: { gate: { run, probe: async () => ({ is: "proved" }) } },
    ...{ leave: done, settle: done, close: done },
    workspaces: { holders: async () => [], space: async () => ({ freeBytes: 1e9 }), close: async () => [] },
  } as unknown as RunWorld;
  const parts: Pick<Parts, "newRunName" | "openTrialHome" | "openWorld"> = {
    newRunName: () => "1118-made",
    openTrialHome: async () => ({ home: {} as RunHome, [Symbol.asyncDispose]: done }),
    openWorld: () => world,
  };
  const request = { config: defaultConfig(), commit: "c", ...(mayReuse && { mayReuse }) };
  const looked = await lookAtBase(request, parts, new AbortController().signal);
  assert.ok(!hasFailed(looked));
  return { looked, tree: asked[0]! };
}

it("a look at the base says what fails, and names no file that is gone with the trial", async () => {
  const { looked } = await look({ ...RED, output: "/gone/with/the/trial.log" });
  assert.ok(looked.look && looked.look.count > 0);
  assert.equal(looked.look.output, undefined);
  assert.equal((await look(GREEN)).looked.look, undefined);
});

it("only a look that is as a run's first one takes what an earlier gate said", async () => {
  assert.equal((await look(GREEN, true)).tree.mayReuse, true);
  assert.equal((await look(GREEN)).tree.mayReuse, undefined);
});
