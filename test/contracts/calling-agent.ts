/** The contract suite of agents whose workers can call for subtasks and ask questions. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { readHandoff } from "../../src/core/answers/handoff-answer.ts";
import type { JobId } from "../../src/core/job.ts";
import type { ToolResponse } from "../../src/core/subtask.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { JOB, planAsk, textOf, workAsk } from "./agent.ts";

/** The subtask that the agent's first turn calls for. */
export const REQUEST = { type: "check", description: "Check it", inputs: { file: "made.txt" } };

/**
 * Makes an agent whose first turn calls for `REQUEST`, for 7 tokens. Its resumed turn hands off as complete, with the
 * text that the turn was given as its summary. `folder` outlives an engine.
 */
export type MakeCallingAgent = (folder: string) => Agent;

const NEVER = new AbortController().signal;
const SECOND = "work:t.1#2" as JobId;

const RESPONSE: ToolResponse = {
  name: "subtask",
  result: { status: "COMPLETE", content: "it was checked", notes: { task_id: "t.1.1" } },
};

export function callingAgentContract(name: string, make: MakeCallingAgent): void {
  describe(`the agent ${name}, whose worker delegates`, () => {
    let home: string;
    const state = () => path.join(home, "jobs");
    const workspace = () => path.join(home, "workspace");
    beforeEach(() => {
      home = mkdtempSync(path.join(tmpdir(), "skein-calling-"));
      mkdirSync(workspace());
    });
    afterEach(() => rmSync(home, { recursive: true }));

    const goesOn = (response: ToolResponse, more: object = {}) => ({
      ...workAsk(workspace(), { attempt: 2, goOn: { start: "c1", session: JOB, response, ...more } }),
      job: SECOND,
    });

    const summaryOf = (text: string) => {
      const read = readHandoff(text, "t.1");
      assert.equal(read.is, "handoff", text);
      return read.is === "handoff" ? read.handoff.summary : "";
    };

    it("ends its turn with the call, and says what it cost", async () => {
      const said = await make(state()).turn(workAsk(workspace()), NEVER);
      assert.deepEqual(said, { is: "called", tool: "spawn_subtask", input: REQUEST, spent: { tokens: 7 } });
    });

    it("gives the next engine the call", async () => {
      const said = await make(state()).turn(workAsk(workspace()), NEVER);
      assert.deepEqual(await make(state()).collect(JOB), said);
    });

    it("goes on with the response, in the next engine", async () => {
      await make(state()).turn(workAsk(workspace()), NEVER);
      const said = await make(state()).turn(goesOn(RESPONSE), NEVER);
      assert.match(summaryOf(textOf(said)), /it was checked/);
      assert.equal((await make(state()).collect(JOB))?.is, "called", "the first turn is what it was");
    });

    it("goes on also if nothing is left of what was said", async () => {
      const said = await make(state()).turn(goesOn(RESPONSE), NEVER);
      assert.match(summaryOf(textOf(said)), /it was checked/);
    });

    it("hears what its subtask asks", async () => {
      await make(state()).turn(workAsk(workspace()), NEVER);
      const result = { status: "NEEDS_INPUT", content: "Which one?", notes: {} } as const;
      const asked = goesOn({ name: "question", result }, { isAnswering: true });
      assert.match(summaryOf(textOf(await make(state()).turn(asked, NEVER))), /Which one\?/);
    });

    it("takes no call from a planner", async () => {
      const said = await make(state()).turn(planAsk(workspace()), NEVER);
      assert.notEqual(said.is, "called");
    });
  });
}
