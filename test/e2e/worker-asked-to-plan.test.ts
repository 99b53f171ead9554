/** Tests the advice to a person whose agent can only work and is asked to plan. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makePlace } from "./cli-place.ts";
import { agentOf, COMPLETE } from "./odd-place.ts";

for (const [what, text] of [
  ["a handoff", COMPLETE],
  ["DONE", "echo 'DONE|/tmp/x.md'"],
] as const)
  test(`a program that answers with ${what} when it is asked to plan: did you mean --planner none?`, async () => {
    await using place = await makePlace();
    const agent = await agentOf(place, "worker.sh", text);
    const live = place.start("run", "x", "--agent", `sh ${agent}`, "--gate", "none");
    await live.says("this answered as a worker, not as a planner");
    live.kill("SIGINT");
    const { out } = await live.ended;
    const [first = ""] = out.split("\n").filter((line) => line.includes("Asking the planner again"));
    assert.match(
      first,
      /answered as a worker.*; did you mean `--planner none`\? Then one worker does the whole goal/,
    );
  });
