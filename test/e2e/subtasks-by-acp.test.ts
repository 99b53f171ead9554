/** Tests ACP agents that delegate by MCP a part of their task, and go on in the same conversation. */
import assert from "node:assert/strict";
import { glob, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { ACP_COMMAND } from "../support/acp-agent/agent.ts";
import type { AcpScript, Step } from "../support/acp-agent/script.ts";
import { makePlace, type Place } from "./cli-place.ts";

const write = (file: string, text: string): Step => ({ do: "write", path: file, text, by: "itself" });
const report = (summary: string): Step => ({
  do: "say",
  text: JSON.stringify({ status: "complete", summary }),
});
const spawn: Step = {
  do: "tool",
  name: "spawn_subtask",
  input: { type: "writing", description: "Write the middle", inputs: { word: "hello" } },
};
const RETOLD = "You have begun this task before";
const SAID_BEFORE = "I thought of whales";

/**
 * Chooses prompts by the first message: a resumed task is told of the result, a subtask that it is one, a new task
 * neither.
 */
const when = (goesOn: string, ...begins: readonly Step[]): NonNullable<AcpScript["when"]> => [
  ...(goesOn === RETOLD ? [] : [{ told: RETOLD, prompts: [[write("retold.txt", "")]] }]),
  { told: goesOn, prompts: [[write("end.txt", "end\n"), report("all is there")]] },
  {
    told: "You carry out a subtask",
    prompts: [[write("middle.txt", "middle\n"), report("the middle is there")]],
  },
  {
    told: "Task: t",
    prompts: [[write("begun.txt", "begun\n"), { do: "say", text: SAID_BEFORE }, ...begins]],
  },
];
const RESULT = "Your subtask has ended: COMPLETE";

const start = (place: Place, script: Partial<AcpScript>, ...args: readonly string[]) => {
  const agent = { kind: "acp", name: "scripted", command: ACP_COMMAND };
  const env = {
    SKEIN_AGENT: JSON.stringify(agent),
    ACP_SCRIPT: JSON.stringify({ prompts: [], ...script } satisfies AcpScript),
  };
  const sets = ["workspace.pass=[ACP_SCRIPT]", "gate=none", ...args].flatMap((set) => ["--set", set]);
  return place.with({ env }).skein("run", "write it", "--planner", "none", ...sets);
};

const runIn = (out: string) => /^run +(\S+)$/m.exec(out)?.[1] ?? "";
const filesOn = async (place: Place, out: string) =>
  (await place.repository.git("ls-tree", "--name-only", `skein/${runIn(out)}/target`)).split("\n");

/** The text of all transcripts, turns and answers that are kept of the run. */
async function kept(place: Place): Promise<string> {
  const texts: string[] = [];
  for await (const name of glob("*/runs/*/{transcripts,turns,jobs}/**/*.{log,json}", { cwd: place.state }))
    texts.push(`== ${name}\n${await readFile(path.join(place.state, name), "utf8")}`);
  return texts.join("\n");
}

const ALL = ["README.md", "begun.txt", "end.txt", "middle.txt"];

describe("an agent that is talked with", () => {
  it("calls for a subtask by MCP, and is prompted in its own session with the result", async () => {
    await using place = await makePlace();
    const script = { connects: "by http", loads: SAID_BEFORE } as const;
    const { code, out, err } = await start(place, { ...script, when: when(RESULT, spawn) });
    assert.equal(code, 0, out + err);
    assert.deepEqual(await filesOn(place, out), ALL);
    const texts = await kept(place);
    assert.match(texts, /\{"tools":\["spawn_subtask","ask"\]\}/);
    assert.match(texts, /\{"loads":"s1"\}/);
    assert.match(texts, /taken: .*End your turn now/);
    assert.equal(texts.split(`\n${SAID_BEFORE}`).length, 2, "what is replayed is not heard twice");
    assert.doesNotMatch(texts, /skein_call_[0-9a-f]/);
  });

  it("begins another session if it cannot go on with its own, and is told what went before", async () => {
    await using place = await makePlace();
    const script = { connects: "by http", when: when(RETOLD, spawn) } as const;
    const { code, out, err } = await start(place, script);
    assert.equal(code, 0, out + err);
    assert.deepEqual(await filesOn(place, out), ALL);
    const texts = await kept(place);
    assert.ok(texts.includes(SAID_BEFORE));
    assert.match(
      texts,
      /You have begun this task before[\s\S]*I thought of whales[\s\S]*You called spawn_subtask/,
    );
    assert.doesNotMatch(texts, /\{"loads"/);
  });

  it("is handed a program if it takes no MCP servers by HTTP", async () => {
    await using place = await makePlace();
    const script = { connects: "by program", loads: SAID_BEFORE, when: when(RESULT, spawn) } as const;
    const { code, out, err } = await start(place, script);
    assert.equal(code, 0, out + err);
    assert.deepEqual(await filesOn(place, out), ALL);
    assert.match(await kept(place), /taken: .*End your turn now/);
  });

  it("asks, and is prompted with its default when nobody answers", async () => {
    await using place = await makePlace();
    const ask: Step = { do: "tool", name: "ask", input: { question: "Which?", default: "green", wait_s: 0 } };
    const told = "Your question was answered: COMPLETE";
    const script = { connects: "by http", loads: SAID_BEFORE, when: when(told, ask) } as const;
    const { code, out, err } = await start(place, script);
    assert.equal(code, 0, out + err);
    assert.deepEqual(await filesOn(place, out), ["README.md", "begun.txt", "end.txt"]);
  });

  it("is told when its call cannot be used, and does the rest itself", async () => {
    await using place = await makePlace();
    const wrong: Step = { ...spawn, input: { type: "writing", description: "x", colour: "blue" } };
    const script = {
      connects: "by http",
      loads: "",
      when: when("Your subtask has ended: FAILED", wrong),
    } as const;
    const { code, out, err } = await start(place, script);
    assert.equal(code, 0, out + err);
    assert.deepEqual(await filesOn(place, out), ["README.md", "begun.txt", "end.txt"]);
    assert.match(await kept(place), /colour/);
  });
});
