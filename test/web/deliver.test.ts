/** Tests that the page's server delivers whole runs with a green target, and only to the run's own branch. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
import { CoreRun, task } from "../support/core-run.ts";
import { makeRun, serve } from "./place.ts";

it("delivers no target on which the gate fails, no part of a run, and nowhere else than to its own branch", async () => {
  await using run = await makeRun();
  await using served = await serve(run.project);
  const { project, base, repository } = run;
  const main = await repository.git("rev-parse", "main");
  const send = async (name: string, said: object) => {
    const response = await fetch(`${served.origin}/api/runs/${name}/commands`, {
      method: "POST",
      headers: { Authorization: `Bearer ${served.token}` },
      body: JSON.stringify({ type: "deliver", ...said }),
    });
    return { status: response.status, ...((await response.json()) as { reason?: string; error?: string }) };
  };
  const landed = CoreRun.planned([task("one")]);
  landed.finish("t.1");
  const fails = { commands: [{ name: "test", green: false, failures: ["x"] }] };
  const red = [7, 8].map((at) => ({
    ...{ type: "target.checked", tip: landed.state.target.tip, report: fails, at },
  }));
  const closed = { type: "run.closed", how: "incomplete", left: ["the gate fails on the target"], at: 9 };
  for (const [name, more, words] of [
    ["1118-red", [...red, closed], /the gate fails on the target/],
    ["1118-part", [closed], /only a part of the goal/],
    ["1118-open", [], /is not closed/],
  ] as const) {
    const record = { run: name, goal: "x", base, baseBranch: "elsewhere", createdAt: 1, settings: {} };
    const home = await project.runs.create(record);
    assert.ok(!hasFailed(home));
    await home.log.append(0, [...landed.log, ...more] as readonly Event[]);
    const { status, reason = "" } = await send(name, {});
    assert.equal(status, 409);
    assert.match(reason, words);
    for (const asked of [{ branch: "main" }, { intoCheckout: true }, { partial: true }, { red: true }])
      assert.equal((await send(name, asked)).status, 400, JSON.stringify(asked));
  }
  assert.equal(await repository.git("rev-parse", "main"), main);
});
