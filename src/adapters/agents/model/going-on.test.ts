/** Tests that a model's worker calls for a subtask or asks, and goes on with the response in the same conversation. */
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { JOB, textOf, workAsk, workBrief } from "../../../../test/contracts/agent.ts";
import type { Answerer, Reply, SeenCall } from "../../../../test/support/model-server/model-server.ts";
import { sentAfter, sentIn } from "../../../../test/support/model-server/sent.ts";
import { type ModelTurns, modelTurns } from "../../../../test/support/model-turns.ts";
import type { WorkBrief } from "../../../core/brief.ts";
import type { JobId } from "../../../core/job.ts";
import type { Specialist } from "../../../core/specialist.ts";
import type { Spawn, ToolResponse } from "../../../core/subtask.ts";
import type { TaskId } from "../../../core/task.ts";
import type { Ask } from "../../../ports/agent.ts";

const NEVER = new AbortController().signal;
const HANDOFF: Reply = { tools: [{ name: "handoff", input: { status: "complete", summary: "made it" } }] };
const WRITE = { name: "write", input: { path: "a.txt", content: "a\n" } };
const REQUEST = { type: "check", description: "Check a.txt", inputs: { file: "a.txt" } };
const SPAWN = { name: "spawn_subtask", input: REQUEST };
const ASK = { name: "ask", input: { question: "Which colour?", default: "blue", wait_s: 5 } };
const calls = (...tools: readonly { readonly name: string; readonly input: object }[]): Reply => ({ tools });

const DONE: ToolResponse = {
  name: "subtask",
  result: { status: "COMPLETE", content: "it is fine", notes: { task_id: "t.1.1" } },
};
const ASKED: ToolResponse = {
  name: "question",
  result: { status: "NEEDS_INPUT", content: "How fine?", notes: { question: "q1" } },
};

/** Answers with these replies, one after the other. */
const inOrder = (...replies: readonly Reply[]): Answerer => {
  let n = 0;
  return () => replies[n++] ?? { fault: { is: "status", status: 400 } };
};

const jobOf = (attempt: number) => `work:t.1#${attempt}` as JobId;

/** Makes the attempt that goes on with the conversation of an earlier one. */
function onward(
  { folder }: Pick<ModelTurns, "folder">,
  attempt: number,
  response: ToolResponse,
  more: Partial<NonNullable<WorkBrief["goOn"]>> = {},
): Ask {
  const goOn = { start: "c1", session: jobOf(attempt - 1), response, ...more };
  return { ...workAsk(folder, { attempt, goOn }), job: jobOf(attempt) };
}

const SPAWNED: Spawn = {
  ...{ type: "check", subtype: "subtask", template: "", description: "Check a.txt", inputs: "{}" },
  ...{ signature: "s", filePaths: [], base: "c1", session: JOB, levels: 8 },
  context: {
    inherit_context: "full",
    accumulate_data: false,
    accumulation_format: "notes_only",
    fresh_context: "disabled",
  },
};

const CHILD = "work:t.1.1#1" as JobId;

const child = (folder: string, more: Partial<Ask> = {}): Ask => ({
  ...workAsk(folder, {
    task: "t.1.1" as TaskId,
    spec: { ...workBrief.spec, key: "check-1", spawn: SPAWNED },
  }),
  ...{ job: CHILD, context: { text: "CONTEXT", inherits: JOB }, ...more },
});

const lastText = (call: SeenCall | undefined): string => call?.messages.at(-1)?.text ?? "";

describe("a worker's call", () => {
  it("ends the turn, and is what the next engine finds of it", async () => {
    await using turns = await modelTurns(inOrder(calls(WRITE), calls(SPAWN)));
    const said = await turns.agent.turn(workAsk(turns.folder), NEVER);
    const { spent, ...called } = said;
    assert.deepEqual(called, { is: "called", tool: "spawn_subtask", input: REQUEST });
    assert.equal(spent?.turn?.calls, 2);
    assert.deepEqual(await turns.again().collect(JOB), said);
    assert.equal(turns.server.calls.length, 2);
  });

  it("may be a question", async () => {
    await using turns = await modelTurns(inOrder(calls(ASK)));
    const { spent: _, ...called } = await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.deepEqual(called, { is: "called", tool: "ask", input: ASK.input });
  });

  it("counts more than a handoff beside it, and only the first does", async () => {
    const hasty = calls(SPAWN, { name: "handoff", input: { status: "complete", summary: "x" } }, ASK);
    await using turns = await modelTurns(inOrder(hasty, HANDOFF));
    assert.equal((await turns.agent.turn(workAsk(turns.folder), NEVER)).is, "called");
    await turns.again().turn(onward(turns, 2, DONE), NEVER);
    const [, second] = turns.server.calls;
    const results = second!.messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
    assert.deepEqual(results.map((text) => /not run/.test(text)).toSorted(), [false, true, true]);
  });

  it("of an answer that was cut off does not count", async () => {
    await using turns = await modelTurns(inOrder({ ...calls(SPAWN), stop: "length" }, HANDOFF));
    assert.match(textOf(await turns.agent.turn(workAsk(turns.folder), NEVER)), /made it/);
  });

  it("that is no request is mended within the turn", async () => {
    const wrong = calls({ name: "spawn_subtask", input: { description: 3 } });
    await using turns = await modelTurns(inOrder(wrong, calls(SPAWN)));
    assert.equal((await turns.agent.turn(workAsk(turns.folder), NEVER)).is, "called");
    assert.equal(turns.server.calls.length, 2);
  });

  it("leaves no secret in any file", async () => {
    const redact = (text: string) => text.replaceAll("S3CRET", "[redacted]");
    const request = { ...REQUEST, inputs: { list: ["S3CRET"] } };
    await using turns = await modelTurns(inOrder(calls({ name: "spawn_subtask", input: request })), {
      redact,
    });
    const said = await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.deepEqual(said.is === "called" && said.input, { ...REQUEST, inputs: { list: ["[redacted]"] } });
    for (const file of ["conversations/work-t.1-1.jsonl", "turns/work-t.1-1.said.json"])
      assert.ok(!readFileSync(path.join(turns.home, file), "utf8").includes("S3CRET"), file);
  });
});

describe("a worker that goes on", () => {
  for (const wire of ["openai-chat", "openai-responses", "anthropic"] as const)
    it(`has the response as the result of its call, after all that was sent before, on the wire ${wire}`, async () => {
      await using turns = await modelTurns(inOrder(calls(WRITE), calls(WRITE, SPAWN), HANDOFF), { wire });
      await turns.agent.turn(workAsk(turns.folder), NEVER);
      assert.match(textOf(await turns.again().turn(onward(turns, 2, DONE), NEVER)), /made it/);
      const [, second, third] = turns.server.calls;
      sentAfter(second!, third!);
      assert.equal(third!.system, second!.system);
      assert.deepEqual(third!.tools, second!.tools);
      const asked = third!.messages.flatMap(({ toolCalls }) => toolCalls).at(-1);
      assert.equal(asked?.name, "spawn_subtask");
      const results = third!.messages.flatMap(({ toolResults }) => toolResults);
      assert.deepEqual(results.at(-1), { id: asked?.id, text: JSON.stringify(DONE.result) });
      assert.match(
        lastText(third),
        /^Task: t\.1 \(a\)\nAttempt: 2\n[\s\S]*Go on, with the result of the subtask\./,
      );
      assert.doesNotMatch(lastText(third), /it is fine/);
    });

  it("can do so again and again, each time after all that was said", async () => {
    await using turns = await modelTurns(inOrder(calls(SPAWN), calls(ASK), calls(SPAWN), HANDOFF));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    const blue: ToolResponse = { name: "answer", result: { status: "COMPLETE", content: "blue", notes: {} } };
    for (const [attempt, response] of [
      [2, DONE],
      [3, blue],
      [4, DONE],
    ] as const)
      await turns.again().turn(onward(turns, attempt, response), NEVER);
    const { calls: made } = turns.server;
    assert.equal(made.length, 4);
    for (let n = 1; n < made.length; n += 1) sentAfter(made[n - 1]!, made[n]!);
    assert.match(lastText(made[2]), /Go on, with the answer to your question\./);
  });

  it("keeps its first turns, also where a planner's would be left out", async () => {
    const long = { name: "bash", input: { command: "head -c 14000 /dev/zero | tr '\\0' x" } };
    const longs = Array.from({ length: 3 }, () => long);
    await using turns = await modelTurns(inOrder(calls(...longs), calls(SPAWN), HANDOFF));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    await turns.again().turn(onward(turns, 2, DONE), NEVER);
    const [, second, third] = turns.server.calls;
    assert.ok(JSON.stringify(second!.body).length / 3 > 0.4 * 32_000, "more than a planner's past may be");
    sentAfter(second!, third!);
  });

  it("keeps the prompt that it began with, also if a team has changed it meanwhile", async () => {
    await using turns = await modelTurns(inOrder(calls(SPAWN), calls(SPAWN), HANDOFF));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    const prompts = {
      "root-planner": "",
      subplanner: "",
      "execution-planner": "",
      subtask: "",
    };
    for (const attempt of [2, 3])
      await turns
        .again({ prompts: { ...prompts, worker: "ANOTHER" } })
        .turn(onward(turns, attempt, DONE), NEVER);
    assert.deepEqual(
      turns.server.calls.map(({ system }) => system),
      ["WORKER", "WORKER", "WORKER"],
    );
  });

  it("leaves the conversation that it goes on with as it is, also when it is cut off", async () => {
    await using turns = await modelTurns(
      inOrder(calls(SPAWN), { fault: { is: "status", status: 400 } }, HANDOFF),
    );
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    const file = path.join(turns.home, "conversations/work-t.1-1.jsonl");
    const before = readFileSync(file, "utf8");
    assert.equal((await turns.again().turn(onward(turns, 2, DONE), NEVER)).is, "failed");
    assert.equal(readFileSync(file, "utf8"), before);
    await turns.again().turn(onward(turns, 3, DONE, { session: JOB }), NEVER);
    const [, second, third] = turns.server.calls;
    assert.equal(third!.messages.length, second!.messages.length);
    assert.match(lastText(third), /Attempt: 3/);
  });

  for (const [what, spoil] of [
    ["gone", (file: string) => rmSync(file)],
    ["cut short", (file: string) => writeFileSync(file, readFileSync(file, "utf8").slice(0, -30))],
    [
      "damaged",
      (file: string) => writeFileSync(file, readFileSync(file, "utf8").replace('"user"', '"nobody"')),
    ],
  ] as const)
    it(`is told all of it again where its conversation is ${what}`, async () => {
      await using turns = await modelTurns(inOrder(calls(SPAWN), HANDOFF));
      await turns.agent.turn(workAsk(turns.folder), NEVER);
      spoil(path.join(turns.home, "conversations/work-t.1-1.jsonl"));
      await turns.again().turn(onward(turns, 2, DONE), NEVER);
      const { messages } = turns.server.calls[1]!;
      assert.equal(messages.length, 1);
      assert.match(
        messages[0]!.text,
        /Make a[\s\S]*is lost[\s\S]*spawn_subtask \{"type":"check"[\s\S]*it is fine[\s\S]*Go on/,
      );
    });

  it("speaks with another model without what only the first understands", async () => {
    await using turns = await modelTurns(inOrder(calls(SPAWN), HANDOFF));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    const file = path.join(turns.home, "conversations/work-t.1-1.jsonl");
    const text = readFileSync(file, "utf8").replace(/"model":"[^"]*"/, '"model":"another"');
    const thought = '"content":[{"type":"reasoning","text":"THOUGHT"},{"type":"tool-call"';
    writeFileSync(file, text.replace('"content":[{"type":"tool-call"', thought));
    await turns.again().turn(onward(turns, 2, DONE), NEVER);
    assert.doesNotMatch(JSON.stringify(turns.server.calls[1]?.body), /THOUGHT/);
    assert.match(JSON.stringify(turns.server.calls[1]?.body), /it is fine/);
  });
});

describe("a worker whose subtask asks", () => {
  it("answers with a handoff, and hears the subtask's result in words later", async () => {
    const answer: Reply = { tools: [{ name: "handoff", input: { status: "complete", summary: "very" } }] };
    await using turns = await modelTurns(inOrder(calls(SPAWN), answer, HANDOFF));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    const asking = onward(turns, 2, ASKED, { isAnswering: true });
    assert.match(textOf(await turns.again().turn(asking, NEVER)), /"summary":"very"/);
    await turns.again().turn(onward(turns, 3, DONE), NEVER);
    const [first, second, third] = turns.server.calls;
    assert.deepEqual(second!.tools.toSorted(), ["ask", "handoff"]);
    assert.match(lastText(second), /Your subtask asks:[\s\S]*How fine\?/);
    sentAfter(first!, second!);
    sentAfter(second!, third!);
    assert.match(lastText(third), /Your subtask has ended: COMPLETE[\s\S]*it is fine[\s\S]*Go on/);
  });

  it("passes on what it cannot answer", async () => {
    await using turns = await modelTurns(inOrder(calls(SPAWN), calls(ASK), HANDOFF));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    const passed = await turns.again().turn(onward(turns, 2, ASKED, { isAnswering: true }), NEVER);
    assert.equal(passed.is === "called" && passed.tool, "ask");
    await turns.again().turn(onward(turns, 3, DONE), NEVER);
    const [, second, third] = turns.server.calls;
    sentAfter(second!, third!);
    const results = third!.messages.flatMap(({ toolResults }) => toolResults);
    assert.match(results.at(-1)?.text ?? "", /passed on/);
    assert.match(lastText(third), /it is fine/);
  });

  it("need not name its output file in the answer", async () => {
    const answer: Reply = { text: '{"status": "complete", "summary": "very"}' };
    await using turns = await modelTurns(inOrder(calls(SPAWN), answer));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    const scratchpad = { folder: turns.home, file: path.join(turns.home, "result.md") };
    const asking = { ...onward(turns, 2, ASKED, { isAnswering: true }), scratchpad };
    assert.match(textOf(await turns.again().turn(asking, NEVER)), /very/);
    assert.equal(turns.server.calls.length, 2);
  });
});

describe("a subtask that inherits its parent's conversation", () => {
  for (const wire of ["openai-chat", "anthropic"] as const)
    it(`begins with the same bytes, without the call that asked for it, on the wire ${wire}`, async () => {
      await using turns = await modelTurns(inOrder(calls(WRITE), calls(SPAWN), HANDOFF), { wire });
      await turns.agent.turn(workAsk(turns.folder), NEVER);
      await turns.again().turn(child(turns.folder), NEVER);
      const [, second, third] = turns.server.calls;
      const added = sentAfter(second!, third!);
      assert.deepEqual(
        added.map(({ role }) => role),
        ["user"],
      );
      assert.equal(third!.system, second!.system);
      assert.doesNotMatch(JSON.stringify(sentIn(third!)), /spawn_subtask/);
      assert.match(
        lastText(third),
        /Task: t\.1\.1 \(check-1\)[\s\S]*Everything above[\s\S]*subtask alone[\s\S]*CONTEXT/,
      );
    });

  it("gets it as text where its role is another", async () => {
    const role: Specialist = {
      ...{ name: "r", description: "", prompt: "ROLE", isReadOnly: false, keywords: [], source: "" },
    };
    await using turns = await modelTurns(inOrder(calls(WRITE), calls(SPAWN), HANDOFF));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    await turns.again().turn(child(turns.folder, { role }), NEVER);
    const { messages } = turns.server.calls[2]!;
    assert.equal(messages.length, 1);
    assert.match(messages[0]!.text, /as text[\s\S]*It was told:\nTask: t\.1 [\s\S]*It called write/);
    assert.doesNotMatch(messages[0]!.text, /It called spawn_subtask/);
  });

  it("is told that it cannot have it where it is lost", async () => {
    await using turns = await modelTurns(inOrder(HANDOFF));
    await turns.agent.turn(child(turns.folder), NEVER);
    assert.match(lastText(turns.server.calls[0]), /cannot be given to you/);
  });
});
