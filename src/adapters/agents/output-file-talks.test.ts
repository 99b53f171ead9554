/** Tests that models and ACP agents can write their output file, and answer with a DONE that names it. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { textOf, workAsk } from "../../../test/contracts/agent.ts";
import { scriptedAcp } from "../../../test/support/acp-agent/agent.ts";
import type { Step } from "../../../test/support/acp-agent/script.ts";
import { hearing } from "../../../test/support/agent-parts.ts";
import { newFolder } from "../../../test/support/folders.ts";
import type { Reply } from "../../../test/support/model-server/model-server.ts";
import { modelTurns } from "../../../test/support/model-turns.ts";
import { withBuiltIn } from "../../delegation/specialist-table.ts";
import type { Ask } from "../../ports/agent.ts";

const never = new AbortController().signal;

/** Makes a scratchpad with an empty `mine.md`, and `theirs.md`. */
function padFor(folder: string) {
  const pad = path.join(newFolder(), "pad");
  mkdirSync(pad);
  const [mine, theirs] = [path.join(pad, "mine.md"), path.join(pad, "theirs.md")];
  writeFileSync(mine, "");
  writeFileSync(theirs, "what they found\n");
  const ask: Ask = { ...workAsk(folder), scratchpad: { folder: pad, file: mine } };
  return { pad, mine, theirs, ask };
}

/** A specialist whose tools only read. */
const READER = withBuiltIn([]).find(({ isReadOnly }) => isReadOnly)!;

it("a model writes its file, also in a role that only reads, and hands off a DONE", async () => {
  const paths = { mine: "", theirs: "" };
  const replies = (): readonly Reply[] => [
    { tools: [{ name: "read", input: { path: paths.theirs } }] },
    { tools: [{ name: "write", input: { path: paths.theirs, content: "no" } }] },
    { tools: [{ name: "write", input: { path: "a.txt", content: "no" } }] },
    { tools: [{ name: "write", input: { path: paths.mine, content: "# Found\n" } }] },
    { tools: [{ name: "handoff", input: { status: "complete", summary: `DONE|${paths.mine}` } }] },
  ];
  let n = 0;
  await using turns = await modelTurns(() => replies()[n++]!);
  const { ask, mine, theirs } = padFor(turns.folder);
  Object.assign(paths, { mine, theirs });
  const said = await turns.agent.turn({ ...ask, role: READER }, never);
  assert.equal(JSON.parse(textOf(said)).summary, `DONE|${mine}`);
  assert.deepEqual([readFileSync(mine, "utf8"), readdirSync(turns.folder)], ["# Found\n", []]);
  const last = turns.server.calls.map(({ messages }) => messages.at(-1)!);
  const heard = last.map(({ text, toolResults }) => [text, ...toolResults.map((one) => one.text)].join(""));
  assert.match(heard[0]!, /`summary` is exactly DONE\|/);
  assert.match(heard[1]!, /what they found/);
  for (const answer of heard.slice(2, 4)) assert.match(answer, /is not yours/);
});

it("a model that says DONE in words is not asked again", async () => {
  const paths = { mine: "" };
  let n = 0;
  const replies = (): readonly Reply[] => [
    { tools: [{ name: "write", input: { path: paths.mine, content: "# Found\n" } }] },
    { text: `DONE|${paths.mine}\n` },
  ];
  await using turns = await modelTurns(() => replies()[n++]!);
  const { ask, mine } = padFor(turns.folder);
  paths.mine = mine;
  assert.equal(textOf(await turns.agent.turn(ask, never)).trim(), `DONE|${mine}`);
  assert.equal(turns.server.calls.length, 2);
});

describe("an agent that is talked with", () => {
  const follow = async (
    prompts: (at: ReturnType<typeof padFor>) => readonly (readonly Step[])[],
    more = {},
  ) => {
    const folder = newFolder();
    const heard = hearing();
    const at = padFor(folder);
    const agent = scriptedAcp({ prompts: prompts(at) }, path.join(newFolder(), "turns"), heard);
    const said = await agent.turn({ ...at.ask, ...more }, never);
    return { said: textOf(said), heard: [...heard.texts.values()].join(""), ...at };
  };

  it("writes its file through us, also in a role that only reads, and nothing beside it", async () => {
    const write = (file: string): Step => ({ do: "write", path: file, text: "# Found\n", by: "client" });
    const edit = (file: string): Step => ({
      do: "ask",
      call: { kind: "edit", locations: [{ path: file }] },
    });
    const { said, heard, mine, theirs } = await follow(
      (at) => [
        [write(at.mine), write(at.theirs), write("a.txt"), edit(at.mine), edit(at.theirs)],
        [{ do: "say", text: `DONE|${at.mine}` }],
      ],
      { role: READER },
    );
    assert.equal(said, `DONE|${mine}`);
    assert.equal(readFileSync(mine, "utf8"), "# Found\n");
    assert.equal(readFileSync(theirs, "utf8"), "what they found\n");
    assert.equal(heard.match(/is not yours/g)?.length, 2);
    assert.match(heard, /\(allowed: edit\)(?:.|\n)*\(refused: edit\)/);
  });

  it("is asked once more for a DONE that names its file, and not if it is there or it is not complete", async () => {
    const say = (text: string): Step => ({ do: "say", text });
    const unheard: readonly Step[] = [{ do: "exit", code: 1 }];
    const handoff = (fields: object) => say(JSON.stringify(fields));
    const again = await follow((at) => [
      [handoff({ status: "complete", summary: "all done" })],
      [handoff({ status: "complete", summary: `DONE|${at.mine}` })],
    ]);
    assert.equal(JSON.parse(again.said).summary, `DONE|${again.mine}`);
    assert.ok(
      again.heard.includes(`"summary\\" must be exactly DONE|${again.mine}`),
      again.heard.slice(-2_000),
    );
    const bare = await follow((at) => [[say(`DONE|${at.mine}\n`)], unheard]);
    assert.equal(bare.said, `DONE|${bare.mine}`);
    const update = { sessionUpdate: "tool_call", toolCallId: "1", title: "look", kind: "read" };
    const afterSteps = await follow((at) => [
      [say("I look first"), { do: "update", update }, say(`DONE|${at.mine}`)],
      unheard,
    ]);
    assert.equal(afterSteps.said, `DONE|${afterSteps.mine}`);
    const chatty = await follow((at) => [[say(`It is done.\nDONE|${at.mine}`)], [say(`DONE|${at.mine}`)]]);
    assert.equal(chatty.said, `DONE|${chatty.mine}`);
    assert.ok(chatty.heard.includes(`and it is not exactly DONE|${chatty.mine}`), chatty.heard.slice(-2_000));
    const blocked = await follow(() => [[handoff({ status: "blocked", summary: "no" })], unheard]);
    assert.match(blocked.said, /blocked/);
  });
});
