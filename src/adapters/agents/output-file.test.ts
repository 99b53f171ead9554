/** Tests what programs, scripts and functions are told of an output file, and which of their answers count. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { failureOf, JOB, textOf, workAsk } from "../../../test/contracts/agent.ts";
import { agentParts, hearing } from "../../../test/support/agent-parts.ts";
import { newFolder } from "../../../test/support/folders.ts";
import type { Ask } from "../../ports/agent.ts";
import type { Place } from "../../ports/agent-functions.ts";
import type { WorkAttempt } from "../../ports/agent-script.ts";
import { CommandAgent } from "./command.ts";
import { FunctionAgent } from "./functions.ts";
import { scripted } from "./scripted.ts";

const never = new AbortController().signal;

function made() {
  const home = newFolder();
  const pad = path.join(home, "pad");
  const folder = path.join(home, "workspace");
  for (const one of [pad, folder]) mkdirSync(one);
  const output = path.join(pad, "a.md");
  writeFileSync(output, "");
  const parts = agentParts(path.join(home, "jobs"), hearing());
  const ask: Ask = { ...workAsk(folder), scratchpad: { folder: pad, file: output } };
  return { home, pad, folder, output, parts, ask };
}

describe("a program with an output file", () => {
  const agent = (shell: string, parts: ReturnType<typeof agentParts>) =>
    new CommandAgent({ ...parts, command: ["sh", "-c", shell] });

  it("is told of it by its brief and by its environment", async () => {
    const { ask, parts, folder, output, pad } = made();
    await agent('cat > brief; echo "$SKEIN_OUTPUT_FILE|$CLAUDE_SCRATCHPAD_DIR" > env', parts).turn(
      ask,
      never,
    );
    const brief = JSON.parse(readFileSync(path.join(folder, "brief"), "utf8"));
    assert.deepEqual(
      [brief.output_file, brief.answer, brief.scratchpad_dir],
      [output, `DONE|${output}`, pad],
    );
    assert.equal(readFileSync(path.join(folder, "env"), "utf8"), `${output}|${pad}\n`);
  });

  it("hears only where the results of others are, if it has none", async () => {
    const { ask, parts, folder, pad } = made();
    const told = { ...ask, scratchpad: { folder: pad } };
    await agent('cat > brief; echo "$SKEIN_OUTPUT_FILE|$CLAUDE_SCRATCHPAD_DIR" > env', parts).turn(
      told,
      never,
    );
    const brief = JSON.parse(readFileSync(path.join(folder, "brief"), "utf8"));
    assert.deepEqual([brief.output_file, brief.answer, brief.scratchpad_dir], [undefined, undefined, pad]);
    assert.equal(readFileSync(path.join(folder, "env"), "utf8"), `|${pad}\n`);
  });

  it("is taken at all of its words: nothing around a DONE is cut away", async () => {
    const { ask, parts, output } = made();
    const said = async (shell: string) => textOf(await agent(shell, parts).turn(ask, never));
    assert.equal(await said('echo; echo "DONE|$SKEIN_OUTPUT_FILE"; echo'), `DONE|${output}`);
    const json = '{"status": "complete"}';
    const chatty = `echo '${json}'; echo "DONE|$SKEIN_OUTPUT_FILE"`;
    assert.equal(await said(chatty), `${json}\nDONE|${output}`);
    assert.equal(await said('echo hm; printf "DONE|x" > "$SKEIN_HANDOFF"'), "DONE|x");
  });

  it("whose engine died is heard if it left a DONE in its file and ended well", async () => {
    for (const [text, code, heard] of [
      ["DONE|/pad/a.md\n", "0\n", "DONE|/pad/a.md\n"],
      ["DONE|/pad/a.md\n", "1\n", undefined],
      ["half of a sent", "0\n", undefined],
    ] as const) {
      const { home, parts } = made();
      const turn = path.join(home, "jobs", "work-t.1-1");
      mkdirSync(turn, { recursive: true });
      writeFileSync(path.join(turn, "handoff.json"), text);
      writeFileSync(`${turn}.status`, code);
      const found = await agent("true", parts).collect(JOB);
      assert.equal(found && textOf(found), heard);
    }
  });
});

describe("a script for a task with an output file", () => {
  const run = async (attempt: WorkAttempt, more: Partial<Ask> = {}) => {
    const { home, ask, parts, output } = made();
    const file = path.join(home, "script.json");
    writeFileSync(file, JSON.stringify({ work: { "t.1": [attempt] } }));
    const said = await scripted(file, parts).turn({ ...ask, ...more }, never);
    return { said, output, written: readFileSync(output, "utf8") };
  };
  const steps = [{ do: "output", text: "# Found\n" }] as const;

  it("writes it, and answers rightly or with any text", async () => {
    const right = await run({ steps: [...steps, { do: "say", text: "hm" }], end: "done" });
    assert.deepEqual([right.written, textOf(right.said)], ["# Found\n", `DONE|${right.output}`]);
    const wrong = await run({ end: { answer: "see $OUTPUT and $OUTPUT" } });
    assert.equal(textOf(wrong.said), `see ${wrong.output} and ${wrong.output}`);
  });

  it("fails at the step where there is none, and is done by a handoff then", async () => {
    const none = { scratchpad: { folder: "/" } };
    assert.match(failureOf((await run({ steps, end: "done" }, none)).said).message, /has no output file/);
    assert.match(textOf((await run({ end: "done" }, none)).said), /"status":"complete"/);
  });
});

it("a function is told of its output file", async () => {
  const { ask, output, pad } = made();
  const seen: (Place["scratchpad"] | undefined)[] = [];
  const work = (_brief: unknown, { scratchpad }: Place) => {
    seen.push(scratchpad);
    return `DONE|${scratchpad?.file}`;
  };
  const said = await new FunctionAgent({ work }).turn(ask, never);
  assert.deepEqual([textOf(said), seen], [`DONE|${output}`, [{ folder: pad, file: output }]]);
});
