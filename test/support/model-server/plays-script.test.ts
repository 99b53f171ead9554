/** Tests that a model plays a script like the scripted agent does, over every client and for planners and workers. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { isStepCount, jsonSchema, type ModelMessage, streamText, type ToolSet, tool } from "ai";
import { takeStep } from "../../../src/adapters/agents/scripted-steps.ts";
import type { Script, ScriptStep } from "../../../src/ports/agent-script.ts";
import { planMessage } from "../../../src/prompting/plan-message.ts";
import { workMessage } from "../../../src/prompting/work-message.ts";
import { planAsk, workAsk } from "../../contracts/agent.ts";
import { newFolder } from "../folders.ts";
import { WIRES } from "./clients.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { byRecords, type PlayOptions, playsScript } from "./plays-script.ts";

type Input = { readonly path: string; readonly content: string; readonly command: string } & {
  readonly old_text: string;
  readonly new_text: string;
};

/** Like a worker's tools: a problem is returned as the answer. */
const toolsIn = (folder: string): ToolSet & { readonly bash: ToolSet[string] } => {
  const inputSchema = jsonSchema<Input>({ type: "object" });
  const at = (name: string) => path.join(folder, name);
  return {
    write: tool({
      inputSchema,
      execute: ({ path: name, content }) => {
        mkdirSync(path.dirname(at(name)), { recursive: true });
        writeFileSync(at(name), content);
        return "written";
      },
    }),
    edit: tool({
      inputSchema,
      execute: ({ path: name, old_text, new_text }) => {
        const parts = readFileSync(at(name), "utf8").split(old_text);
        if (parts.length !== 2) return `error: ${parts.length - 1} places`;
        writeFileSync(at(name), parts.join(new_text));
        return "changed";
      },
    }),
    bash: tool({
      inputSchema,
      execute: ({ command }) =>
        spawnSync("bash", ["-c", command], { cwd: folder, encoding: "utf8", env: process.env }).stdout,
    }),
    plan: tool({ inputSchema }),
    handoff: tool({ inputSchema }),
  };
};

type Turn = {
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly text: string;
};

/** Plays a turn of an agent, which calls the model until it answers. `only`: the agent's only tool. */
async function turnOf(
  server: ModelServer,
  messages: readonly ModelMessage[],
  {
    wire = WIRES[0]!,
    folder = newFolder(),
    only,
  }: { wire?: (typeof WIRES)[number]; folder?: string; only?: "bash" } = {},
): Promise<Turn> {
  const { bash, ...others } = toolsIn(folder);
  let error: unknown;
  const result = streamText({
    model: wire.model(server.url),
    messages: [...messages],
    tools: only ? { bash } : { bash, ...others },
    stopWhen: isStepCount(40),
    maxRetries: 0,
    maxOutputTokens: 1_000,
    onError: (event) => {
      error = event.error;
    },
  });
  const calls: Turn["calls"][number][] = [];
  let text = "";
  for await (const part of result.fullStream) {
    if (part.type === "tool-call") calls.push({ name: part.toolName, input: part.input });
    if (part.type === "text-delta") text += part.text;
    if (part.type === "error") error ??= part.error;
  }
  if (error !== undefined) throw error;
  return { calls, text };
}

const user = (content: string): ModelMessage => ({ role: "user", content });
const worker = (attempt = 1, key = "a") => user(`Task: t.1 (${key})\nAttempt: ${attempt}\n\nDo it.`);
const planner = (turn: number, scratchpad = "") => user(`Task: t (goal)\nTurn: ${turn}\n\n${scratchpad}`);

const serving = (script: Partial<Script>, options: PlayOptions = {}) =>
  // A new player for each call, which can remember nothing.
  startModelServer({
    answer: (call, signal) => playsScript({ plans: {}, work: {}, ...script }, options)(call, signal),
  });

const reporting = (summary: string) => ({ end: { handoff: { status: "complete", summary } } });
const handoff = (summary: string, status = "complete") => ({
  name: "handoff",
  input: { status, summary, concerns: [], suggestions: [] },
});

const STEPS: readonly ScriptStep[] = [
  { do: "say", text: "I begin" },
  { do: "write", path: "a/b.js", text: "one\nmark\nmark\nend\n" },
  { do: "append", path: "a/b.js", text: "it's `more` $HOME \\n\n" },
  { do: "append", path: "new/er.js", text: "new\n" },
  { do: "replace", path: "a/b.js", find: "one", with: "$& 'n' $1 – ü" },
  { do: "replace", path: "a/b.js", find: "mark", with: "the first" },
  { do: "insert", path: "a/b.js", after: "end", text: "it's inserted\n" },
  { do: "wait", ms: 5 },
  { do: "rename", path: "a/b.js", to: "c/d.js" },
  { do: "delete", path: "new/er.js" },
  { do: "run", command: ["touch", "made $HOME"] },
  { do: "commit", message: "it's done" },
  { do: "write", path: "last.js", text: "" },
];

function newRepository(): string {
  const folder = newFolder();
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
  return folder;
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.startsWith(".git"))
    .sort()
    .map((name) => (name.includes(".") ? [name, readFileSync(path.join(folder, name), "utf8")] : [name]));

for (const wire of WIRES)
  describe(`a model that plays a script, called by ${wire.name}`, () => {
    it("leaves what the scripted agent leaves", async () => {
      const [folder, same] = [newRepository(), newRepository()];
      await using server = await serving({ work: { a: [{ steps: STEPS, ...reporting("done") }] } });
      const { calls, text } = await turnOf(server, [worker()], { wire, folder });
      for (const step of STEPS.filter((one) => one.do !== "say"))
        assert.equal(
          takeStep(step, same, () => {}),
          undefined,
        );
      assert.deepEqual(filesIn(folder), filesIn(same));
      const log = (of: string) =>
        execFileSync("git", ["log", "--format=%s %an", "--name-only"], { cwd: of, encoding: "utf8" });
      assert.equal(log(folder), log(same));
      assert.equal(text, "I begin\n");
      assert.deepEqual(calls.at(-1), handoff("done"));
      // One call for each step that does something, one more for a text that appears twice, and the handoff.
      assert.equal(calls.length, 11 + 1 + 1);
    });

    it("gives a planner's answers by the tool", async () => {
      await using server = await serving({ plans: { t: [{ answer: { scratchpad: "s", tasks: ["x"] } }] } });
      const { calls } = await turnOf(server, [planner(1)], { wire });
      assert.deepEqual(calls, [
        { name: "plan", input: { scratchpad: "s\n[script: answer 1]", tasks: ["x"] } },
      ]);
    });
  });

describe("a model that plays a script", () => {
  const answer = (id: string) => ({ answer: { scratchpad: `made ${id}`, tasks: [id] } });
  const plans = { t: [answer("a"), { end: "outage" } as const, answer("b")] };
  const planned = async (script: Partial<Script>, ...messages: readonly ModelMessage[]) => {
    await using server = await serving(script);
    const { calls } = await turnOf(server, messages);
    return calls[0]!.input as { readonly scratchpad: string; readonly tasks: readonly string[] };
  };

  it("gives a planner's answers one after the other, each until it was accepted", async () => {
    const first = await planned({ plans }, planner(1));
    assert.deepEqual(first.tasks, ["a"]);
    assert.deepEqual((await planned({ plans }, planner(3))).tasks, ["a"]);
    const second = await planned({ plans }, planner(3, first.scratchpad));
    assert.deepEqual(second, { scratchpad: "made b\n[script: answer 2]", tasks: ["b"] });
    assert.deepEqual(await planned({ plans }, planner(4, second.scratchpad)), {
      scratchpad: "[script: answer 2]",
      tasks: [],
    });
    assert.deepEqual(await planned({}, planner(1)), { scratchpad: "", tasks: [] });
  });

  it("reads the newest message of a conversation", async () => {
    const said: ModelMessage = { role: "assistant", content: "[script: answer 2]" };
    const messages = [planner(1), said, planner(3, "[script: answer 1]")];
    assert.deepEqual((await planned({ plans }, ...messages)).tasks, ["b"]);
  });

  it("understands what Skein tells planners and workers", async () => {
    const asked = (scratchpad: string) =>
      user(planMessage(planAsk("/nowhere", { turn: 3, scratchpad }), "continued"));
    assert.deepEqual((await planned({ plans }, asked(""))).tasks, ["a"]);
    assert.deepEqual((await planned({ plans }, asked("made a\n[script: answer 1]"))).tasks, ["b"]);
    await using server = await serving({ work: { a: [reporting("first"), reporting("second")] } });
    const { calls } = await turnOf(server, [user(workMessage(workAsk("/nowhere", { attempt: 2 })))]);
    assert.deepEqual(calls, [handoff("second")]);
  });

  it("has an accident in its own turn alone, and says a text as it is", async () => {
    await using server = await serving({ plans: { t: [{ text: "I { am not sure" }, { end: "outage" }] } });
    assert.deepEqual(await turnOf(server, [planner(1)]), { calls: [], text: "I { am not sure" });
    await assert.rejects(turnOf(server, [planner(2)]), { statusCode: 503 });
    assert.equal((await turnOf(server, [planner(3)])).calls.length, 1);
  });

  it("chooses by attempt, repeats the last, and knows an id before a name", async () => {
    const work = { a: [reporting("first"), reporting("second")] };
    await using server = await serving({ work });
    for (const [attempt, summary] of [
      [1, "first"],
      [2, "second"],
      [7, "second"],
    ] as const)
      assert.deepEqual((await turnOf(server, [worker(attempt)])).calls, [handoff(summary)]);
    await using other = await serving({ work: { ...work, "t.1": [reporting("by id")] } });
    assert.deepEqual((await turnOf(other, [worker(2)])).calls, [handoff("by id")]);
    await assert.rejects(turnOf(server, [worker(1, "b")]), /no work for t\.1 \("b"\)/);
    await assert.rejects(turnOf(server, [user("hello")]), /which task/);
  });

  it("fails where a step does not fit what is there, and leaves the rest undone", async () => {
    const steps: ScriptStep[] = [
      { do: "write", path: "a.js", text: "z" },
      { do: "replace", path: "a.js", find: "x", with: "y" },
      { do: "write", path: "b.js", text: "" },
    ];
    const folder = newFolder();
    await using server = await serving({ work: { a: [{ steps, ...reporting("done") }] } });
    const { calls } = await turnOf(server, [worker()], { folder });
    assert.deepEqual(
      calls.map(({ name }) => name),
      ["write", "edit", "bash", "handoff"],
    );
    assert.equal((calls.at(-1)!.input as { readonly status: string }).status, "failed");
    assert.equal(existsSync(path.join(folder, "b.js")), false);
  });

  it("crashes, is not there, and refuses, as its script says", async () => {
    const attempts = (["crash", "outage", { exit: 9 }, { exit: 75 }] as const).map((end) => ({ end }));
    await using server = await serving({ work: { a: attempts } });
    await assert.rejects(turnOf(server, [worker(1)]));
    await assert.rejects(turnOf(server, [worker(2)]), { statusCode: 503 });
    await assert.rejects(turnOf(server, [worker(3)]), { statusCode: 400, isRetryable: false });
    await assert.rejects(turnOf(server, [worker(4)]), { statusCode: 503 });
  });

  it("hands off when it is asked again, whether it had said nothing or something broken", async () => {
    const steps: ScriptStep[] = [{ do: "write", path: "a.js", text: "" }];
    await using server = await serving({
      work: {
        a: [
          { steps, end: "silent" },
          { steps, ...reporting("done") },
        ],
      },
    });
    assert.deepEqual(
      (await turnOf(server, [worker(1)])).calls.map(({ name }) => name),
      ["write"],
    );
    const write = { toolCallId: "c1", toolName: "write" };
    const done: readonly ModelMessage[] = [
      { role: "assistant", content: [{ type: "tool-call", ...write, input: {} }] },
      {
        role: "tool",
        content: [{ type: "tool-result", ...write, output: { type: "text", value: "written" } }],
      },
    ];
    const again = user("Your turn ended without a handoff.");
    assert.deepEqual((await turnOf(server, [worker(1), ...done, again])).calls, [handoff("it is done")]);
    for (const reminder of [again, worker(2)])
      assert.deepEqual((await turnOf(server, [worker(2), ...done, reminder])).calls, [handoff("done")]);
    // Another attempt begins from the start.
    assert.equal((await turnOf(server, [worker(1), ...done, worker(2)])).calls.length, 2);
  });

  it("answers in JSON where there is no tool for it, and calls other tools by their names", async () => {
    const steps: ScriptStep[] = [{ do: "write", path: "a.js", text: "z" }];
    const command = "printf z > a.js";
    await using server = await serving(
      { work: { a: [{ steps, ...reporting("done") }] }, plans: { t: [answer("a")] } },
      { translate: ({ name }) => ({ name: name === "write" ? "bash" : name, input: { command } }) },
    );
    const { calls, text } = await turnOf(server, [worker()], { only: "bash" });
    assert.deepEqual(calls, [{ name: "bash", input: { command } }]);
    assert.deepEqual(JSON.parse(text), handoff("done").input);
    assert.deepEqual(JSON.parse((await turnOf(server, [planner(1)], { only: "bash" })).text).tasks, ["a"]);
  });

  it("waits as it is told, and for the records of a run", async () => {
    const jobs = newFolder();
    const waited: number[] = [];
    const record = () => {
      const place = path.join(jobs, "work-t.2-1");
      mkdirSync(place);
      writeFileSync(
        path.join(place, "job.json"),
        JSON.stringify({ brief: { spec: { key: "b" }, attempt: 1 } }),
      );
      writeFileSync(path.join(place, "answer.json"), '{"answer": {"outcome": {"is": "worked"}}}');
    };
    const steps: ScriptStep[] = [
      { do: "wait", ms: 7_000 },
      { do: "await", task: "b", until: "ready", ms: 60_000 },
    ];
    await using server = await serving(
      { work: { a: [{ steps, ...reporting("saw it") }] } },
      { wait: async (ms) => void waited.push(ms), until: byRecords(() => jobs) },
    );
    const turn = turnOf(server, [worker()]);
    await server.waitForCall(1);
    record();
    assert.deepEqual((await turn).calls, [handoff("saw it")]);
    assert.deepEqual(waited, [7_000]);
    const never: ScriptStep[] = [{ do: "await", task: "c", until: "landed", ms: 0 }];
    await using other = await serving(
      { work: { a: [{ steps: never, ...reporting("saw it") }] } },
      { until: byRecords(jobs) },
    );
    const late = "a step failed: c (attempt 1) was not landed within 0 ms";
    assert.deepEqual((await turnOf(other, [worker()])).calls, [handoff(late, "failed")]);
  });
});
