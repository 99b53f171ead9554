import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jobPorts, RED } from "../../test/support/job-ports.ts";
import type { CheckBrief } from "../core/brief.ts";
import { failure } from "../core/failure.ts";
import type { Ask, Said } from "../ports/agent.ts";
import { check } from "./check.ts";
import { collectJob } from "./run-job.ts";

const quiet = new AbortController().signal;
const REPAIR = { goal: "the goal", pending: [], maxTasks: 5, maxFiles: 3 };
const BRIEF: CheckBrief = { kind: "check", run: "r", turn: 3, target: "t", tip: "onto", repair: REPAIR };

async function checked(said: Said, brief: CheckBrief = BRIEF) {
  const { parts, calls } = jobPorts({ gate: RED, said });
  const asks: Ask[] = [];
  const reconciler = {
    turn: async (ask: Ask) => {
      asks.push(ask);
      return said;
    },
    collect: async () => said,
  };
  const answer = await check(brief, { ...parts, reconciler }, quiet);
  assert.ok(answer.outcome.is === "checked");
  return { answer, asks, problems: answer.outcome.problems, names: calls.map(([name]) => name) };
}

const PROPOSED: Said = {
  is: "said",
  text: JSON.stringify({
    tasks: [
      { id: "adds", description: "test: adds fails, for b.txt", scope: ["b.txt"], acceptance: "it passes" },
    ],
  }),
  spent: { tokens: 11 },
};

describe("a check of a target that is to be mended", () => {
  it("asks the reconciler how the failures belong together, without secrets, and counts what it cost", async () => {
    const { answer, asks, problems, names } = await checked(PROPOSED);
    const [{ brief } = assert.fail()] = asks;
    assert.ok(brief.kind === "plan" && brief.repair);
    assert.deepEqual(
      brief.repair.problems.map(({ name, message }) => [name, message]),
      [["test: adds", "***: 1 is not 2"]],
    );
    assert.deepEqual(answer.spent, { tokens: 11 });
    assert.deepEqual(problems[0]!.files, ["b.txt"]);
    assert.deepEqual(names.slice(-2), ["take", "release"], "its workspace is given back");
  });

  it("goes by the rules alone where the answer is none, or cannot be read", async () => {
    for (const said of [
      { is: "failed", failure: failure("agent-unreachable", "down") },
      { is: "said", text: "no idea" },
    ] as const)
      assert.deepEqual((await checked(said)).problems[0]!.files, ["a.txt"]);
  });

  it("asks nobody where no fix follows", async () => {
    const { repair: _, ...first } = BRIEF;
    assert.deepEqual((await checked(PROPOSED, first)).asks, []);
  });

  it("counts what a reconciler had cost that was cut off", async () => {
    const { parts } = jobPorts();
    const reconciler = {
      turn: async () => PROPOSED,
      collect: async () => ({ is: "cut", spent: { tokens: 5 } }) as const,
    };
    assert.deepEqual(await collectJob(BRIEF, { ...parts, reconciler }, true, quiet), {
      is: "cut",
      spent: { tokens: 5 },
    });
  });
});
