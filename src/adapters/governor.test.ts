/** Tests the governor of one process: rate limits, refused keys, fallbacks, budgets and waits. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { type Failure, failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import type { Live, NextAccount } from "../core/rules/governor.ts";
import type { TaskId } from "../core/task.ts";
import type { Admitted, WantedCall } from "../ports/governor.ts";
import { ManualClock } from "./clocks/manual.ts";
import { InProcessGovernor } from "./governor.ts";

const never = new AbortController().signal;
const JOB = "work:t.1#1" as JobId;
const call = (tokens = 10, job = JOB, accounts: WantedCall["accounts"] = ["a"]): WantedCall => ({
  job,
  task: "t.1" as TaskId,
  accounts,
  most: { tokens },
});
const settled = async () => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
};

describe("the governor of one process", () => {
  let clock: ManualClock;
  let governor: InProcessGovernor;
  /** The parts of the log's state that the governor asks for. */
  let accounts: Map<string, NextAccount>;
  let told: { readonly account: string; readonly why: Failure; readonly heard: () => void }[];
  let worked: string[];
  let waits: number;
  let maxTokens: number;

  beforeEach(() => {
    clock = new ManualClock(1_000);
    governor = new InProcessGovernor(clock);
    accounts = new Map();
    told = [];
    worked = [];
    waits = 0;
    maxTokens = Number.POSITIVE_INFINITY;
    governor.connect({
      next: (names) => {
        const free = names.find((name) => !accounts.has(name));
        return free === undefined ? accounts.get(names[0])! : { is: "free", account: free };
      },
      mayCall: ({ most }, live: Live) => {
        const used = [...live.values()].reduce((sum, { tokens }) => sum + tokens, 0);
        return used + most.tokens > maxTokens ? failure("budget", "too much") : undefined;
      },
      budgets: () => [],
      isOpen: () => false,
      reserve: { tokens: 0 },
      accounts: [],
      tell: (account, why) => new Promise((heard) => void told.push({ account, why, heard })),
      worked: (account) => void worked.push(account),
      waits: () => {
        waits += 1;
      },
    });
  });

  const admitted = async (wanted = call()): Promise<Admitted> => {
    const found = await governor.admit(wanted, never);
    assert.ok("account" in found, JSON.stringify(found));
    return found;
  };
  /** Asks to call a model; tells whether it is still waiting, and how it ended. */
  const asking = (wanted = call(), signal = never) => {
    const end: { value?: Awaited<ReturnType<InProcessGovernor["admit"]>> } = {};
    void governor.admit(wanted, signal).then((value) => {
      end.value = value;
    });
    return end;
  };

  it("admits nobody to an account from the moment that it was refused, before the log knows", async () => {
    governor.refuse("a", failure("quota", "none left"));
    const waiting = asking();
    await settled();
    assert.equal(waiting.value, undefined);
    assert.deepEqual([waits, governor.isWaiting(JOB)], [1, true]);
    accounts.set("a", { is: "parked", until: 5_000 });
    told[0]!.heard();
    await settled();
    assert.equal(waiting.value, undefined, "it waits for the reset now");
    clock.wakeAt(5_000, () => {
      accounts.delete("a");
      governor.follow({ type: "account.woken", account: "a", at: 5_000 });
    });
    clock.step();
    await settled();
    assert.deepEqual(waiting.value, { account: "a", id: 1 });
    assert.equal(governor.waitedMs(JOB), 4_000);
    assert.equal(governor.isWaiting(JOB), false);
  });

  it("waits for the log, whatever its own clock says", async () => {
    accounts.set("a", { is: "parked", until: 900 });
    const waiting = asking();
    await settled();
    assert.equal(clock.next(), undefined, "nobody is woken by a clock");
    accounts.delete("a");
    governor.follow({ type: "account.woken", account: "a", at: 0 });
    await settled();
    assert.ok(waiting.value);
  });

  it("says once that an account answers again: not of a call from before it woke, nor of one that was refused", async () => {
    const before = await admitted();
    governor.follow({ type: "account.woken", account: "a", at: 0 });
    governor.settle(before, { tokens: 3 });
    governor.settle(await admitted(), { tokens: 0 });
    governor.settle(await admitted(), "unknown");
    assert.deepEqual(worked, []);
    for (const call of [await admitted(), await admitted()]) governor.settle(call, { tokens: 3 });
    assert.deepEqual(worked, ["a"]);
  });

  it("takes the next account of the chain", async () => {
    accounts.set("a", { is: "parked", until: 5_000 });
    assert.equal((await admitted(call(1, JOB, ["a", "b"]))).account, "b");
    governor.refuse("b", failure("quota", "none left"));
    const waiting = asking(call(1, JOB, ["a", "b"]));
    await settled();
    assert.equal(waiting.value, undefined);
  });

  it("says no where a key was refused, unless another of the chain is being decided on", async () => {
    accounts.set("a", { is: "refused", failure: failure("authentication", "wrong key") });
    const found = await governor.admit(call(), never);
    assert.equal("failure" in found && found.failure.kind, "authentication");
    governor.refuse("b", failure("quota", "none left"));
    const waiting = asking(call(1, JOB, ["a", "b"]));
    await settled();
    assert.equal(waiting.value, undefined);
  });

  it("lets a call wait for what is only set aside, and refuses it once that is spent", async () => {
    maxTokens = 25;
    const [first, second] = [await admitted(), await admitted()];
    const waiting = asking();
    await settled();
    assert.equal(waiting.value, undefined, "20 are set aside, 5 are left");
    governor.settle(first, { tokens: 3 });
    await settled();
    assert.deepEqual(waiting.value, { account: "a", id: 3 });
    governor.settle(second, { tokens: 12 });
    governor.settle({ account: "a", id: 3 }, "unknown");
    const found = await governor.admit(call(1), never);
    assert.equal("failure" in found && found.failure.kind, "budget", "3 + 12 + 10 are spent");
  });

  it("forgets what a job used once the log has it", async () => {
    maxTokens = 10;
    governor.settle(await admitted(), { tokens: 10 });
    assert.ok("failure" in (await governor.admit(call(), never)));
    governor.follow({ type: "job.ended", job: JOB, how: "answered", at: 0 });
    await admitted();
  });

  it("counts what a job uses that was given up and goes on, until it has said what it cost", async () => {
    maxTokens = 12;
    const late = await admitted();
    governor.follow({ type: "job.ended", job: JOB, how: "expired", at: 0 });
    const waiting = asking(call(5, "work:t.2#1" as JobId));
    await settled();
    assert.equal(waiting.value, undefined, "10 are set aside for it");
    governor.settle(late, { tokens: 9 });
    await settled();
    assert.ok(waiting.value && "failure" in waiting.value, "9 are spent");
    governor.follow({ type: "job.ended", job: JOB, how: "dropped", at: 0 });
    await admitted(call(12));
  });

  it("ends a wait that is called off, and counts the time of calls that wait together once", async () => {
    accounts.set("a", { is: "parked", until: 9_000 });
    const stop = new AbortController();
    const [one, two] = [asking(call(), stop.signal), asking(call(), stop.signal)];
    await settled();
    clock.wakeAt(3_000, () => stop.abort());
    clock.step();
    await settled();
    for (const { value } of [one, two])
      assert.equal(value && "failure" in value && value.failure.kind, "interrupted");
    assert.equal(governor.waitedMs(JOB), 2_000);
  });

  it("admits nobody before it is connected to a run", async () => {
    const stop = new AbortController();
    const waiting = new InProcessGovernor(clock).admit(call(), stop.signal);
    stop.abort();
    assert.ok("failure" in (await waiting));
  });
});
