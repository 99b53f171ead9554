/** Tests `skein subtask` with a model: a task goes on in its own conversation, and leaves nothing behind. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Answerer,
  type Reply,
  startModelServer,
  type WireName,
} from "../support/model-server/model-server.ts";
import { callSkein, keptIn, makePlace } from "./cli-place.ts";
import { done, envOf, FILES, KEY, RUN, request, resultOf } from "./subtask-place.ts";

async function byModel(answer: Answerer, wire: WireName, args: readonly string[] = RUN, files: object = {}) {
  await using server = await startModelServer({ answer, keys: [KEY] });
  await using place = await makePlace({ files: { ...FILES, ...files }, isTrusted: true });
  const agent = {
    ...{
      kind: "model",
      provider: "tests",
      model: "scripted-1",
      baseUrl: `${server.url}/v1`,
      key: "MODEL_KEY",
    },
    speaks: wire === "anthropic" ? "anthropic" : "openai",
  };
  const env = envOf(place, { SKEIN_AGENT: JSON.stringify(agent), MODEL_KEY: KEY });
  const ended = await callSkein(args, place.repository.folder, env);
  assert.deepEqual(keptIn(place.state), [], "nothing stays");
  assert.equal(await place.repository.git("status", "--porcelain"), "");
  return { ...ended, calls: server.calls, tokens: server.tokens() };
}

const reply = (input: unknown): Reply => ({
  tools: [{ name: "answer", input }],
  usage: { input: 1_000, output: 100 },
});

describe("a task by a model", () => {
  for (const wire of ["openai-chat", "anthropic"] as const) {
    it(`delegates and goes on in its own conversation, over the wire ${wire}`, async () => {
      const answers = [request(), done(`no mistakes, ${KEY}`), done("written and checked")];
      const ended = await byModel(({ n }) => reply(answers[n - 1]), wire);
      assert.equal(ended.code, 0, ended.err);
      const { status, content, notes } = resultOf(ended);
      assert.deepEqual(
        [status, content, notes["usage"]],
        ["COMPLETE", "written and checked", { tokens: 1_100 }],
      );
      const [first, child, again] = ended.calls;
      assert.deepEqual(ended.calls.length, 3);
      assert.match(first!.system, /^# You do one task/);
      assert.deepEqual([...first!.tools].sort(), ["answer", "find", "git", "grep", "ls", "read"]);
      assert.match(first!.messages[0]!.text, /Write a text[\s\S]*"topic":"tea"/);
      assert.match(child!.messages[0]!.text, /Look at it[\s\S]*"text":"hi"/);
      assert.ok(!child!.messages[0]!.text.includes("tea"), "the child has a conversation of its own");
      assert.deepEqual(again!.messages.slice(0, 1), first!.messages.slice(0, 1));
      assert.equal(again!.messages[1]!.toolCalls[0]?.name, "answer");
      const last = again!.messages.findLast(({ role }) => role === "user")!.text;
      assert.match(
        last,
        /## Tool response subtask:verification: COMPLETE[\s\S]*no mistakes[\s\S]*Go on, with the result/,
      );
      assert.ok(!`${ended.out}${ended.err}${last}`.includes(KEY));
      assert.match(
        ended.err,
        /^t write \(writing\) begins\nt\.1 check \(verification\) begins\nt\.1 COMPLETE\nt COMPLETE$/m,
      );
    });

    it(`answers a child that asks, over the wire ${wire}`, async () => {
      const asks = {
        status: "NEEDS_INPUT",
        content: "Which language?",
        notes: { question: { default: "any" } },
      };
      const answers = [request(), asks, done("English"), done("it is English"), done("checked")];
      const ended = await byModel(({ n }) => reply(answers[n - 1]), wire);
      assert.deepEqual(
        [ended.code, resultOf(ended).content, ended.calls.length],
        [0, "checked", 5],
        ended.err,
      );
      const told = ended.calls.map(({ messages }) => messages.findLast(({ role }) => role === "user")!.text);
      assert.match(told[2]!, /Tool response question:t\.1: NEEDS_INPUT[\s\S]*Which language\?/);
      assert.match(told[3]!, /Tool response ask: COMPLETE[\s\S]*English/);
      assert.match(told[4]!, /Tool response subtask:verification: COMPLETE[\s\S]*it is English/);
      assert.ok(
        ended.calls[3]!.messages.some(({ text }) => text.includes("Look at it")),
        "the child's own",
      );
    });
  }

  it("hands its whole conversation on to a child that inherits it, byte for byte, without the call", async () => {
    const full = request({ context_management: { inherit_context: "full" } });
    const answers = [
      { tools: [{ name: "ls", input: {} }] },
      reply(full),
      reply(done("fine")),
      reply(done("good")),
    ];
    const ended = await byModel(({ n }) => answers[n - 1]!, "openai-chat");
    assert.equal(ended.code, 0, ended.out + ended.err);
    const bodies = ended.calls.map(({ body }) => (body as { readonly messages: readonly object[] }).messages);
    const [, parent, child] = bodies.map((messages) => messages.map((message) => JSON.stringify(message)));
    assert.equal(parent!.length, 4, "instructions, the task, a call and its result");
    assert.deepEqual(child!.slice(0, parent!.length), parent);
    assert.match(child!.slice(parent!.length).join(), /^[^\n]*Look at it/);
    assert.ok(!child!.join().includes("a draft"));
  });

  it("hands 50,000 tokens on to 8 children in the same bytes, and sends one before the rest", async () => {
    const each = "<task><description>Check one</description></task>";
    const many = `<task name="many" type="many"><description>Check all</description>
      <context_management><inherit_context>full</inherit_context></context_management>
      <each over="files" max_parallel="8">${each}</each></task>`;
    const files = [...Array(8).keys()];
    const asks = request({ type: "many", description: "Check all of them", inputs: { files } });
    let isFirstAnswered = false;
    const early: number[] = [];
    const answer: Answerer = async ({ n }) => {
      if (n === 1) return reply(asks);
      // Gives other calls the time to come too early.
      if (n === 2) for (let i = 0; i < 100; i += 1) await new Promise(setImmediate);
      if (n === 2) isFirstAnswered = true;
      if (!isFirstAnswered) early.push(n);
      return reply(done(`${n}`));
    };
    const topic = "tea ".repeat(50_000);
    const input = { "topic.txt": topic, ".skein/templates/many.xml": many };
    const args = ["subtask", "run", "write", "--input", "topic=@topic.txt"];
    const ended = await byModel(answer, "anthropic", args, input);
    assert.equal(ended.code, 0, ended.err);
    const [parent = "", ...children] = ended.calls.map(({ body }) => {
      const { system, tools, messages } = body as { readonly [name: string]: unknown };
      return JSON.stringify({ system, tools, messages });
    });
    assert.equal(children.length, 9);
    assert.deepEqual(early, []);
    const end = parent.lastIndexOf(topic) + topic.length;
    assert.ok(end > 200_000);
    for (const child of children) assert.equal(child.slice(0, end), parent.slice(0, end));
  });

  it("takes words that are no such JSON for the content, and names the agent's failure", async () => {
    const words = await byModel(() => ({ text: "Tea is a drink." }), "openai-chat");
    assert.deepEqual([words.code, resultOf(words).content], [0, "Tea is a drink."]);
    const refused = await byModel(() => ({ fault: { is: "status", status: 401 } }), "openai-chat");
    assert.equal(refused.code, 5, refused.out + refused.err);
    assert.equal(resultOf(refused).status, "FAILED");
  });

  it("plays a specialist that its template names", async () => {
    const files = {
      ".claude/agents/poet.md": "---\nname: poet\ndescription: writes verse\n---\nSpeak in rhymes.\n",
      ".skein/templates/sing.xml": `<task name="sing"><description>Sing</description><handler>poet</handler></task>`,
    };
    const ended = await byModel(() => reply(done("la")), "openai-chat", ["subtask", "run", "sing"], files);
    assert.equal(ended.code, 0, ended.out + ended.err);
    assert.match(
      ended.calls[0]!.system,
      /# You do one task[\s\S]*## Your speciality: poet[\s\S]*Speak in rhymes\./,
    );
  });
});
