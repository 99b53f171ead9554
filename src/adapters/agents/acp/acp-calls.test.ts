/** Tests that a turn of an ACP agent ends with its call for a subtask or answer, however the agent goes on after it. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { JOB, planAsk, workAsk } from "../../../../test/contracts/agent.ts";
import { ACP_COMMAND, scriptedAcp } from "../../../../test/support/acp-agent/agent.ts";
import type { AcpScript, Step } from "../../../../test/support/acp-agent/script.ts";
import { type Heard, hearing } from "../../../../test/support/agent-parts.ts";
import type { JobId } from "../../../core/job.ts";
import type { Ask } from "../../../ports/agent.ts";
import { CallDesk } from "../../call-desk/desk.ts";
import { Listing } from "./session.ts";

const ask: Step = { do: "tool", name: "ask", input: { question: "why?" } };
/** Makes a call as `skein ask` does, from a shell of the agent. */
const BY_COMMAND = `node -e '
  const { SKEIN, SKEIN_CALL_URL, SKEIN_CALL_TOKEN } = process.env;
  const headers = { authorization: "Bearer " + SKEIN_CALL_TOKEN };
  const body = JSON.stringify({ tool: "ask", input: { question: "why?" } });
  if (SKEIN) fetch(SKEIN_CALL_URL + "/call", { method: "POST", headers, body });
'`;
const why = { is: "called", tool: "ask", input: { question: "why?" } };

describe("an agent that is talked with and calls", () => {
  let home: string;
  let folder: string;
  let desk: CallDesk;
  let heard: Heard;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "skein-acp-calls-"));
    folder = path.join(home, "workspace");
    mkdirSync(folder);
    desk = new CallDesk();
    heard = hearing();
  });
  afterEach(async () => {
    await desk.close();
    rmSync(home, { recursive: true });
  });

  const agent = (script: AcpScript, graceMs = 30_000) =>
    scriptedAcp({ connects: "by http", ...script }, path.join(home, "jobs"), heard, {
      calls: { desk, skein: async () => "/skein" },
      graceMs,
    });
  const never = new AbortController().signal;
  const turn = (steps: readonly Step[], more: Partial<AcpScript> = {}, graceMs?: number) =>
    agent({ prompts: [steps], ...more }, graceMs).turn(workAsk(folder), never);

  it("has called, and is not asked for a handoff", async () => {
    const usage = { totalTokens: 7, inputTokens: 5, outputTokens: 2 };
    const said = await turn([ask, { do: "say", text: "no handoff" }], { usage });
    assert.deepEqual({ ...said, spent: said.spent?.tokens }, { ...why, spent: 7 });
    assert.deepEqual(await agent({ prompts: [] }).collect(JOB), said);
  });

  it("has called if it gave a handoff all the same", async () => {
    const text = JSON.stringify({ status: "complete", summary: "and done" });
    assert.deepEqual(await turn([ask, { do: "say", text }]), why);
  });

  it("is cancelled if it does not end its turn, and has called", async () => {
    assert.deepEqual(await turn([ask, { do: "hang" }], {}, 50), why);
    assert.deepEqual(await turn([ask, { do: "hang", isDeaf: true }], {}, 50), why);
  });

  it("has called if it breaks down after it", async () => {
    assert.deepEqual(await turn([ask, { do: "die" }]), why);
    assert.deepEqual(await turn([ask, { do: "fail", code: -32603, message: "boom" }]), why);
  });

  it("has called even if the engine was killed before the turn's end", async () => {
    await turn([ask]);
    rmSync(path.join(home, "jobs", "work-t.1-1.said.json"));
    assert.deepEqual(await agent({ prompts: [] }).collect(JOB), why);
  });

  it("has the tools before it is prompted, and is told of them", async () => {
    await turn([ask]);
    const text = heard.texts.get(JOB) ?? "";
    const [listed, prompted] = [text.indexOf('{"tools":'), text.indexOf('[{"type":"text"')];
    assert.ok(listed >= 0 && listed < prompted, text);
    assert.match(text, /tools of the MCP server/);
  });

  it("is waited for until it has listed the tools; one that does not is not waited for again", async () => {
    const listing = new Listing();
    const { promise: listed, resolve } = Promise.withResolvers<void>();
    const place = { url: "", token: "", skein: "", startedAs: () => {}, close: () => {}, listed };
    let isOver = false;
    const waiting = listing.wait({ place }, never).finally(() => {
      isOver = true;
    });
    await new Promise((next) => setImmediate(next));
    assert.equal(isOver, false);
    resolve();
    assert.equal(await waiting, true);
    const silent = { ...place, listed: new Promise<void>(() => {}) };
    assert.equal(await listing.wait({ place: silent }, AbortSignal.abort()), false);
    assert.equal(await listing.wait({ place: silent }, never), false);
    assert.equal(await listing.wait({ place }, never), true);
  });

  it("can call by the command if it has no use for MCP servers", async () => {
    const agent = scriptedAcp({ prompts: [[{ do: "hang" }]] }, path.join(home, "jobs"), heard, {
      calls: { desk, skein: async () => "/skein" },
      graceMs: 1,
      command: ["sh", "-c", `${BY_COMMAND}; exec "$0" "$@"`, ...ACP_COMMAND],
    });
    assert.deepEqual(await agent.turn(workAsk(folder), never), why);
  });

  it("has no tools as a planner", async () => {
    const said = await agent({ prompts: [[ask]] }).turn(planAsk(folder), never);
    assert.equal(said.is, "said");
    assert.match(said.is === "said" ? said.text : "", /no server/);
  });

  const going = (content: string): Ask => ({
    ...workAsk(folder, {
      attempt: 2,
      goOn: {
        start: "c1",
        session: JOB,
        response: { name: "answer", result: { status: "COMPLETE", content, notes: {} } },
      },
    }),
    job: "work:t.1#2" as JobId,
  });
  const done: Step = { do: "say", text: JSON.stringify({ status: "complete", summary: "done" }) };

  it("goes on in its session, and what it said there is neither heard nor counted again", async () => {
    await turn([ask], { loads: "old words" });
    const script = { prompts: [[done]], loads: "old words" };
    const said = await agent(script).turn(going("because"), never);
    assert.equal(said.is === "said" && said.text, done.do === "say" && done.text);
    const text = heard.texts.get("work:t.1#2") ?? "";
    assert.match(text, /"loads":"s1"[\s\S]*Your question was answered[\s\S]*because/);
    assert.doesNotMatch(text, /old words|You work\./);
  });

  it("begins another session if its own is gone, and is told the end of it", async () => {
    await turn([{ do: "say", text: "x".repeat(100_000) }, { do: "say", text: "last words" }, ask]);
    const said = await agent({ prompts: [[done]] }).turn(going("because"), never);
    assert.equal(said.is, "said");
    const text = heard.texts.get("work:t.1#2") ?? "";
    assert.match(text, /You work\.[\s\S]*last words[\s\S]*You called ask[\s\S]*because/);
    assert.ok(text.length < 70_000, `${text.length} characters`);
  });
});
