/** Runs the fleet's adapters in Postgres against the contracts of their ports. */
import { before } from "node:test";
import { Database } from "../../src/adapters/fleet/database.ts";
import { FleetRuns } from "../../src/adapters/fleet/fleet-runs.ts";
import { migrateSchema } from "../../src/adapters/fleet/schema.ts";
import { hasFailed } from "../../src/core/result.ts";
import { eventLogContract } from "../contracts/event-log.ts";
import { mailboxContract } from "../contracts/mailbox.ts";
import { record, runsContract } from "../contracts/runs.ts";
import { newFolder } from "../support/folders.ts";
import { newDatabase } from "../support/postgres.ts";

let database: Database;
before(async () => {
  database = new Database({ url: await newDatabase(), schema: "skein" });
  const made = await migrateSchema(database);
  if (hasFailed(made)) throw new Error(made.failure.message);
});

let repositories = 0;
const newRuns = () => {
  repositories += 1;
  const options = { repository: `repository ${repositories}`, folder: newFolder() };
  return () => new FleetRuns({ database, ...options });
};

/** Opens the adapter at its first use, because the contracts open theirs synchronously. */
function later<T extends object>(open: () => Promise<T>): T {
  let opened: Promise<T> | undefined;
  return new Proxy({} as T, {
    get:
      (_, name) =>
      (...args: unknown[]) => {
        opened ??= open();
        return call(opened, name, args);
      },
  });
}

function call(opened: Promise<object>, name: string | symbol, args: readonly unknown[]): unknown {
  const called = opened.then((one) =>
    (one as Record<string | symbol, (...args: unknown[]) => unknown>)[name]!.apply(one, [...args]),
  );
  if (name !== "read" && name !== "receive") return called;
  return (async function* () {
    yield* (await called) as AsyncIterable<unknown>;
  })();
}

async function newRun() {
  const home = await newRuns()().create(record("r1"));
  if (hasFailed(home)) throw new Error(home.failure.message);
  return home;
}

runsContract("of a fleet", newRuns);
eventLogContract("of a fleet", () => later(async () => (await newRun()).log));
mailboxContract("of a fleet", () => {
  const home = newRun();
  return () => later(async () => (await home).mailbox);
});
