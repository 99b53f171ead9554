/** Tests the prompts of planners whose documents and history are too long, and of workers with a role. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Script } from "../../src/ports/agent-script.ts";
import type { Answerer, SeenCall } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import { jobOf } from "./model-accounting.ts";
import { SETS, task, toTheEnd, withIncidents, writes } from "./model-lives.ts";
import { type ModelPlace, makeModelPlace } from "./model-place.ts";

const messageOf = ({ messages }: SeenCall): string =>
  messages.findLast(({ role, text }) => role === "user" && text.startsWith("Task: "))?.text ?? "";

const callOf = ({ server }: ModelPlace, job: string): SeenCall => {
  const call = server.calls.find((one) => jobOf(one) === job);
  assert.ok(call, `${job} made no call`);
  return call;
};

describe("a planner", { concurrency: 2, timeout: 120_000 }, () => {
  it("is told how much of a long document is left out, can read the rest, and gets the short ones whole", async () => {
    const lines = Array.from({ length: 5_000 }, (_, i) => `Rule ${i + 1}: the table must hold for a year.`);
    const spec = `${lines.join("\n")}\n`;
    const files = {
      "SPEC.md": spec,
      "FEATURES.json": '{ "tides": true }\n',
      "AGENTS.md": "Write British English.\n",
      "DECISIONS.md": "We count in hours.\n",
    };
    assert.ok(spec.length > 200_000);
    const answer = withIncidents(
      { plans: {}, work: { t: [writes("a")] } },
      {
        "plan:t#1 1": () => ({ tools: [{ name: "read", input: { path: "SPEC.md", offset: 4_990 } }] }),
      },
    );
    await using place = await makeModelPlace({ answer, sets: SETS, files });
    const { code, out, err } = await toTheEnd(place, () => {});
    assert.equal(code, 0, out + err);
    const message = messageOf(callOf(place, "plan:t#1"));
    for (const [name, text] of Object.entries(files).slice(1))
      assert.ok(message.includes(`${name}:\n\`\`\`text\n${text}\`\`\``), `${name} is whole`);
    const [, shown = "", more = ""] =
      /^SPEC\.md:\n```text\n(.*?)```\n… ([\d,]+) more characters of SPEC\.md are left out; read the file$/ms.exec(
        message,
      ) ?? [];
    assert.ok(shown.length > 10_000 && spec.startsWith(shown));
    assert.equal(shown.length + Number(more.replaceAll(",", "")), spec.length);
    const second = place.server.calls.filter((call) => jobOf(call) === "plan:t#1")[1];
    assert.match(JSON.stringify(second?.messages.at(-1)?.toolResults), /Rule 5000: the table/);
  });

  it("keeps its scratchpad, and the documents, when its conversation is too long for its model", async () => {
    const names = ["a", "b", "c", "d"];
    const script: Script = {
      plans: {
        t: names.map((id) => ({ answer: { scratchpad: `after ${id}, mind the moon`, tasks: [task(id)] } })),
      },
      work: Object.fromEntries(names.map((id) => [id, [writes(id)]])),
    };
    const plays = withIncidents(script, {});
    /** Four such texts are more history than may be sent to a model of 32,000 tokens. */
    const thoughts = "I think about the moon and the tide. ".repeat(340);
    const answer: Answerer = async (call, signal) => {
      const reply = await plays(call, signal);
      return "fault" in reply || !jobOf(call).startsWith("plan:") ? reply : { ...reply, text: thoughts };
    };
    const files = { "SPEC.md": "The table must hold for a year.\n" };
    await using place = await makeModelPlace({ answer, sets: SETS, files });
    const { code, out, err } = await toTheEnd(place, () => {});
    assert.equal(code, 0, out + err);
    const calls = [1, 2, 3, 4, 5].map((turn) => callOf(place, `plan:t#${turn}`));
    const leftOut = calls.map(({ messages }) =>
      Number(/^\((\d) earlier turns? of/.exec(messages[0]?.text ?? "")?.[1] ?? 0),
    );
    const at = leftOut.findIndex((turns) => turns > 0);
    assert.ok(at > 1, `turns that were left out: ${leftOut}`);
    assert.ok(calls.every(({ body }) => JSON.stringify(body).length < 32_000 * 3));
    const isTold = calls.map((call) =>
      messageOf(call).includes("```text\nThe table must hold for a year.\n"),
    );
    assert.deepEqual(
      isTold,
      calls.map((_, turn) => turn === 0 || turn === at),
    );
    for (const [turn, id] of names.entries())
      assert.match(messageOf(calls[turn + 1]!), new RegExp(`after ${id}, mind the moon`));
    const past = calls[at]!.messages.flatMap(({ text }) => /\nTurn: (\d)$/m.exec(text)?.[1] ?? []);
    assert.deepEqual(past, [...past].sort());
    assert.equal(past.length, at + 1 - leftOut[at]!, "the newest turns are still there, and this one");
  });
});

describe("a specialist of the repository", { timeout: 60_000 }, () => {
  it("is offered to the planner by name; who works as one has its words, and its tools alone", async () => {
    const keeper = [
      "---",
      "name: tide-keeper",
      "description: Knows when the water comes.",
      "tools: Read, Write",
      "---",
      "Count in hours, never in days.",
    ].join("\n");
    const script: Script = {
      plans: {
        t: [{ answer: { scratchpad: "", tasks: [{ ...task("a"), agent: "tide-keeper" }, task("b")] } }],
      },
      work: { a: [writes("a")], b: [writes("b")] },
    };
    const answer: Answerer = playsScript(script);
    const files = { ".claude/agents/tide-keeper.md": keeper, "AGENTS.md": "Write British English.\n" };
    await using place = await makeModelPlace({ answer, sets: SETS, files, isTrusted: true });
    const { code, out, err } = await toTheEnd(place, () => {});
    assert.equal(code, 0, out + err);
    assert.match(messageOf(callOf(place, "plan:t#1")), /^- tide-keeper: Knows when the water comes\.$/m);
    const [chosen, other] = [callOf(place, "work:t.1#1"), callOf(place, "work:t.2#1")];
    assert.match(chosen.system, /Your speciality: tide-keeper[\s\S]*Count in hours, never in days\./);
    assert.deepEqual([...chosen.tools].sort(), ["ask", "handoff", "read", "spawn_subtask", "write"]);
    assert.doesNotMatch(other.system, /tide-keeper|Count in hours/);
    assert.deepEqual([...other.tools].sort(), [
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
    for (const { system } of [chosen, other]) assert.match(system, /`AGENTS\.md` or `CLAUDE\.md`/);
  });
});
