/** Tests the file of a model's conversation: lost turns, compaction, secrets, and damaged or unwritable files. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import type { ModelMessage } from "ai";
import { newFolder } from "../../../../test/support/folders.ts";
import type { JobId } from "../../../core/job.ts";
import { Conversation } from "./conversation.ts";

const user = (content: string): ModelMessage => ({ role: "user", content });
const assistant = (text: string): ModelMessage => ({ role: "assistant", content: [{ type: "text", text }] });
const calls = (toolCallId: string, more: object = {}): ModelMessage => ({
  role: "assistant",
  content: [{ type: "tool-call", toolCallId, toolName: "ls", input: {}, ...more }],
});
const result = (toolCallId: string): ModelMessage => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "ls", output: { type: "text", value: "a.ts" } }],
});

const place = (file: string, turn = 1, maxTokens = 10_000) => ({
  ...{
    file,
    maxTokens,
    isNew: false,
    job: `plan:t#${turn}` as JobId,
    redact: (text: string) => text.replaceAll("S3CRET", "[redacted]"),
  },
});
const newFile = () => path.join(newFolder(), "conversations", "plan-t.jsonl");

async function turn(
  file: string,
  n: number,
  messages: readonly ModelMessage[],
  ends = true,
  maxTokens?: number,
) {
  const conversation = await Conversation.open(place(file, n, maxTokens));
  for (const message of messages) await conversation.add([message]);
  if (ends) await conversation.end();
  await conversation.close();
  return conversation;
}

async function reopened(file: string, maxTokens?: number) {
  const conversation = await Conversation.open(place(file, 99, maxTokens));
  await conversation.close();
  return conversation;
}

describe("a planner's conversation", () => {
  it("is new at first, and goes on with all that was said", async () => {
    const file = newFile();
    const first = await turn(file, 1, [user("plan"), calls("1"), result("1"), assistant("planned")]);
    assert.deepEqual([first.is, first.past], ["new", []]);
    const second = await turn(file, 2, [user("more"), assistant("done")]);
    assert.equal(second.is, "continued");
    assert.deepEqual(second.past, [user("plan"), calls("1"), result("1"), assistant("planned")]);
    assert.equal((await reopened(file)).past.length, 6);
  });

  it("drops a turn that was cut off, wherever the file ends", async () => {
    const file = newFile();
    await turn(file, 1, [user("one"), assistant("1")]);
    const before = readFileSync(file, "utf8").length;
    await turn(file, 2, [user("two"), calls("2"), result("2"), assistant("2")]);
    const whole = readFileSync(file, "utf8");
    for (let length = before; length <= whole.length; length += length < whole.length - 40 ? 13 : 1) {
      writeFileSync(file, whole.slice(0, length));
      const { past } = await reopened(file);
      const isWhole = length >= whole.length - 1;
      assert.equal(past.length, isWhole ? 6 : 2, `${length}`);
      const again = await turn(file, 3, [user("three"), assistant("3")]);
      assert.equal(again.past.length, isWhole ? 6 : 2);
      assert.deepEqual((await reopened(file)).past.slice(-2), [user("three"), assistant("3")]);
    }
  });

  it("drops a turn of which a line is missing", async () => {
    const file = newFile();
    await turn(file, 1, [user("one"), assistant("1")]);
    const lines = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, lines.toSpliced(1, 1).join("\n"));
    assert.deepEqual((await reopened(file)).past, []);
  });

  it("keeps turns apart that write at the same time", async () => {
    const file = newFile();
    const late = await Conversation.open(place(file, 1));
    await late.add([user("late")]);
    await turn(file, 2, [user("two"), assistant("2")]);
    await late.add([assistant("too late")]);
    await late.close();
    assert.deepEqual((await reopened(file)).past, [user("two"), assistant("2")]);
  });

  it("sends no call without its result, no thoughts, and nothing of one provider alone", async () => {
    const file = newFile();
    const thought: ModelMessage = { role: "assistant", content: [{ type: "reasoning", text: "hm" }] };
    const signed = calls("1", { providerOptions: { google: { thoughtSignature: "x" } } });
    await turn(file, 1, [user("one"), thought, signed, result("1"), calls("2"), result("3")]);
    assert.deepEqual((await reopened(file)).past, [user("one"), calls("1"), result("1")]);
  });

  it("pairs calls and results by their place, where a server gives the same id again and again", async () => {
    const file = newFile();
    await turn(file, 1, [user("one"), calls("0"), result("0"), calls("0"), assistant("then"), result("0")]);
    assert.deepEqual((await reopened(file)).past, [user("one"), calls("0"), result("0"), assistant("then")]);
  });

  it("leaves out the oldest turns when it is too long, says so, and needs the documents again", async () => {
    const file = newFile();
    for (const n of [1, 2, 3, 4])
      await turn(file, n, [user(`${n}${"x".repeat(2_000)}`), assistant(`said ${n}`)]);
    const compacted = await reopened(file, 2_000); // Each turn takes about 700 tokens.
    assert.equal(compacted.is, "new");
    assert.match(String(compacted.past[0]?.content), /3 earlier turns .* left out/);
    assert.deepEqual(compacted.past.at(-1), assistant("said 4"));
    assert.equal(compacted.past.length, 3);
    const after = await turn(file, 5, [user("five"), assistant("said 5")], true, 2_000);
    assert.equal(after.is, "new", "the turn that was told of the documents was cut off");
    assert.deepEqual(after.past, compacted.past);
    assert.equal((await reopened(file, 2_000)).is, "continued");
  });

  it("needs the documents again where the turn that was told of them cannot be read", async () => {
    const file = newFile();
    for (const n of [1, 2]) await turn(file, n, [user(`turn ${n}`), assistant(`said ${n}`)]);
    writeFileSync(file, readFileSync(file, "utf8").replace('"turn 1"', '"turn 1'));
    const { is, past } = await reopened(file);
    assert.deepEqual([is, past], ["new", [user("turn 2"), assistant("said 2")]]);
  });

  it("is a new one where a single turn is too long", async () => {
    const file = newFile();
    await turn(file, 1, [user("x".repeat(50_000)), assistant("said")]);
    const { is, past } = await reopened(file, 1_000);
    assert.deepEqual([is, past.length], ["new", 1]);
    assert.match(String(past[0]?.content), /1 earlier turn of/);
  });

  it("is new for each attempt of a worker, whatever an earlier try of it left", async () => {
    const file = newFile();
    await turn(file, 1, [user("one"), assistant("1")]);
    const conversation = await Conversation.open({ ...place(file), isNew: true });
    await conversation.add([user("again")]);
    await conversation.close();
    assert.deepEqual([conversation.is, conversation.past], ["new", []]);
    assert.doesNotMatch(readFileSync(file, "utf8"), /one/);
  });

  it("holds no secret", async () => {
    const file = newFile();
    await turn(file, 1, [user("S3CRET"), assistant("it is S3CRET")]);
    assert.doesNotMatch(readFileSync(file, "utf8"), /S3CRET/);
    assert.deepEqual((await reopened(file)).past, [user("[redacted]"), assistant("it is [redacted]")]);
  });

  it("holds no secret that begins a line: each text is blotted before it is encoded", async () => {
    const file = newFile();
    const conversation = await Conversation.open({
      ...place(file),
      redact: (text) => text.replace(/^S3CRET$/gm, "…"),
    });
    await conversation.add([user("it is\nS3CRET\n")]);
    await conversation.close();
    assert.doesNotMatch(readFileSync(file, "utf8"), /S3CRET/);
  });

  it("begins anew where the file is none, or holds anything else", async () => {
    const folder = path.join(newFolder(), "conversations");
    mkdirSync(path.join(folder, "a-folder.jsonl"), { recursive: true });
    writeFileSync(path.join(folder, "target"), "secret");
    symlinkSync(path.join(folder, "target"), path.join(folder, "a-link.jsonl"));
    writeFileSync(
      path.join(folder, "odd.jsonl"),
      'null\n7\n{"is":"messages"}\n{"is":"ended","turn":"x","lines":0}\n\u0000',
    );
    const odd = [
      { is: "begun", turn: "a" },
      { is: "messages", turn: "a", messages: [{ role: "king" }, 7] },
      { is: "ended", turn: "a", lines: 1 },
    ];
    writeFileSync(path.join(folder, "shapes.jsonl"), odd.map((line) => `${JSON.stringify(line)}\n`).join(""));
    for (const name of ["a-folder", "a-link", "odd", "shapes"]) {
      const file = path.join(folder, `${name}.jsonl`);
      assert.deepEqual((await reopened(file)).past, [], name);
      await turn(file, 1, [user("one"), assistant("1")]);
      assert.deepEqual((await reopened(file)).past, [user("one"), assistant("1")], name);
    }
    assert.equal(readFileSync(path.join(folder, "target"), "utf8"), "secret");
  });

  it("goes on without a file where none can be written", async () => {
    const file = path.join(newFolder(), "a-file");
    writeFileSync(file, "");
    const conversation = await turn(path.join(file, "plan-t.jsonl"), 1, [user("one")]);
    assert.equal(conversation.is, "new");
  });
});
