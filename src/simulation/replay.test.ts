import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedTeam } from "../../test/simulation/scripted-team.ts";
import { simulate } from "../../test/simulation/simulate.ts";
import { type Mischief, noMischief } from "../../test/simulation/virtual-queue.ts";
import { failure } from "../core/failure.ts";
import { jobId } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";
import { defaultPolicy, type Policy } from "../core/rules/policy.ts";
import { assume, NOTHING_LEARNT } from "./assumed.ts";
import { endTimes } from "./end-times.ts";
import { recordingOf } from "./from-log.ts";
import { learnFrom } from "./learnt.ts";
import { randomFrom, seedFor } from "./random.ts";
import { replay, withoutHistory } from "./replay.ts";
import { timelineOf } from "./timeline.ts";
import { VirtualRepository } from "./virtual-repository.ts";

const RED_BASE = [{ class: "tests", name: "test: old", files: ["src/old.ts"], message: "it fails" }] as const;

/** Workers that die, fail or cannot be reached, and planners that say nothing readable; by seed. */
const mishaps = (seed: number): Mischief => ({
  ...noMischief,
  fate: (job, _brief, ms) => {
    const random = randomFrom(seedFor(seed, `the fate of ${jobId(job)}`));
    const fails = (kind: "agent-failed" | "agent-unreachable" | "plan-unreadable") =>
      ({ is: "instead", ms, outcome: { is: "failed", failure: failure(kind, "made up") } }) as const;
    if (job.kind === "plan" && random.chance(0.1)) return fails("plan-unreadable");
    if (job.kind !== "work" || !random.chance(0.15)) return { is: "honest", ms };
    if (random.chance(0.2)) return { is: "dies" };
    return fails(random.chance(0.5) ? "agent-failed" : "agent-unreachable");
  },
});

/** Every third run lets two tasks have one file at once: they conflict. */
const policyOf = (seed: number): Policy => ({
  ...defaultPolicy,
  overlap: seed % 3 === 0 ? "allow" : "serialise",
});

/** A run with sprints, subplanners, bad and clashing changes, reports and shared files. */
async function recorded(seed: number): Promise<readonly Event[]> {
  const team = { seed, width: 6, sprints: 2, large: 0.2, linked: 0.3, reports: 0.15, shared: 0.2 };
  const { events, end } = await simulate({
    goal: "Build it",
    policy: policyOf(seed),
    script: scriptedTeam({ ...team, breaks: 0.15, clashes: 0.05 }),
    repository: new VirtualRepository(seed % 2 === 0 ? RED_BASE : []),
    mischief: mishaps(seed),
  });
  assert.equal(end.is, "closed");
  return events;
}

test("played again with its own durations, a run does its tasks in the same order and time", async () => {
  let conflicts = 0;
  for (let seed = 1; seed <= 12; seed += 1) {
    const events = await recorded(seed);
    const actual = timelineOf(events);
    const again = await replay(recordingOf(events), policyOf(seed));
    if ("failure" in again) throw new Error(again.failure.message);
    conflicts += actual.conflicts;
    assert.deepEqual(again.order, actual.order, `seed ${seed}`);
    const off = Math.abs(again.makespanMs - actual.makespanMs) / actual.makespanMs;
    assert.ok(off < 0.01, `seed ${seed}: ${off}`);
    assert.deepEqual(
      [again.conflicts, again.reds, again.failed],
      [actual.conflicts, actual.reds, actual.failed],
    );
  }
  assert.ok(conflicts > 0);
});

test("without its history, the same tasks take what is assumed, and nothing goes wrong", async () => {
  const events = await recorded(4);
  const actual = timelineOf(events);
  const plain = await replay(withoutHistory(recordingOf(events), assume(NOTHING_LEARNT)), defaultPolicy);
  if ("failure" in plain) throw new Error(plain.failure.message);
  assert.deepEqual([plain.end, plain.conflicts, plain.reds, plain.failed], ["done", 0, 0, 0]);
  const worked = plain.tasks.filter(({ attempts }) => attempts > 0);
  assert.ok(worked.length > 5 && worked.every(({ workMs }) => workMs === 600_000));
  const isFix = (name: string) => name.startsWith("fix-");
  assert.deepEqual(new Set(plain.order), new Set(actual.order.filter((name) => !isFix(name))));
});

test("ends that a busy engine heard together are at one moment, and others are not", () => {
  const job = (n: number) => ({ kind: "work", task: `t.${n}`, attempt: 1 }) as never;
  const started = (n: number, at: number) => ({ type: "job.started", job: job(n), until: 0, at }) as Event;
  const ended = (n: number, at: number) =>
    ({ type: "job.ended", job: jobId(job(n)), how: "answered", at }) as Event;
  const times = endTimes([
    ...[1, 2, 3, 4].map((n) => started(n, 0)),
    ended(1, 100),
    ended(2, 102),
    started(5, 102),
    ended(3, 102),
    started(6, 102),
    ended(4, 150),
  ]);
  assert.deepEqual(
    [1, 2, 3, 4].map((n) => times.get(jobId(job(n)))),
    [102, 102, 103, 150],
  );
});

test("earlier runs teach what attempts take and how often they come to nothing", async () => {
  const runs = [await recorded(2), await recorded(3)];
  const learnt = learnFrom(runs);
  assert.equal(learnt.runs, 2);
  const bars = runs.flatMap((events) => timelineOf(events).bars);
  assert.ok(learnt.attempts > 10 && learnt.attempts <= bars.length);
  const times = bars.map(({ fromMs, toMs }) => toMs - fromMs);
  assert.ok(learnt.workMs! > Math.min(...times) && learnt.workMs! < Math.max(...times));
  assert.ok(learnt.failShare! > 0 && learnt.failShare! < 0.5 && learnt.refusedShare! > 0);
  assert.equal(learnt.workTokens, 1_000);
  assert.equal(learnt.workDollars, undefined, "a price that nobody knows is not nothing");

  const plain = assume(learnt);
  assert.deepEqual([plain.workMs, plain.failShare], [learnt.workMs, 0]);
  assert.equal(assume(learnt, { failures: "learnt" }).failShare, learnt.failShare);
  assert.match(plain.because.join("\n"), /median of \d+ attempts in 2 earlier runs/);
  assert.match(assume(NOTHING_LEARNT).because.join("\n"), /10 min an attempt, a default/);
});

test("the share of failures counts attempts out of time, and the last one of a task, and is never more than all", () => {
  const work = (attempt: number) => ({ kind: "work", task: "t.1", attempt }) as never;
  const started = (n: number) => ({ type: "job.started", job: work(n), until: 9, at: n }) as Event;
  const ended = (n: number, how: string) =>
    ({ type: "job.ended", job: jobId(work(n)), how, at: n + 1 }) as Event;
  const retried = (n: number, kind: string, charge: string) =>
    ({
      type: "task.retried",
      task: "t.1",
      attempt: n,
      failure: { kind, message: "" },
      charge,
      retryAt: 0,
    }) as Event;
  const failed = (task: string) =>
    ({ type: "task.failed", task, failure: { kind: "agent-failed", message: "" } }) as Event;
  const outOfTime = [1, 2, 3].flatMap((n) => [
    started(n),
    ended(n, "expired"),
    retried(n, "timed-out", "lost"),
  ]);
  const refused = [started(4), ended(4, "answered"), retried(4, "gate-red", "refused")];
  const stopped = [started(5), ended(5, "interrupted"), retried(5, "interrupted", "nothing")];
  const last = [started(6), ended(6, "answered"), failed("t.1"), failed("t")];
  const learnt = learnFrom([[...outOfTime, ...refused, ...stopped, ...last]]);
  assert.deepEqual([learnt.attempts, learnt.failShare, learnt.refusedShare], [2, 4 / 5, 1]);
});

test("a log of nothing, or of half a run, can be read", async () => {
  assert.equal(timelineOf([]).makespanMs, 0);
  const events = await recorded(5);
  const half = events.slice(0, events.length >> 1);
  assert.equal(timelineOf(half).end, "open");
  const again = await replay(recordingOf(half), defaultPolicy);
  assert.ok("order" in again || "failure" in again);
});

test("a run that followed a plan is foreseen without a planner's time: the plan was there", async () => {
  const events = await recorded(4);
  const planned = recordingOf(events);
  const given = {
    ...planned,
    plans: new Map(
      [...planned.plans].map(([name, turns]) => [
        name,
        turns.map((turn) =>
          "kind" in turn.said
            ? turn
            : {
                ...turn,
                said: { ...turn.said, tasks: turn.said.tasks.map((task) => ({ ...task, terms: {} })) },
              },
        ),
      ]),
    ),
  };
  const turnsOf = (recording: typeof planned) =>
    [...withoutHistory(recording, assume(NOTHING_LEARNT)).plans.values()].flat().map(({ ms }) => ms);
  assert.deepEqual([...new Set(turnsOf(planned))], [60_000]);
  assert.deepEqual([...new Set(turnsOf(given))], [0]);
});
