/** Tests watching a running engine, commands from the mailbox, and gentle stops. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as drained } from "node:timers/promises";
import { CoreRun, MINUTE, task } from "../../test/support/core-run.ts";
import { ManualClock } from "../adapters/clocks/manual.ts";
import { MemoryEventLog } from "../adapters/event-logs/memory.ts";
import { failure } from "../core/failure.ts";
import { type JobId, jobId } from "../core/job.ts";
import { evolve } from "../core/log/evolve.ts";
import { emptyState, type Running } from "../core/log/state.ts";
import { defaultPolicy } from "../core/rules/policy.ts";
import type { TaskId } from "../core/task.ts";
import type { BaseBranch } from "../ports/base-branch.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { Mailbox } from "../ports/mailbox.ts";
import { Drive } from "./drive.ts";
import { Fold } from "./fold.ts";

const OPEN = { type: "open", request: { run: "r1", goal: "make it", base: "c0" } } as const;

/** Jobs that are offered and never answer by themselves. */
function setting() {
  const log = new MemoryEventLog();
  const clock = new ManualClock();
  const queue: JobQueue = {
    offer: () => {},
    cancel: () => {},
    recover: async () => ({ is: "gone" }),
  };
  const seen: string[] = [];
  const drive = new Drive({ log, queue, clock, policy: defaultPolicy }, (event) => seen.push(event.type));
  return { log, clock, drive, seen };
}

/** Adds a running landing that the engine did not start. */
function underWay(drive: Drive, turn: number): JobId {
  const job = { kind: "land", turn, members: [] } as const;
  (drive.state.running as Map<JobId, Running>).set(jobId(job), { job, since: 0, until: 1e9 });
  return jobId(job);
}

const settle = async () => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
};

describe("a drive", () => {
  it("hears what waits in the mailbox before any deadline: an answer that was given in time is not lost", async () => {
    const { log, clock, drive } = setting();
    const run = CoreRun.planned([task("a")]);
    const question = { text: "Which?", default: "the first", waitMs: MINUTE };
    const session = "work:t.1#1" as JobId;
    run.answer(session, { is: "called", call: { is: "question", question }, start: "so far", session });
    await log.append(0, run.log);
    clock.wakeAt(10 * MINUTE, () => {});
    clock.step(); // Time in which no process drives the run.
    const command = { type: "answer", question: "q1", text: "mine" } as const;
    const mailbox: Mailbox = {
      send: async () => ({ failure: failure("interrupted", "unused") }),
      async *receive(_signal, onCaughtUp) {
        await drained(); // Reading a folder takes a while, in which a deadline could have passed.
        while ((clock.next() ?? Number.POSITIVE_INFINITY) <= clock.now()) clock.step();
        await drained();
        yield { command, answer: async () => {} };
        onCaughtUp?.();
      },
    };
    const end = drive.run({ type: "resume" }, true);
    await drive.listen(mailbox, new AbortController().signal);
    await drive.caughtUp;
    const answered = log.events.find((event) => event.type === "question.answered");
    assert.deepEqual(answered?.type === "question.answered" && [answered.by, answered.text], [
      "person",
      "mine",
    ]);
    drive.stopNow();
    await end;
  });

  it("shows every event once it is durable, and the state that they make", async () => {
    const { log, drive, seen } = setting();
    const end = drive.run(OPEN);
    await settle();
    assert.deepEqual(
      seen,
      log.events.map((event) => event.type),
    );
    assert.ok(seen.length > 1);
    const told = emptyState();
    for (const event of log.events) evolve(told, event);
    assert.deepEqual([...drive.state.running.keys()], [...told.running.keys()]);
    drive.stopNow();
    assert.equal((await end).is, "stopped");
  });

  it("stops at once when it is asked kindly and nothing is landing, with the pause on record", async () => {
    const { drive, seen } = setting();
    const end = drive.run(OPEN);
    await settle();
    drive.stopGently(10_000);
    assert.equal((await end).is, "stopped");
    assert.equal(seen.at(-1), "run.paused");
  });

  it("waits no longer for a landing than it was told", async () => {
    const { drive, clock } = setting();
    const end = drive.run(OPEN);
    await settle();
    underWay(drive, 1); // Then the pause alone does not stop the engine.
    drive.stopGently(10_000);
    await settle();
    const ended = await Promise.race([end, settle().then(() => undefined)]);
    assert.equal(ended, undefined);
    clock.step();
    assert.equal((await end).is, "stopped");
    assert.equal(clock.now(), 10_000);
  });

  it("waits for the landing that was under way, and for none that was begun since", async () => {
    const { drive } = setting();
    const end = drive.run(OPEN);
    await settle();
    const first = underWay(drive, 1);
    drive.stopGently(10_000);
    await settle();
    underWay(drive, 2);
    (drive.state.running as Map<JobId, Running>).delete(first);
    void drive.say({ type: "steer", message: "anything" }); // Appends something, as the end of a landing would.
    assert.equal((await end).is, "stopped");
  });

  it("answers what was said to it once it is durable, with the reason if nothing is done about it", async () => {
    const { drive, log } = setting();
    const end = drive.run(OPEN);
    await settle();
    assert.deepEqual(await drive.say({ type: "steer", message: "look at b first" }), { is: "heard" });
    assert.equal(log.events.at(-1)?.type, "run.steered");
    const unknown = await drive.say({ type: "cancel", task: "t.9" as TaskId });
    assert.deepEqual(unknown, { is: "refused", reason: "there is no such task" });
    drive.stopNow();
    await end;
  });

  it("shows nothing that could not be written", async () => {
    const { drive, seen, log } = setting();
    Object.assign(log, {
      append: async () => ({ is: "failed", failure: failure("repository", "the disk is full") }),
    });
    const end = await drive.run(OPEN);
    assert.equal(end.is, "lost");
    assert.deepEqual(seen, []);
  });

  it("says once where the base was moved to, and rests before it says so again", async () => {
    const { drive, seen, clock, log } = setting();
    const end = drive.run(OPEN);
    const over = new AbortController();
    const asked: string[] = [];
    const told = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    const following = drive.followBase(
      {
        moves: async function* (known) {
          asked.push(known);
          for (const { promise } of told) {
            asked.push("next");
            yield await promise;
          }
        },
      },
      "c0",
      over.signal,
    );
    await settle();
    assert.deepEqual(asked, ["c0", "next"]);
    told[0]!.resolve("b1");
    told[1]!.resolve("b2");
    await settle();
    const moves = () => log.events.flatMap((event) => (event.type === "base.moved" ? [event.commit] : []));
    assert.deepEqual(
      [moves(), asked],
      [["b1"], ["c0", "next"]],
      "it is not asked again before it has rested",
    );
    const restedAt = clock.now() + defaultPolicy.sweep.redMs;
    while (moves().length < 2) {
      assert.ok(clock.step());
      await settle();
    }
    assert.equal(clock.now(), restedAt);
    assert.deepEqual(moves(), ["b1", "b2"]);
    assert.ok(seen.includes("base.moved"));
    over.abort();
    await following;
    drive.stopNow();
    await end;
  });

  it("compares the base with where the log last saw it", async () => {
    const { log, clock, drive: first } = setting();
    const end = first.run(OPEN);
    const over = new AbortController();
    const following = first.followBase(movedTo("b7"), "c0", over.signal);
    await settle();
    over.abort();
    await following;
    first.stopNow();
    await end;
    const queue: JobQueue = { offer: () => {}, cancel: () => {}, recover: async () => ({ is: "gone" }) };
    const fold = new Fold();
    await fold.catchUp(log);
    const second = new Drive({ log, queue, clock, policy: defaultPolicy }, () => {}, fold);
    const known = Promise.withResolvers<string>();
    const base: BaseBranch = {
      moves: async function* (said) {
        known.resolve(said);
        yield* [];
      },
    };
    const followed = second.followBase(base, "c0", new AbortController().signal);
    const ended = second.run({ type: "resume" });
    assert.equal(await known.promise, "b7");
    await followed;
    second.stopNow();
    await ended;
  });

  it("stops to follow the base when it is over, also while it rests, and before anything was read", async () => {
    const { drive, clock } = setting();
    await drive.followBase(movedTo("b1"), "c0", AbortSignal.abort());
    const end = drive.run(OPEN);
    const over = new AbortController();
    const following = drive.followBase(movedTo("b1"), "c0", over.signal);
    await settle();
    const before = clock.next();
    over.abort();
    await following;
    assert.notEqual(clock.next(), before, "nothing is left to wake for");
    drive.stopNow();
    await end;
  });
});

const movedTo = (commit: string): BaseBranch => ({
  moves: async function* () {
    yield commit;
  },
});
