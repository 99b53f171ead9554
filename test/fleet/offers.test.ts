/** Tests that a coordinator's offers block no other coordinator, and free the jobs of dead machines. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Database } from "../../src/adapters/fleet/database.ts";
import type { TermsOf } from "../../src/adapters/fleet/run-governor.ts";
import { FleetOffers } from "../../src/adapters/job-queues/fleet-offers.ts";
import { FleetSource } from "../../src/adapters/job-queues/fleet-source.ts";
import { initFleet } from "../../src/compose/fleet.ts";
import type { JobId } from "../../src/core/job.ts";
import { hasFailed } from "../../src/core/result.ts";
import { configOf } from "../support/live-runs.ts";
import { newDatabase } from "../support/postgres.ts";

const JOB = "gate:a" as JobId;
const NO_TERMS: TermsOf = async () => ({ countsIn: [], limitedBy: [] });

async function openFleet() {
  const stack = new AsyncDisposableStack();
  const url = await newDatabase();
  const database = stack.use(new Database({ url, schema: "skein" }));
  const made = await initFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet);
  assert.ok(!hasFailed(made), JSON.stringify(made));
  const rows = await database.ask<{ readonly id: string }>(
    `INSERT INTO $S.run (repository, name, key, record, created_at)
     VALUES ('test', 'r1', gen_random_uuid(), '{}', 0) RETURNING id`,
  );
  assert.ok(!hasFailed(rows), JSON.stringify(rows));
  const runId = rows[0]!.id;
  const coordinator = ({ at = database, termsOf = NO_TERMS } = {}) => {
    const options = {
      database: at,
      run: "r1",
      runId,
      fence: 0,
      onQuiet: () => {},
      onTaken: () => {},
      onReturned: () => {},
    };
    return stack.adopt(new FleetOffers({ ...options, termsOf }), (offers) => offers.close());
  };
  const machine = async (name: string) => {
    const source = await FleetSource.open({ database, name, labels: [], capacity: 1, version: "test" });
    assert.ok(!hasFailed(source));
    return stack.use(source);
  };
  return { database, runId, coordinator, machine, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const offer = (offers: FleetOffers) => {
  const tree = { job: JOB, commit: "0".repeat(40), rules: "0".repeat(40) };
  return offers.offer({ job: JOB, needs: [], what: { is: "gate", tree }, labels: [], priority: 1 });
};

describe("the offers of a coordinator", { timeout: 90_000 }, () => {
  it("lets another take over the run while it finds out what a job may use", async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const { promise: may, resolve: go } = Promise.withResolvers<void>();
    await using fleet = await openFleet();
    const { database, runId, coordinator } = fleet;
    const termsOf: TermsOf = async (job) => {
      onAsked();
      await may;
      return NO_TERMS(job);
    };
    const offered = offer(coordinator({ termsOf }));
    await asked;
    const taken = await database.ask(
      "WITH waits AS (SELECT set_config('lock_timeout', '2s', true)) UPDATE $S.run SET fence = 1 FROM waits WHERE id = $1",
      [runId],
    );
    go();
    assert.ok(!hasFailed(taken), JSON.stringify(taken));
    const result = await offered;
    assert.match(result === "offered" ? result : result.failure.message, /another coordinator/);
  });

  it("gives jobs of dead machines to others after a takeover, though it offers nothing itself", async () => {
    await using fleet = await openFleet();
    const { database, coordinator, machine } = fleet;
    const first = coordinator();
    assert.equal(await offer(first), "offered");
    const dead = await machine("dead");
    assert.ok(await dead.next(AbortSignal.timeout(15_000)));
    await dead[Symbol.asyncDispose](); // From here on the machine sends no heartbeat.
    await first.close();
    coordinator().follow(JOB, () => {});
    await database.ask(`UPDATE "skein_jobs".job SET heartbeat_on = now() - interval '1 hour'`);
    const again = await (await machine("other")).next(AbortSignal.timeout(15_000));
    assert.equal(again?.offered.job, JOB);
  });
});
