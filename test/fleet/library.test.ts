/** Tests that a program can coordinate a fleet's run through the library, with a configured agent. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createOrchestrator, hasFailed } from "../../src/index.ts";
import { newDatabase } from "../support/postgres.ts";
import { openRepository } from "../support/repositories.ts";
import { plans, task, writes } from "../support/scripts.ts";
import { makeFleetPlace } from "./fleet-place.ts";

describe("a run of the library on a fleet", { timeout: 120_000 }, () => {
  it("is worked on by the fleet's machines, lands on the remote, and is found in another clone", async () => {
    const script = { plans: { t: [plans(task("a")), plans()] }, work: { a: [writes("a.txt", "good\n")] } };
    await using place = await makeFleetPlace({ url: await newDatabase(), files: { "b.txt": "b\n" }, script });
    const worker = place.worker();
    const { clone, folder, env } = await place.machine();
    const agent = { kind: "scripted", script: `${folder}/script.json` } as const;
    const config = { fleet: { enabled: true }, agent, gate: "none" } as const;
    await using skein = createOrchestrator({ repository: clone, config, env });
    const run = await skein.run({ goal: "be worked on elsewhere" });
    assert.ok(!hasFailed(run), JSON.stringify(run));
    assert.deepEqual(await run.ended, { is: "closed", how: "done", left: [] });
    assert.equal(await openRepository(place.remote).git("show", `${run.target}:a.txt`), "good");
    await worker.says(/work:t\.1#1: worked after/);

    const other = await place.machine();
    await using elsewhere = createOrchestrator({ repository: other.clone, config, env: other.env });
    const view = await elsewhere.view(run.run);
    assert.ok(!hasFailed(view), JSON.stringify(view));
    assert.equal(view.is, "done");
  });

  it("is refused with functions, and without an address", async () => {
    await using place = await makeFleetPlace({ url: await newDatabase(), files: { "b.txt": "b\n" } });
    const { clone: repository, env } = await place.machine();
    const config = { fleet: { enabled: true } };
    const worker = () => ({ status: "complete", summary: "done here" }) as const;
    await using here = createOrchestrator({ repository, config, env, worker });
    const run = await here.run({ goal: "stay" });
    assert.match(hasFailed(run) ? run.failure.message : "", /cannot run on other machines of a fleet/);
    assert.deepEqual(await here.runs(), []);
    await using lost = createOrchestrator({ repository, config, env: { ...env, SKEIN_FLEET_URL: "" } });
    const none = await lost.runs();
    assert.match(hasFailed(none) ? none.failure.message : "", /no address of the fleet's Postgres/);
  });
});
