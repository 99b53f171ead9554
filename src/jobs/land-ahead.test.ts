/** Tests land jobs that only gate, or only move the target. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GREEN, jobPorts, MEMBER, RED, type Replies, SPEC } from "../../test/support/job-ports.ts";
import type { LandBrief } from "../core/brief.ts";
import type { TaskId } from "../core/task.ts";
import { land } from "./land.ts";

const BRIEF: LandBrief = {
  kind: "land",
  run: "r",
  turn: 7,
  target: "skein/r/target",
  onto: "onto",
  strategy: "merge-commit",
  members: [{ ...MEMBER, branch: "skein/r/task/t.1.1-write-a", commit: "judged", spec: SPEC }],
  accept: { is: "green" },
};

async function landed(replies: Partial<Replies>, brief: LandBrief) {
  const { parts, calls } = jobPorts(replies);
  const { outcome } = await land(brief, parts, new AbortController().signal);
  return { outcome, calls, names: calls.map(([name]) => name) };
}

describe("a candidate that is gated ahead of its turn", () => {
  const below = { ...BRIEF.members[0]!, task: "t.9" as TaskId, commit: "below" };
  const ahead: LandBrief = { ...BRIEF, madeAt: 2_000, above: [{ members: [below], madeAt: 1_000 }] };

  it("is built on those below it, with their dates, is gated by their rules, and moves nothing", async () => {
    const { outcome, calls, names } = await landed({}, ahead);
    assert.deepEqual(names, ["candidate", "candidate", "changes", "gate"]);
    const wanted = calls.slice(0, 2).map(([, one]) => one as { onto: string; madeAt: number });
    assert.deepEqual(
      wanted.map(({ onto, madeAt }) => [onto, madeAt]),
      [
        ["onto", 1_000],
        ["merged", 2_000],
      ],
    );
    assert.deepEqual(calls[3], [
      "gate",
      { job: "land#7", commit: "merged", rules: "merged", from: "merged" },
    ]);
    const { report } = GREEN;
    assert.deepEqual(outcome, {
      ...{ is: "gated", onto: "merged", commit: "merged", members: [MEMBER], conflicts: [] },
      ...{ proof: "green", report, flags: [] },
    });
  });

  it("names its base when it fails, so that it is judged there and nowhere else", async () => {
    const { outcome } = await landed({ gate: RED }, ahead);
    assert.deepEqual([outcome.is, outcome.is === "red" && outcome.onto], ["red", "merged"]);
  });

  it("says what is missing where a commit below is gone, for which none of its own tasks is to blame", async () => {
    const gone = { is: "gone", members: [{ task: below.task, attempt: 1 }] } as const;
    const { outcome } = await landed({ candidate: gone }, ahead);
    assert.match(
      outcome.is === "failed" ? outcome.failure.message : outcome.is,
      /that this candidate is built on/,
    );
  });

  it("leaves a proof that says what is known of the probe when it lands, and nothing of it without a gate", async () => {
    const { report } = GREEN;
    const gated = { onto: "onto", commit: "gated", members: [MEMBER], conflicts: [], report, flags: [] };
    for (const [proof, probe] of [
      ["green", "proved"],
      ["ungated", undefined],
    ] as const) {
      const { calls } = await landed({}, { ...BRIEF, passed: { ...gated, proof }, probe: "proved" });
      assert.equal((calls[1]![1] as { proof: { probe?: string } }).proof.probe, probe);
    }
  });

  it("is landed later by a job that looks and moves the target, and gates nothing", async () => {
    const { report } = GREEN;
    const passed: NonNullable<LandBrief["passed"]> = {
      ...{ onto: "onto", commit: "gated", members: [MEMBER], conflicts: [], proof: "green" as const, report },
      flags: ["package.json"],
    };
    const { outcome, calls, names } = await landed({}, { ...BRIEF, passed, probe: "proved" });
    assert.deepEqual(names, ["look", "land"]);
    const proof = {
      run: "r",
      members: [MEMBER],
      proof: "green",
      report,
      probe: "proved",
      flags: ["package.json"],
    };
    assert.deepEqual(calls[1], ["land", { target: "skein/r/target", from: "onto", to: "gated", proof }]);
    assert.deepEqual(outcome, {
      ...{ is: "landed", commit: "gated", members: [MEMBER], conflicts: [] },
      proof: "green",
    });
  });
});
