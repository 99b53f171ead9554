/** Tests that a program's turn ends with its call, whatever the program does then, and goes on with the response. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { JOB, planAsk, textOf, workAsk } from "../../../test/contracts/agent.ts";
import { agentParts, type Heard, hearing } from "../../../test/support/agent-parts.ts";
import type { WorkBrief } from "../../core/brief.ts";
import type { JobId } from "../../core/job.ts";
import type { Ask } from "../../ports/agent.ts";
import { CallDesk } from "../call-desk/desk.ts";
import { CommandAgent } from "./command.ts";

/** Sends a question to the call server, as `skein ask` does. */
const ASK = `node -e '
  const { SKEIN_CALL_URL, SKEIN_CALL_TOKEN } = process.env;
  const headers = { authorization: "Bearer " + SKEIN_CALL_TOKEN };
  const body = JSON.stringify({ tool: "ask", input: { question: process.argv[1] } });
  fetch(SKEIN_CALL_URL + "/call", { method: "POST", headers, body }).then((said) => console.log(said.status));
'`;

describe("a program that calls", () => {
  let home: string;
  let folder: string;
  let desk: CallDesk;
  let heard: Heard;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "skein-calls-"));
    folder = path.join(home, "workspace");
    mkdirSync(folder);
    desk = new CallDesk();
    heard = hearing();
  });
  afterEach(async () => {
    await desk.close();
    rmSync(home, { recursive: true });
  });

  const agent = (shell: string, graceMs = 10_000) =>
    new CommandAgent({
      ...agentParts(path.join(home, "jobs"), heard),
      command: ["sh", "-c", shell],
      calls: { desk, skein: async () => "/skein" },
      graceMs,
    });
  const never = new AbortController().signal;
  const turn = (shell: string, ask: Ask = workAsk(folder), graceMs?: number) =>
    agent(shell, graceMs).turn(ask, never);
  const why = { is: "called", tool: "ask", input: { question: "why?" } };

  it("has called, whatever its exit code, and the next engine hears it", async () => {
    assert.deepEqual(await turn(`${ASK} "why?"; exit 7`), why);
    assert.deepEqual(await agent("").collect(JOB), why);
  });

  it("is heard with what it cost", async () => {
    const said = await turn(`${ASK} "why?"; echo '{"status":"complete","spent":{"tokens":5}}'`);
    assert.deepEqual(said, { ...why, spent: { tokens: 5 } });
  });

  it("is ended if it does not end by itself, with all that it started", async () => {
    assert.deepEqual(await turn(`${ASK} "why?"; sleep 600 & sleep 600`, workAsk(folder), 50), why);
  });

  it("has called even if the engine was killed before the turn's end", async () => {
    const files = path.join(home, "jobs", "work-t.1-1");
    await turn(`${ASK} "why?"`);
    rmSync(`${files}.said.json`);
    assert.deepEqual(await agent("").collect(JOB), why);
  });

  it("has not called in a try of the same job that did not", async () => {
    await turn(`${ASK} "why?"`);
    assert.equal(textOf(await turn("true")), "");
    assert.deepEqual(await agent("").collect(JOB), { is: "said", text: "" });
  });

  it("cannot call any more once its turn is over", async () => {
    await turn('echo "$SKEIN_CALL_URL $SKEIN_CALL_TOKEN" > place');
    const [url = "", token = ""] = readFileSync(path.join(folder, "place"), "utf8").trim().split(" ");
    const headers = { authorization: `Bearer ${token}` };
    const body = JSON.stringify({ tool: "ask", input: { question: "late?" } });
    assert.equal((await fetch(`${url}/call`, { method: "POST", headers, body })).status, 401);
  });

  it("cannot call as a planner, nor where there is no desk", async () => {
    const said = await turn('echo "[$SKEIN_CALL_URL$SKEIN]" > place', planAsk(folder));
    assert.equal(said.is, "said");
    assert.equal(readFileSync(path.join(folder, "place"), "utf8"), "[]\n");
    assert.equal(existsSync(path.join(home, "jobs", "plan-t-1.called.json")), false);
  });

  it("goes on with the response, and with all that went before it", async () => {
    const response = (content: string): NonNullable<WorkBrief["goOn"]>["response"] => ({
      name: "answer",
      result: { status: "COMPLETE", content, notes: {} },
    });
    const going = (attempt: number, content: string): Ask => ({
      ...workAsk(folder, {
        attempt,
        goOn: { start: "c1", session: `work:t.1#${attempt - 1}` as JobId, response: response(content) },
      }),
      job: `work:t.1#${attempt}` as JobId,
    });
    await turn(`${ASK} "why?"`);
    await turn(`${ASK} "and how?"`, going(2, "because"));
    const last = await turn('cat "$SKEIN_RESPONSE"; echo "$SKEIN_RESULT_STATUS"; cat > told', going(3, "so"));
    assert.equal(last.is, "said");
    assert.match(heard.texts.get("work:t.1#3") ?? "", /"content":"so".*\nCOMPLETE\n/);
    const told = JSON.parse(readFileSync(path.join(folder, "told"), "utf8"));
    assert.deepEqual(told.conversation, [
      { is: "call", attempt: 1, tool: "ask", input: { question: "why?" } },
      { is: "response", ...response("because") },
      { is: "call", attempt: 2, tool: "ask", input: { question: "and how?" } },
      { is: "response", ...response("so") },
    ]);
  });

  it("gets what a subtask is given to read, and its parent's conversation if it inherits that", async () => {
    await turn(`${ASK} "why?"`);
    const job = "work:t.1.1#1" as JobId;
    await turn("cat > told", { ...workAsk(folder), job, context: { text: "read this", inherits: JOB } });
    const { context } = JSON.parse(readFileSync(path.join(folder, "told"), "utf8"));
    assert.equal(context.text, "read this");
    assert.deepEqual(context.inherited, [
      { is: "call", attempt: 1, tool: "ask", input: { question: "why?" } },
    ]);
  });
});
