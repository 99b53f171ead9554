/** Tests what a landing reports if its gate ran fewer tests than on the target. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GREEN, jobPorts, MEMBER, type Replies, SPEC } from "../../test/support/job-ports.ts";
import type { LandBrief } from "../core/brief.ts";
import type { TaskId } from "../core/task.ts";
import { land } from "./land.ts";

const BRIEF: LandBrief = {
  ...{ kind: "land", run: "r", turn: 7, target: "skein/r/target", onto: "onto" },
  strategy: "merge-commit",
  members: [{ ...MEMBER, branch: "skein/r/task/t.1.1-write-a", commit: "judged", spec: SPEC }],
  accept: { is: "green" },
};

async function landed(replies: Partial<Replies> = {}, brief = BRIEF) {
  const { parts, calls } = jobPorts(replies);
  const { outcome } = await land(brief, parts, new AbortController().signal);
  return { outcome, calls };
}

describe("a landing whose gate runs fewer tests than the target's", () => {
  const green = (tests?: number, names?: readonly string[]) => ({
    ...GREEN,
    report: {
      commands: [
        {
          ...{ name: "test", green: true, failures: [] },
          ...(tests !== undefined && { tests }),
          ...(names && { names }),
        },
      ],
    },
  });
  const ran = [{ command: "test", tests: 3, names: ["one", "two", "three"] }];
  const flag = "1 fewer test ran than on the target: test 3 → 2; gone: two";
  const gate = green(2, ["one", "three"]);
  const flagged = (outcome: Awaited<ReturnType<typeof landed>>["outcome"]) => {
    assert.equal(outcome.is, "landed");
    return outcome.is === "landed" ? outcome.flags : undefined;
  };

  it("lands all the same; its answer and its proof say so, the proof without the names of all tests", async () => {
    const { outcome, calls } = await landed({ gate }, { ...BRIEF, ran });
    assert.deepEqual(flagged(outcome), [flag]);
    const proof = calls.flatMap(([name, landing]) => (name === "land" ? [landing] : []));
    const { report } = green(2);
    const said = { run: "r", members: [MEMBER], proof: "green", report, flags: [flag] };
    assert.deepEqual(proof, [{ target: "skein/r/target", from: "onto", to: "merged", proof: said }]);
    assert.deepEqual(outcome.is === "landed" && outcome.ran, [
      { command: "test", tests: 2, names: ["one", "three"] },
    ]);
  });

  it("says nothing where the target's number is not known, or its own", async () => {
    assert.equal(flagged((await landed({ gate })).outcome), undefined);
    assert.equal(flagged((await landed({ gate: green() }, { ...BRIEF, ran })).outcome), undefined);
  });

  it("says nothing where a task that lands tells itself what it does to tests", async () => {
    const [first] = BRIEF.members;
    const told = { ...first!, tellsOfTests: true as const };
    const other = { ...told, task: "t.2" as TaskId };
    assert.equal(flagged((await landed({ gate }, { ...BRIEF, ran, members: [told] })).outcome), undefined);
    const left = await landed({ gate }, { ...BRIEF, ran, members: [first!, other] });
    assert.deepEqual(flagged(left.outcome), [flag], "the other task did not land");
  });

  it("is compared with what landed before it, where it was gated ahead of its turn", async () => {
    const ahead = await landed(
      { gate },
      { ...BRIEF, ran, above: [{ members: BRIEF.members, madeAt: 1 }], members: BRIEF.members },
    );
    assert.ok(ahead.outcome.is === "gated");
    const { is: _, ...passed } = ahead.outcome;
    assert.deepEqual(passed.flags, [], "what it is built on may have lost them");
    const look = { tip: "onto", landings: [] } as const;
    const moves = await landed(
      { look },
      { ...BRIEF, ran: [{ command: "test", tests: 2 }], passed: { ...passed, onto: "onto" } },
    );
    assert.equal(flagged(moves.outcome), undefined);
    const second = await landed({ look }, { ...BRIEF, ran, passed: { ...passed, onto: "onto" } });
    assert.deepEqual(flagged(second.outcome), [flag]);
  });
});
