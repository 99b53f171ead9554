/** Tests workers on a model that delegate, ask and go on: both wire formats, from the plan to the landing. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SeenCall } from "../support/model-server/model-server.ts";
import { sentAfter, sentIn } from "../support/model-server/sent.ts";
import type { Ended, Started } from "./cli-place.ts";
import { HANG, SETS } from "./model-lives.ts";
import { type ModelPlace, makeModelPlace } from "./model-place.ts";
import { calls, delegates, handsOff, type Moves, playsMoves, runDeadly, writes } from "./subtask-moves.ts";

const PARENT = { "work:t.1#1 1": writes("a.txt"), "work:t.1#1 2": delegates() };
const CHILD = {
  "work:t.1.1#1 1": calls("bash", { command: "cat a.txt; git status --short" }),
  "work:t.1.1#1 2": writes("b.txt"),
  "work:t.1.1#1 3": handsOff("b.txt is there"),
};
const GOES_ON = {
  "work:t.1#2 1": calls("bash", { command: "cat a.txt b.txt" }),
  "work:t.1#2 2": handsOff("both are there"),
};
const PLANNER = ["plan:t#1 1", "plan:t#2 1"];

const asAttempt = (attempt: number, moves: Moves): Moves =>
  Object.fromEntries(
    Object.entries(moves).map(([name, move]) => [name.replace(/#\d+/, `#${attempt}`), move]),
  );

const resultsIn = ({ messages }: SeenCall) => messages.flatMap(({ toolResults }) => toolResults);

/** Both files are there, in one landing. */
async function checkLanded(place: ModelPlace, { code, out, err }: Ended): Promise<void> {
  assert.equal(code, 0, out + err);
  const events = await place.events();
  assert.equal(events.filter(({ type }) => type === "batch.landed").length, 1, "one landing");
  const run = /^skein\/\S+\/target$/m.exec(await place.repository.git("branch", "--format=%(refname:short)"));
  assert.ok(run);
  for (const file of ["a.txt", "b.txt"])
    assert.equal(await place.repository.git("show", `${run[0]}:${file}`), file);
}

/** Exactly these calls were made: no turn that had ended was repeated. */
const checkCalls = (
  { made }: ReturnType<typeof playsMoves>,
  ...moves: readonly (Moves | readonly string[])[]
) =>
  assert.deepEqual(
    [...made.keys()].sort(),
    moves.flatMap((some) => (Array.isArray(some) ? some : Object.keys(some))).sort(),
  );

describe("a worker that delegates", { concurrency: 2, timeout: 120_000 }, () => {
  for (const wire of ["openai-chat", "anthropic"] as const) {
    it(`goes on with the result in its conversation, and both changes land together, over ${wire}`, async () => {
      const answer = playsMoves({ ...PARENT, ...CHILD, ...GOES_ON });
      await using place = await makeModelPlace({ wire, answer, sets: SETS });
      await checkLanded(place, await place.skein("run", "write two files", ...place.settings));
      checkCalls(answer, PARENT, CHILD, GOES_ON, PLANNER);
      const looked = resultsIn(answer.made.get("work:t.1.1#1 2")!).at(-1)?.text ?? "";
      assert.match(looked, /^a\.txt\n/, "the child has what its parent had not committed");
      assert.doesNotMatch(looked, /\?\?/, "and it is committed there");
      const before = answer.made.get("work:t.1#1 2")!;
      const after = answer.made.get("work:t.1#2 1")!;
      assert.deepEqual(after.tools, before.tools);
      const added = sentAfter(before, after);
      assert.match(
        added.map(({ bytes }) => bytes).join("\n"),
        /spawn_subtask[\s\S]*b\.txt is there[\s\S]*Go on/,
      );
      const asked = after.messages.flatMap(({ toolCalls }) => toolCalls).at(-1);
      const result = resultsIn(after).at(-1)!;
      assert.deepEqual([asked?.name, asked?.id], ["spawn_subtask", result.id]);
      const { status, content, notes } = JSON.parse(result.text) as Record<string, Record<string, unknown>>;
      assert.deepEqual([status, content, notes?.["task_id"]], ["COMPLETE", "b.txt is there", "t.1.1"]);
      assert.deepEqual(notes?.["files_changed"], ["b.txt"]);
    });

    it(`gives a child that inherits all of it the same bytes, without the order to delegate, over ${wire}`, async () => {
      const context_management = { inherit_context: "full" };
      const parent = { ...PARENT, "work:t.1#1 2": delegates({ context_management }) };
      const answer = playsMoves({ ...parent, ...CHILD, ...GOES_ON });
      await using place = await makeModelPlace({ wire, answer, sets: SETS });
      await checkLanded(place, await place.skein("run", "write two files", ...place.settings));
      const child = answer.made.get("work:t.1.1#1 1")!;
      const added = sentAfter(answer.made.get("work:t.1#1 2")!, child);
      assert.deepEqual([added.length, added[0]?.role], [1, "user"], "its own task alone");
      assert.doesNotMatch(JSON.stringify(sentIn(child)), /spawn_subtask/);
    });
  }

  it("passes on what its child asks, and the child goes on with the default after its time", async () => {
    const asks = { question: "Which colour?", default: "blue", wait_s: 4 };
    const moves = {
      ...PARENT,
      "work:t.1.1#1 1": calls("ask", asks),
      "work:t.1#2 1": calls("ask", { question: "Which colour has b.txt?" }),
      "work:t.1.1#2 1": writes("b.txt"),
      "work:t.1.1#2 2": handsOff("it is blue"),
      "work:t.1#3 1": handsOff("both are there"),
    };
    const answer = playsMoves(moves);
    await using place = await makeModelPlace({ answer, sets: SETS });
    await checkLanded(place, await place.skein("run", "write two files", ...place.settings));
    checkCalls(answer, moves, PLANNER);
    const asked = answer.made.get("work:t.1#2 1")!;
    assert.deepEqual(asked.tools.toSorted(), ["ask", "handoff"]);
    assert.match(asked.messages.at(-1)?.text ?? "", /Your subtask asks:[\s\S]*Which colour\?/);
    const [child, goesOn] = [answer.made.get("work:t.1.1#1 1")!, answer.made.get("work:t.1.1#2 1")!];
    sentAfter(child, goesOn);
    assert.match(
      resultsIn(goesOn).at(-1)?.text ?? "",
      /"content":"blue","notes":\{"answered_by":"default"\}/,
    );
    const last = answer.made.get("work:t.1#3 1")!;
    sentAfter(asked, last);
    assert.match(last.messages.at(-1)?.text ?? "", /Your subtask has ended: COMPLETE[\s\S]*it is blue/);
    const passed = (await place.events()).find(({ type }) => type === "question.passed");
    assert.ok(passed?.type === "question.passed" && passed.text === "Which colour has b.txt?");
  });
});

describe("a run that is killed while a worker waits", { concurrency: 2, timeout: 120_000 }, () => {
  // The next attempt begins in the same write as the fatal event. It is lost with the engine, so its calls come in the
  // attempt after it.
  for (const { wire, when, fatal, moves } of [
    {
      wire: "anthropic",
      when: "before its call is in the log",
      fatal: { when: "before", type: "subtask.spawned", task: "t.1" },
      moves: { ...PARENT, ...CHILD, ...GOES_ON },
    },
    {
      wire: "openai-chat",
      when: "before its subtask has begun",
      fatal: { when: "after", type: "subtask.spawned", task: "t.1" },
      moves: { ...PARENT, ...asAttempt(2, CHILD), ...GOES_ON },
    },
    {
      wire: "anthropic",
      when: "when its subtask has just ended",
      fatal: { when: "after", type: "task.done", task: "t.1.1" },
      moves: { ...PARENT, ...CHILD, ...asAttempt(3, GOES_ON) },
    },
  ] as const)
    it(`${when}, comes to the same end, and no turn is made twice`, async () => {
      const answer = playsMoves(moves);
      await using place = await makeModelPlace({ wire, answer, sets: SETS });
      assert.equal(await runDeadly(place, wire, fatal), "SIGKILL");
      await checkLanded(place, await place.skein("resume"));
      checkCalls(answer, moves, PLANNER);
      const goesOn = answer.made.keys().find((name) => /^work:t\.1#[23] 1$/.test(name))!;
      sentAfter(answer.made.get("work:t.1#1 2")!, answer.made.get(goesOn)!);
    });

  it("in the middle of its subtask's turn and of its own next one, makes only these again", async () => {
    let live: Started | undefined;
    const kill = () => {
      live!.kill("SIGKILL");
      return HANG;
    };
    const moves = {
      ...PARENT,
      "work:t.1.1#1 1": kill,
      "work:t.1.1#2 1": writes("b.txt"),
      "work:t.1.1#2 2": handsOff("b.txt is there"),
      "work:t.1#2 1": calls("bash", { command: "true" }),
      "work:t.1#2 2": kill,
      "work:t.1#3 1": handsOff("both are there"),
    };
    const answer = playsMoves(moves);
    await using place = await makeModelPlace({ answer, sets: SETS });
    live = place.start("run", "write two files", ...place.settings);
    assert.equal((await live.ended).code, null);
    live = place.start("resume");
    assert.equal((await live.ended).code, null);
    await checkLanded(place, await place.skein("resume"));
    checkCalls(answer, moves, PLANNER);
    const [cut, again] = [answer.made.get("work:t.1#2 1")!, answer.made.get("work:t.1#3 1")!];
    assert.equal(again.messages.length, cut.messages.length, "nothing of the turn that was cut off is in it");
    sentAfter(answer.made.get("work:t.1#1 2")!, again);
  });
});
