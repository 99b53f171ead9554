/** Makes a coordinator's parts that talk to Postgres, and sessions of workers that use their role in any way. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { systemClock } from "../../src/adapters/clocks/system.ts";
import { endBlockingSessions } from "../../src/adapters/fleet/blocking-sessions.ts";
import { Database } from "../../src/adapters/fleet/database.ts";
import { FleetRuns } from "../../src/adapters/fleet/fleet-runs.ts";
import { followAccounts } from "../../src/adapters/fleet/reports.ts";
import { FleetRunGovernor } from "../../src/adapters/fleet/run-governor.ts";
import { FleetOffers } from "../../src/adapters/job-queues/fleet-offers.ts";
import { FleetSource } from "../../src/adapters/job-queues/fleet-source.ts";
import { initFleet, inviteToFleet, revokeFromFleet } from "../../src/compose/fleet.ts";
import { failure } from "../../src/core/failure.ts";
import type { JobId } from "../../src/core/job.ts";
import type { Report } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
import { record } from "../contracts/runs.ts";
import { newFolder } from "../support/folders.ts";
import { configOf } from "../support/live-runs.ts";
import { newDatabase } from "../support/postgres.ts";

const clock = systemClock();
export const job = (n: number) => `work:t.${n}#1` as JobId;

/** A coordinator with the parts that talk to Postgres, and the address that its workers have. */
export async function openFleet() {
  const stack = new AsyncDisposableStack();
  const url = await newDatabase();
  const database = stack.use(new Database({ url, schema: "skein" }));
  assert.ok(!hasFailed(await initFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet)));
  const workers = new URL(url);
  workers.username = "skein_worker";
  const over = new AbortController();
  stack.defer(() => over.abort());
  const told: Report[] = [];
  const tell = async (report: Report) => void told.push(report);
  const run = async (name: string, accounts: readonly string[] = ["a"], maxTokens = 1_000_000) => {
    const home = await new FleetRuns({ database, repository: "x", folder: newFolder() }).create(record(name));
    assert.ok(!hasFailed(home));
    const heard: Report[] = [];
    const hear = async (report: Report) => void heard.push(report);
    const governor = stack.use(new FleetRunGovernor({ database, run: home.id, clock }));
    const budgets = () => [
      {
        ...{ name: "run", limit: { maxTokens }, charged: { tokens: 0, microdollars: 0 } },
        failure: failure("budget", "it is spent"),
      },
    ];
    governor.connect({
      next: ([account]) => ({ is: "free", account }),
      ...{ mayCall: () => undefined, budgets, isOpen: () => true, worked: () => {}, waits: () => {} },
      ...{ reserve: { tokens: 100, microdollars: 0 }, accounts, tell: async () => {} },
    });
    await database.ask("UPDATE $S.run SET lease_until = now() + interval '5 minutes' WHERE id = $1", [
      home.id,
    ]);
    void followAccounts(database, home.id, hear, over.signal);
    const offers = stack.adopt(
      new FleetOffers({
        ...{ database, run: name, runId: home.id, fence: 0, termsOf: governor.termsOf },
        ...{ onQuiet: () => {}, onTaken: () => {}, onReturned: () => {} },
      }),
      (one) => one.close(),
    );
    const offer = async (n: number) => {
      const tree = { job: job(n), commit: "0".repeat(40), rules: "0".repeat(40) };
      const what = { is: "gate", tree } as const;
      offers.follow(job(n), () => {});
      assert.equal(await offers.offer({ job: job(n), needs: [], what, labels: [], priority: 1 }), "offered");
    };
    return { home, governor, offers, offer, heard };
  };
  const machine = async (name: string) => {
    const own = stack.use(new Database({ url: workers.href, schema: "skein", machine: name }));
    const source = await FleetSource.open({ database: own, name, labels: [], capacity: 1, version: "1" });
    assert.ok(!hasFailed(source), JSON.stringify(source));
    return stack.use(source);
  };
  /** Opens a session that can send any statement that its role allows. */
  const session = async (address = workers.href, name = "liar") => {
    const client = new Client({ connectionString: address, application_name: `skein worker ${name}` });
    client.on("error", () => {}); // The coordinator ended the session.
    const ended = new Promise<void>((resolve) => client.once("end", resolve));
    await client.connect();
    stack.defer(() => client.end().catch(() => {})); // The session may have been ended before.
    return { ask: (text: string, values: readonly unknown[] = []) => client.query(text, [...values]), ended };
  };
  const joined = async (name: string) => {
    const [liar, token] = [await session(workers.href, name), randomUUID()];
    const { rows } = await liar.ask("SELECT skein.worker_join($1, $2, '{}', 1, '1') AS is", [name, token]);
    assert.deepEqual(rows, [{ is: "joined" }]);
    const take = async () => {
      const permit = randomUUID();
      const { rows: taken } = await liar.ask("SELECT * FROM skein.worker_take($1, $2, 0)", [permit, token]);
      assert.notEqual(taken[0].offer, null);
      return permit;
    };
    return { ...liar, token, take };
  };
  /** A session of a machine with a role of its own. */
  const invited = async (name: string) => {
    const made = await inviteToFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet, {
      name,
      expiresMs: 3_600_000,
    });
    assert.ok(!hasFailed(made), JSON.stringify(made));
    stack.defer(async () => void (await revokeFromFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet, name)));
    return session(made.address, name);
  };
  const guard = () =>
    void endBlockingSessions(database, (held) => void tell({ type: "held", ...held }), over.signal);
  const all = { url, workers, database, run, machine, session, joined, invited, guard, told, tell, over };
  return { ...all, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

export type Fleet = Awaited<ReturnType<typeof openFleet>>;
