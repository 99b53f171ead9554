/** Tests the fleet's governor: what it reserves and refuses, and what every other machine may do then. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { systemClock } from "../../src/adapters/clocks/system.ts";
import { Database } from "../../src/adapters/fleet/database.ts";
import { FleetRuns } from "../../src/adapters/fleet/fleet-runs.ts";
import { FleetGovernor } from "../../src/adapters/fleet/governor.ts";
import { followAccounts } from "../../src/adapters/fleet/reports.ts";
import { FleetRunGovernor } from "../../src/adapters/fleet/run-governor.ts";
import { initFleet } from "../../src/compose/fleet.ts";
import { failure } from "../../src/core/failure.ts";
import type { JobId } from "../../src/core/job.ts";
import type { Event, Report } from "../../src/core/log/event.ts";
import { type Failed, hasFailed } from "../../src/core/result.ts";
import type { CallBudget } from "../../src/core/rules/governor.ts";
import type { Limit } from "../../src/core/rules/policy.ts";
import type { TaskId } from "../../src/core/task.ts";
import type { Admitted, GovernedRun, WantedCall } from "../../src/ports/governor.ts";
import { record } from "../contracts/runs.ts";
import { newFolder } from "../support/folders.ts";
import { configOf } from "../support/live-runs.ts";
import { newDatabase, TestPostgres } from "../support/postgres.ts";

const LIMIT = { timeout: 60_000 };
const soon = () => AbortSignal.timeout(20_000);
const clock = systemClock();
const quota = (waitMs: number) => ({ ...failure("quota", "too many requests"), waitMs });

let url: string;
let database: Database;

async function newRun(repository: string) {
  const runs = new FleetRuns({ database, repository, folder: newFolder() });
  const home = await runs.create(record("r1"));
  assert.ok(!hasFailed(home));
  return home.id;
}

let over = new AbortController();
const coordinators: Coordinator[] = [];

async function closeAll(): Promise<void> {
  over.abort();
  over = new AbortController();
  for (const { governor } of coordinators.splice(0)) governor[Symbol.dispose]();
  await database.close();
}

/** Waits until every statement is answered: the governor settles a call's cost without waiting for the database. */
class WatchedDatabase extends Database {
  readonly #asked: Promise<unknown>[] = [];

  override ask<Row extends object = object>(
    ...args: Parameters<Database["ask"]>
  ): Promise<readonly Row[] | Failed> {
    const asked = super.ask<Row>(...args);
    this.#asked.push(asked);
    return asked;
  }

  async answered(): Promise<void> {
    await Promise.all(this.#asked);
  }
}

/** A coordinator whose budgets are plain numbers. */
class Coordinator {
  readonly governor: FleetRunGovernor;
  readonly told: Report[] = [];
  readonly run: string;
  charged = { tokens: 0, microdollars: 0 };
  waits = 0;
  #news = Promise.withResolvers<void>();
  #limits: Readonly<Record<string, Limit>>;

  constructor(run: string, limits: Readonly<Record<string, Limit>> = {}, more: Partial<GovernedRun> = {}) {
    this.run = run;
    this.#limits = limits;
    this.governor = new FleetRunGovernor({ database, run, clock });
    const tell = async (report: Report) => {
      this.told.push(report);
      this.#ring();
    };
    this.governor.connect({
      next: ([account]) => ({ is: "free", account }),
      mayCall: () => undefined,
      budgets: (task) => this.#budgets(task),
      isOpen: () => true,
      reserve: { tokens: 10, microdollars: 10 },
      accounts: ["a", "b"],
      tell: (account, why) => tell({ type: "account-refused", account, failure: why }),
      worked: () => {},
      waits: () => {
        this.waits += 1;
        this.#ring();
      },
      ...more,
    });
    void followAccounts(database, run, tell, over.signal);
    coordinators.push(this);
  }

  #ring(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** Looks again at each report or waiting job; the test's time limit ends the wait. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await this.#news.promise;
  }

  #budgets(task: TaskId): readonly CallBudget[] {
    const names = [`task ${task}`, "run"].filter((name) => name in this.#limits);
    return names.map((name) => ({
      ...{ name, limit: this.#limits[name]!, charged: this.charged },
      failure: failure("budget", `the budget of ${name} is spent`),
    }));
  }

  /** A worker with this job, which has a connection of its own and knows only its permit. */
  async worker(job: string, own = database): Promise<FleetGovernor> {
    const permit = await this.governor.permit({ job: job as JobId, task: taskOf(job) });
    assert.ok(!hasFailed(permit));
    return new FleetGovernor({ database: own, run: this.run, clock, permitOf: async () => permit });
  }

  kept(event: object): Promise<void> {
    this.governor.kept({ at: 1_000, ...event } as Event);
    return this.governor.settled();
  }
}

const taskOf = (job: string) => job.slice("work:".length, job.lastIndexOf("#")) as TaskId;
const call = (job: string, tokens: number, accounts: WantedCall["accounts"] = ["a"]): WantedCall => ({
  ...{ job: job as JobId, task: taskOf(job), accounts },
  most: { tokens, microdollars: tokens },
});

function admitted(answer: object): Admitted {
  assert.ok("account" in answer, JSON.stringify(answer));
  return answer as Admitted;
}

describe("the governor of a fleet", LIMIT, () => {
  afterEach(closeAll);
  beforeEach(async () => {
    url = await newDatabase();
    database = new Database({ url, schema: "skein" });
    assert.ok(!hasFailed(await initFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet)));
  });

  it("keeps all machines together within a budget, also by what is only set aside", async () => {
    const coordinator = new Coordinator(await newRun("x"), { run: { maxTokens: 100 } });
    const [one, two] = [await coordinator.worker("work:t.1#1"), await coordinator.worker("work:t.2#1")];
    const first = admitted(await one.admit(call("work:t.1#1", 60), soon()));
    const second = two.admit(call("work:t.2#1", 60), soon());
    one.settle(first, { tokens: 30 });
    const next = admitted(await second);
    const tooMuch = await one.admit(call("work:t.1#1", 80), soon());
    assert.match("failure" in tooMuch ? tooMuch.failure.message : "admitted", /the budget of run is spent/);
    two.settle(next, "unknown");
    const last = await one.admit(call("work:t.1#1", 20), soon());
    assert.ok("failure" in last, "what nobody knows the cost of stays charged");
  });

  it("counts what the log has charged, a job's own budget, and reserves of jobs that have not called yet", async () => {
    const limits = { run: { maxTokens: 100 }, "task t.1": { maxTokens: 15 } };
    const coordinator = new Coordinator(await newRun("x"), limits);
    coordinator.charged = { tokens: 5, microdollars: 0 };
    const one = await coordinator.worker("work:t.1#1");
    assert.match(JSON.stringify(await one.admit(call("work:t.1#1", 11), soon())), /budget of task t\.1/);
    one.settle(admitted(await one.admit(call("work:t.1#1", 10), soon())), { tokens: 10 });
    const two = await coordinator.worker("work:t.2#1");
    await coordinator.worker("work:t.3#1");
    const most = 100 - 5 - 10 - 10;
    assert.ok(
      "failure" in (await two.admit(call("work:t.2#1", most + 1), soon())),
      "the third has its reserve",
    );
    admitted(await two.admit(call("work:t.2#1", most), soon()));
  });

  it("forgets a job once the log has its answer, and lets nobody call models for it any more", async () => {
    const coordinator = new Coordinator(await newRun("x"), { run: { maxTokens: 100 } });
    const one = await coordinator.worker("work:t.1#1");
    one.settle(admitted(await one.admit(call("work:t.1#1", 90), soon())), { tokens: 90 });
    coordinator.charged = { tokens: 50, microdollars: 0 };
    await coordinator.kept({ type: "job.ended", job: "work:t.1#1", how: "answered" });
    const late = await one.admit(call("work:t.1#1", 1), soon());
    assert.equal("failure" in late && late.failure.kind, "interrupted");
    const two = await coordinator.worker("work:t.2#1");
    admitted(await two.admit(call("work:t.2#1", 50), soon()));
  });

  it("parks an account for every machine and run by one statement, tells their coordinators, and wakes all", async () => {
    const mine = new Coordinator(await newRun("x"));
    const others = new Coordinator(await newRun("y"));
    await database.ask("UPDATE $S.run SET lease_until = now() + interval '1 minute'");
    await using elsewhere = new Database({ url, schema: "skein" });
    const one = await mine.worker("work:t.1#1");
    const two = await others.worker("work:t.1#1", elsewhere);
    admitted(await one.admit(call("work:t.1#1", 1), soon()));
    const begun = performance.now();
    one.refuse("a", quota(700));
    admitted(await one.admit(call("work:t.1#1", 1, ["a", "b"]), soon()));
    const answer = admitted(await two.admit(call("work:t.1#1", 1), soon()));
    const waited = performance.now() - begun;
    assert.ok(waited >= 690 && waited < 4_000, `${waited} ms`);
    assert.equal(answer.account, "a");
    assert.ok(two.waitedMs("work:t.1#1" as JobId) > 500);
    for (const each of [mine, others]) await each.until(() => each.told.length > 0);
    for (const { told } of [mine, others])
      assert.deepEqual(told[0], { type: "account-refused", account: "a", failure: quota(700) });
    await others.until(() => others.waits > 0);
  });

  it("waits as long as a log says, until a log says that the account wakes, and hears when it works again", async () => {
    const coordinator = new Coordinator(await newRun("x"));
    const one = await coordinator.worker("work:t.1#1");
    admitted(await one.admit(call("work:t.1#1", 1), soon()));
    one.refuse("a", quota(50));
    await coordinator.kept({ type: "account.parked", account: "a", until: 61_000, failure: quota(50) });
    const waiting = one.admit(call("work:t.1#1", 1), soon());
    await coordinator.until(() => coordinator.governor.isWaiting("work:t.1#1" as JobId));
    await coordinator.kept({ type: "account.woken", account: "a" });
    one.settle(admitted(await waiting), { tokens: 1 });
    await coordinator.until(() => coordinator.told.some(({ type }) => type === "account-worked"));
  });

  it("takes the next account, and refuses when every key was refused, until a person has seen to it", async () => {
    const coordinator = new Coordinator(await newRun("x"));
    const one = await coordinator.worker("work:t.1#1");
    admitted(await one.admit(call("work:t.1#1", 1), soon()));
    one.refuse("a", failure("authentication", "the key is wrong"));
    assert.equal(admitted(await one.admit(call("work:t.1#1", 1, ["a", "b"]), soon())).account, "b");
    const refused = await one.admit(call("work:t.1#1", 1), soon());
    assert.equal("failure" in refused && refused.failure.message, "the key is wrong");
    await coordinator.kept({ type: "account.woken", account: "a" });
    admitted(await one.admit(call("work:t.1#1", 1), soon()));
  });

  it("tells a coordinator that begins later what was found out before", async () => {
    const first = new Coordinator(await newRun("x"));
    const one = await first.worker("work:t.1#1");
    admitted(await one.admit(call("work:t.1#1", 1), soon()));
    one.refuse("a", quota(60_000));
    await first.until(() => first.told.length > 0);
    const second = new Coordinator(await newRun("y"));
    await second.until(() => second.told.length > 0);
    assert.match(JSON.stringify(second.told[0]), /account-refused.*"a".*too many requests.*"waitMs":5\d{4}/);
  });

  it("lets nothing be called before the run and every budget of the job are written", async () => {
    const run = await newRun("x");
    const coordinator = new Coordinator(run, { run: { maxTokens: 100 } });
    const one = await coordinator.worker("work:t.1#1");
    // The governor reads what the database had before only once, and has done so now.
    await coordinator.governor.settled();
    const moment = () => AbortSignal.timeout(300);
    const kept = await database.ask<{ max_tokens: string }>("DELETE FROM $S.budget RETURNING *");
    assert.ok(!hasFailed(kept) && kept.length === 1);
    assert.ok("failure" in (await one.admit(call("work:t.1#1", 1), moment())), "without its budget");
    const two = await coordinator.worker("work:t.1#1");
    admitted(await two.admit(call("work:t.1#1", 1), soon()));
    await database.ask("DELETE FROM $S.governed");
    assert.ok(
      "failure" in (await one.admit(call("work:t.1#1", 1), moment())),
      "of a run that nobody follows",
    );
  });

  it("takes no number below zero: nobody gets more to spend by asking or settling", async () => {
    const coordinator = new Coordinator(await newRun("x"), { run: { maxTokens: 100 } });
    await using own = new WatchedDatabase({ url, schema: "skein" });
    const one = await coordinator.worker("work:t.1#1", own);
    const first = admitted(await one.admit(call("work:t.1#1", -1_000), soon()));
    one.settle(first, { tokens: -1_000, microdollars: -1_000 });
    await own.answered();
    assert.equal(await count("reservation"), 0);
    const [job] = (await database.ask("SELECT used_tokens, used_microdollars FROM $S.job")) as object[];
    assert.deepEqual(job, { used_tokens: "0", used_microdollars: "0" });
  });

  it("believes a refusal only of an account of the job's own run, and only a short one", async () => {
    const mine = new Coordinator(await newRun("x"));
    const others = new Coordinator(await newRun("y"), {}, { accounts: ["theirs"] });
    await others.worker("work:t.1#1");
    await database.ask("UPDATE $S.run SET lease_until = now() + interval '1 min' WHERE id = $1", [
      others.run,
    ]);
    const permit = await mine.governor.permit({ job: "work:t.1#1" as JobId, task: "t.1" as TaskId });
    assert.ok(!hasFailed(permit));
    const refuse = (account: string, why: string) =>
      database.ask("SELECT $S.refuse($1, $2, 'quota', 60000, $3)", [permit.permit, account, why]);
    assert.ok(!hasFailed(await refuse("theirs", JSON.stringify(quota(1)))));
    assert.equal(await count("account"), 0);
    assert.ok(hasFailed(await refuse("a", JSON.stringify(failure("quota", "x".repeat(9_000))))));
    assert.ok(hasFailed(await refuse("a", "[]")));
    assert.equal(await count("account"), 0);
    for (const account of ["a", "of this machine"])
      assert.ok(!hasFailed(await refuse(account, JSON.stringify(quota(1)))));
    assert.equal(await count("account"), 1, "an account of one machine is that machine's own affair");
    await database.ask("UPDATE $S.run SET lease_until = NULL");
    assert.ok(!hasFailed(await refuse("theirs", JSON.stringify(quota(1)))));
    assert.equal(await count("account"), 1, "also if the other run is over");
  });

  it("hands on a refusal with a long story, and begins although what was kept of an account cannot be read", async () => {
    const first = new Coordinator(await newRun("x"));
    const one = await first.worker("work:t.1#1");
    admitted(await one.admit(call("work:t.1#1", 1), soon()));
    one.refuse("a", { ...quota(60_000), message: "m".repeat(9_000), detail: "d".repeat(9_000) });
    await first.until(() => first.told.length > 0);
    await database.ask(`UPDATE $S.account SET failure = '{"kind": "quota", "mess'`);
    const second = new Coordinator(await newRun("y"));
    await second.until(() => second.told.length > 0);
    assert.match(JSON.stringify(second.told[0]), /account-refused.*"a"/);
  });

  it("lets a machine alone wait for an account that only this machine has", async () => {
    const coordinator = new Coordinator(await newRun("x"));
    const one = await coordinator.worker("work:t.1#1");
    const other = await coordinator.worker("work:t.2#1");
    admitted(await one.admit(call("work:t.1#1", 1, ["own"]), soon()));
    one.refuse("own", quota(700));
    admitted(await other.admit(call("work:t.2#1", 1, ["own"]), soon()));
    const begun = performance.now();
    assert.equal(admitted(await one.admit(call("work:t.1#1", 1, ["own", "a"]), soon())).account, "a");
    admitted(await one.admit(call("work:t.1#1", 1, ["own"]), soon()));
    assert.ok(performance.now() - begun > 500, "nothing calls it before the provider lets it");
  });

  it("stops waiting when it is told to", async () => {
    const coordinator = new Coordinator(await newRun("x"));
    const one = await coordinator.worker("work:t.1#1");
    admitted(await one.admit(call("work:t.1#1", 1), soon()));
    one.refuse("a", quota(60_000));
    const answer = await one.admit(call("work:t.1#1", 1), AbortSignal.timeout(300));
    assert.equal("failure" in answer && answer.failure.kind, "interrupted");
  });
});

it("a worker that cannot reach Postgres calls nothing before it is back", LIMIT, async () => {
  await using postgres = await TestPostgres.start();
  url = await postgres.newDatabase();
  database = new Database({ url, schema: "skein" });
  assert.ok(!hasFailed(await initFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet)));
  const coordinator = new Coordinator(await newRun("x"));
  await using own = new WatchedDatabase({ url, schema: "skein" });
  const one = await coordinator.worker("work:t.1#1", own);
  const first = admitted(await one.admit(call("work:t.1#1", 1), soon()));
  await postgres.stop();
  one.settle(first, { tokens: 1 });
  assert.ok("failure" in (await one.admit(call("work:t.1#1", 1), AbortSignal.timeout(500))));
  const waiting = one.admit(call("work:t.1#1", 1), soon());
  await postgres.start();
  admitted(await waiting);
  await own.answered();
  assert.equal(await count("reservation"), 1);
  await closeAll();
});

async function count(table: string): Promise<number> {
  const rows = await database.ask<{ n: number }>(`SELECT count(*)::int AS n FROM $S.${table}`);
  assert.ok(!hasFailed(rows));
  return rows[0]!.n;
}
