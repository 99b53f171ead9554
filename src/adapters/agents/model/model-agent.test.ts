/** Tests turns of the built-in agent: tools, answers, step limits, budgets, secrets, and a planner's conversation. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { failureOf, JOB, planAsk, textOf, workAsk } from "../../../../test/contracts/agent.ts";
import type { Answerer, Reply, SeenCall } from "../../../../test/support/model-server/model-server.ts";
import { KEY, modelTurns } from "../../../../test/support/model-turns.ts";
import { readPlanAnswer } from "../../../core/answers/plan-answer.ts";
import { failure } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";

const NEVER = new AbortController().signal;
const HANDOFF: Reply = { tools: [{ name: "handoff", input: { status: "complete", summary: "made it" } }] };
const bash = (command: string): Reply => ({
  text: "I do it. ",
  tools: [{ name: "bash", input: { command } }],
});
const PLAN = {
  scratchpad: "s",
  tasks: [{ id: "a", description: "A", acceptance: "it is", scope: ["a.ts"] }],
};
const lastText = ({ messages }: SeenCall) => messages.at(-1)?.text ?? "";
/** Answers with these replies one after the other, and with the last one repeatedly. */
const inOrder = (...replies: readonly Reply[]): Answerer => {
  let n = 0;
  return () => replies[Math.min(n++, replies.length - 1)]!;
};

describe("a model at work", () => {
  for (const wire of ["openai-chat", "openai-responses", "anthropic"] as const)
    it(`does a task with tools and hands it off, counted to the token, on the wire ${wire}`, async () => {
      await using turns = await modelTurns(inOrder(bash("echo made > made.txt"), HANDOFF), { wire });
      const said = await turns.agent.turn(workAsk(turns.folder), NEVER);
      assert.deepEqual(JSON.parse(textOf(said)), { status: "complete", summary: "made it" });
      assert.equal(readFileSync(path.join(turns.folder, "made.txt"), "utf8"), "made\n");
      const { input, output } = turns.server.tokens();
      assert.equal(said.spent?.tokens, input + output);
      const { model: _, ...tally } = said.spent?.turn ?? { model: "" };
      const stop = "tool-calls";
      assert.deepEqual(tally, { calls: 2, toolCalls: 2, inputTokens: input, outputTokens: output, stop });
      assert.deepEqual(turns.governor.settled.length, 2);
      const [first, second] = turns.server.calls;
      assert.equal(first?.system, "WORKER");
      assert.match(lastText(first!), /Task: t\.1 \(a\)\nAttempt: 1\n/);
      assert.deepEqual(first?.tools.toSorted(), [
        "ask",
        "bash",
        "edit",
        "find",
        "grep",
        "handoff",
        "ls",
        "read",
        "spawn_subtask",
        "write",
      ]);
      assert.equal(second?.messages.at(-1)?.role, "tool");
      assert.match(turns.heard.texts.get(JOB)!, /I do it\. \n→ bash \{"command":"echo made > made\.txt"\}/);
    });

  it("has the calls of one answer done in their order, so that no edit undoes another", async () => {
    const file = (name: string, input: object) => ({ name, input: { path: "a.txt", ...input } });
    const edits = ["one", "two", "three"].map((old_text) =>
      file("edit", { old_text, new_text: old_text.toUpperCase() }),
    );
    const all = { tools: [file("write", { content: "one two three\n" }), ...edits] };
    await using turns = await modelTurns(inOrder(all, HANDOFF));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.equal(readFileSync(path.join(turns.folder, "a.txt"), "utf8"), "ONE TWO THREE\n");
  });

  it("gives a specialist its own tools alone, and those that end its turn", async () => {
    await using turns = await modelTurns(inOrder(HANDOFF));
    const role = {
      name: "r",
      description: "",
      prompt: "ROLE",
      tools: ["read", "ls"],
      isReadOnly: true,
      keywords: [],
      source: "",
    };
    await turns.agent.turn({ ...workAsk(turns.folder), role }, NEVER);
    assert.deepEqual(turns.server.calls[0]?.tools.toSorted(), [
      "ask",
      "handoff",
      "ls",
      "read",
      "spawn_subtask",
    ]);
    assert.match(turns.server.calls[0]?.system ?? "", /WORKER[\s\S]*ROLE/);
  });

  it("takes JSON in its last words for a handoff", async () => {
    await using turns = await modelTurns(inOrder({ text: 'Done.\n{"status": "blocked", "summary": "no"}' }));
    assert.match(textOf(await turns.agent.turn(workAsk(turns.folder), NEVER)), /"blocked"/);
    assert.equal(turns.server.calls.length, 1);
  });

  it("is asked once more for a handoff that is missing", async () => {
    await using turns = await modelTurns(inOrder({ text: "Done." }, HANDOFF));
    assert.match(textOf(await turns.agent.turn(workAsk(turns.folder), NEVER)), /made it/);
    assert.match(lastText(turns.server.calls[1]!), /without a handoff/);
  });

  it("is not asked twice: what it said is given as it is", async () => {
    await using turns = await modelTurns(inOrder({ text: "Done." }));
    assert.equal(textOf(await turns.agent.turn(workAsk(turns.folder), NEVER)), "Done.");
    assert.equal(turns.server.calls.length, 2);
  });

  it("hears that arguments of a tool are wrong, and can mend them", async () => {
    const wrong = (args: string): Reply => ({
      fault: { is: "bad-arguments", tool: "bash", arguments: args },
    });
    await using turns = await modelTurns(inOrder(wrong('{"command": '), wrong('{"cmd": 1}'), HANDOFF));
    assert.match(textOf(await turns.agent.turn(workAsk(turns.folder), NEVER)), /made it/);
    for (const call of turns.server.calls.slice(1))
      assert.match(call.messages.at(-1)?.toolResults[0]?.text ?? "", /invalid input|error/i);
  });

  it("hears that there is no tool of that name", async () => {
    await using turns = await modelTurns(inOrder({ tools: [{ name: "fly", input: {} }] }, HANDOFF));
    assert.match(textOf(await turns.agent.turn(workAsk(turns.folder), NEVER)), /made it/);
    assert.match(turns.server.calls[1]?.messages.at(-1)?.toolResults[0]?.text ?? "", /fly/);
  });

  it("is told to go on when its answer was too long, twice at most", async () => {
    const long: Reply = { text: "and then", stop: "length" };
    await using turns = await modelTurns(inOrder(long));
    await turns.agent.turn(workAsk(turns.folder), NEVER);
    const told = turns.server.calls.map(lastText).filter((text) => /cut off/.test(text));
    assert.equal(told.length, 2);
    assert.equal(turns.server.calls.length, 4); // The fourth call asks for the handoff.
  });

  it("does not run a call of an answer that was cut, nor take it for a handoff", async () => {
    await using turns = await modelTurns(inOrder({ ...bash("touch bad"), stop: "length" }, HANDOFF));
    assert.match(textOf(await turns.agent.turn(workAsk(turns.folder), NEVER)), /made it/);
    assert.throws(() => readFileSync(path.join(turns.folder, "bad")));
  });

  it("has failed, and not ended, if it works on for ever and never answers", async () => {
    await using turns = await modelTurns(() => bash("true"), { limits: { maxSteps: 5 } });
    const said = await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.ok(said.is === "failed");
    assert.match(said.failure.message, /still working after 5 steps, and gave no answer when asked for one/);
    assert.equal(turns.server.calls.length, 5 + 3, "three more, to answer with");
  });

  it("has failed so, too, where the server says of every call that it had stopped", async () => {
    const works: Reply = { ...bash("true"), stop: "stop" };
    await using turns = await modelTurns(() => works, { limits: { maxSteps: 5 } });
    const said = await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.match(failureOf(said).message, /still working after 5 steps/);
  });

  it("is stopped after so many steps, and asked for what there is", async () => {
    const answer: Answerer = (call) => (/all of your 5 steps/.test(lastText(call)) ? HANDOFF : bash("true"));
    await using turns = await modelTurns(answer, { limits: { maxSteps: 5 } });
    assert.match(textOf(await turns.agent.turn(workAsk(turns.folder), NEVER)), /made it/);
    assert.equal(turns.server.calls.length, 6);
  });

  it("says nothing if it says nothing", async () => {
    await using turns = await modelTurns(inOrder({ text: "" }));
    assert.equal(textOf(await turns.agent.turn(workAsk(turns.folder), NEVER)), "");
  });

  it("has no money left when the governor says so", async () => {
    await using turns = await modelTurns(inOrder(HANDOFF));
    turns.governor.deny = failure("budget", "the run's budget is spent");
    assert.equal(failureOf(await turns.agent.turn(workAsk(turns.folder), NEVER)).kind, "budget");
    assert.equal(turns.server.calls.length, 0);
  });

  it("leaves no key and no known secret in any file", async () => {
    const redact = (text: string) => text.replaceAll("S3CRET", "[redacted]");
    await using turns = await modelTurns(inOrder(bash("echo S3CRET"), { text: "S3CRET, done" }), { redact });
    const said = await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.equal(textOf(said), "[redacted], done");
    for (const file of [
      "conversations/work-t.1-1.jsonl",
      "turns/work-t.1-1.cost.jsonl",
      "turns/work-t.1-1.said.json",
    ]) {
      const text = readFileSync(path.join(turns.home, file), "utf8");
      assert.ok(!text.includes("S3CRET") && !text.includes(KEY), file);
    }
    assert.equal(turns.server.calls[0]?.key, KEY);
  });

  it("gives a sign of life with every part of an answer", async () => {
    await using turns = await modelTurns(inOrder(bash("true"), HANDOFF));
    let signs = 0;
    await turns.agent.turn({ ...workAsk(turns.folder), onSign: () => (signs += 1) }, NEVER);
    assert.ok(signs >= 8, `${signs} signs`);
  });
});

describe("a model that plans", () => {
  it("looks around without a way to change anything, and answers by a tool", async () => {
    await using turns = await modelTurns(
      inOrder({ tools: [{ name: "ls", input: {} }] }, { tools: [{ name: "plan", input: PLAN }] }),
    );
    const read = readPlanAnswer(textOf(await turns.agent.turn(planAsk(turns.folder), NEVER)));
    assert.deepEqual(read.is === "answer" && read.answer.tasks.map((task) => task.id), ["a"]);
    assert.equal(turns.server.calls[0]?.system, "ROOT");
    assert.deepEqual(turns.server.calls[0]?.tools.toSorted(), ["find", "git", "grep", "ls", "plan", "read"]);
  });

  it("may name a machine's label in its plan where machines have some, and is told so", async () => {
    const needing = { ...PLAN, tasks: PLAN.tasks.map((task) => ({ ...task, needs: "gpu" })) };
    const plan = { tools: [{ name: "plan", input: needing }] };
    const said = async (brief: Parameters<typeof planAsk>[1]) => {
      await using turns = await modelTurns(inOrder(plan));
      const text = textOf(await turns.agent.turn(planAsk(turns.folder, brief), NEVER));
      return [text, lastText(turns.server.calls[0]!)] as const;
    };
    const [there, told] = await said({ labels: ["gpu"] });
    assert.match(there, /"needs":\["gpu"\]/, "a list, as the tool's schema has it");
    assert.match(told, /The labels are: gpu/);
    const [nowhere, untold] = await said({});
    assert.match(nowhere, /"needs":"gpu"/, "the schema does not know it");
    assert.doesNotMatch(untold, /labels/);
  });

  it("goes on with its conversation in the next turn, in the next engine, with every call answered", async () => {
    await using turns = await modelTurns(inOrder({ tools: [{ name: "plan", input: PLAN }] }), {
      wire: "anthropic",
    });
    await turns.agent.turn(planAsk(turns.folder), NEVER);
    const concerns = [{ id: "c1", from: "t.1", text: "CONCERN" }] as never;
    const next = { ...planAsk(turns.folder, { turn: 2, concerns }), job: "plan:t#2" as JobId };
    await turns.again().turn(next, NEVER);
    const { messages } = turns.server.calls[1]!;
    assert.deepEqual(
      messages.map((message) => message.role),
      ["user", "assistant", "tool", "user"],
    );
    assert.deepEqual(messages[1]?.toolCalls[0]?.input, PLAN);
    assert.deepEqual(
      messages[2]?.toolResults.map((result) => result.id),
      [messages[1]?.toolCalls[0]?.id],
    );
    assert.match(messages[3]?.text ?? "", /Turn: 2[\s\S]*CONCERN/);
  });

  it("is asked again for a plan that cannot be read", async () => {
    await using turns = await modelTurns(
      inOrder({ text: "I have no plan." }, { tools: [{ name: "plan", input: PLAN }] }),
    );
    assert.match(textOf(await turns.agent.turn(planAsk(turns.folder), NEVER)), /"id":"a"/);
    assert.match(lastText(turns.server.calls[1]!), /plan could not be used/);
  });

  it("forgets a failed turn", async () => {
    let turn = 0;
    const answer: Answerer = () =>
      turn === 0 ? { fault: { is: "status", status: 400 } } : { tools: [{ name: "plan", input: PLAN }] };
    await using turns = await modelTurns(answer);
    assert.equal(failureOf(await turns.agent.turn(planAsk(turns.folder), NEVER)).kind, "agent-failed");
    turn = 1;
    await turns.again().turn({ ...planAsk(turns.folder, { turn: 2 }), job: "plan:t#2" as JobId }, NEVER);
    assert.deepEqual(
      turns.server.calls.at(-1)?.messages.map((message) => message.role),
      ["user"],
    );
  });
});
