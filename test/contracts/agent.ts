/** The contract suite of agents, which each adapter passes. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { readHandoff } from "../../src/core/answers/handoff-answer.ts";
import { readPlanAnswer } from "../../src/core/answers/plan-answer.ts";
import type { PlanBrief, WorkBrief } from "../../src/core/brief.ts";
import { isLoss } from "../../src/core/failure.ts";
import type { JobId } from "../../src/core/job.ts";
import type { TaskId } from "../../src/core/task.ts";
import type { Agent, Ask, Called, Said } from "../../src/ports/agent.ts";

/**
 * What the agent under test is made to do: `works` writes made.txt and reports complete for 7 tokens; `plans` answers
 * with one task "a"; `fails` and `dies` do so in the middle of the turn; `hangs` reports when its turn has begun.
 */
export type Behaviour = "works" | "plans" | "silent" | "fails" | "outage" | "dies" | "hangs";

export type AgentUnderTest = {
  readonly agent: Agent;
  /** Resolves once a turn has begun. */
  readonly begun: Promise<void>;
};

/** `folder` outlives an engine: an agent that is made again with the same folder is the next engine's agent. */
export type MakeAgent = (behaviour: Behaviour, folder: string) => AgentUnderTest;

export function agentContract(name: string, make: MakeAgent): void {
  describe(`the agent ${name}`, () => {
    let home: string;
    const state = () => path.join(home, "jobs");
    const workspace = () => path.join(home, "a workspace, with ünicode");
    beforeEach(() => {
      home = mkdtempSync(path.join(tmpdir(), "skein-agent-"));
      mkdirSync(workspace());
    });
    afterEach(() => rmSync(home, { recursive: true }));

    const turn = (behaviour: Behaviour, ask: Partial<Ask> = {}, signal = new AbortController().signal) =>
      make(behaviour, state()).agent.turn({ ...workAsk(workspace()), ...ask }, signal);

    it("does its work in its folder, says so, and says what it cost", async () => {
      const said = await turn("works");
      assert.equal(said.is, "said", JSON.stringify(said));
      assert.deepEqual(said.spent, { tokens: 7 });
      assert.deepEqual(readdirSync(workspace()), ["made.txt"]);
      const read = readHandoff(textOf(said), "t.1");
      assert.equal(read.is === "handoff" && read.handoff.status, "complete");
    });

    it("answers as a planner", async () => {
      const said = await turn("plans", planAsk(workspace()));
      const read = readPlanAnswer(textOf(said));
      assert.deepEqual(read.is === "answer" && read.answer.tasks.map((task) => task.id), ["a"]);
    });

    it("says nothing if it ended well without a word", async () => {
      assert.deepEqual(await turn("silent"), { is: "said", text: "" });
    });

    it("returns a failure that it is to blame for", async () => {
      const { kind, message } = failureOf(await turn("fails"));
      assert.equal(kind, "agent-failed");
      assert.notEqual(message, "");
    });

    it("tells an outage from a failure", async () => {
      assert.equal(failureOf(await turn("outage")).kind, "agent-unreachable");
    });

    it("is lost, not to blame, when it dies", async () => {
      assert.equal(failureOf(await turn("dies")).kind, "interrupted");
    });

    it("ends when its time is up", async () => {
      assert.equal(failureOf(await turn("hangs", { maxMs: 300 })).kind, "timed-out");
    });

    it("ends when it is told to, which is nobody's fault", async () => {
      const { agent, begun } = make("hangs", state());
      const stop = new AbortController();
      const ended = agent.turn(workAsk(workspace()), stop.signal);
      await begun;
      stop.abort();
      assert.ok(isLoss(failureOf(await ended)));
    });

    it("does not begin when it was stopped before", async () => {
      assert.ok(isLoss(failureOf(await turn("works", {}, AbortSignal.abort()))));
      assert.equal(existsSync(path.join(workspace(), "made.txt")), false);
    });

    it("fails in words when its folder is gone", async () => {
      const { message } = failureOf(await turn("works", { folder: path.join(home, "gone") }));
      assert.notEqual(message, "");
    });

    it("gives the next engine what it had finished saying, and of each job its own", async () => {
      const said = await turn("works");
      const { agent } = make("works", state());
      assert.deepEqual(await agent.collect(JOB), said);
      assert.equal(await agent.collect("work:t.1#2" as JobId), undefined);
      assert.equal(await agent.collect("plan:t.1#1" as JobId), undefined);
    });

    it("gives the next engine also what a planner printed, and a failure as a failure", async () => {
      const ask = planAsk(workspace());
      const planned = await turn("plans", ask);
      assert.deepEqual(await make("plans", state()).agent.collect(ask.job), planned);
      const failed = await turn("fails");
      assert.deepEqual(await make("fails", state()).agent.collect(JOB), failed);
    });

    it("gives the next engine nothing of what died", async () => {
      await turn("dies");
      assert.equal(await make("dies", state()).agent.collect(JOB), undefined);
    });

    it("does not say again what an earlier try of the same job said", async () => {
      await turn("works");
      assert.deepEqual(await turn("silent"), { is: "said", text: "" });
      assert.deepEqual(await make("silent", state()).agent.collect(JOB), { is: "said", text: "" });
    });
  });
}

export const JOB = "work:t.1#1" as JobId;

const spec: WorkBrief["spec"] = {
  key: "a",
  description: "Make a",
  acceptance: "it is there",
  scope: ["made.txt"],
  after: [],
  priority: 5,
  delivers: "change",
  shape: "work",
  slug: "make-a",
};

export const workBrief: WorkBrief = {
  kind: "work",
  run: "r1",
  task: "t.1" as TaskId,
  spec,
  attempt: 1,
  branch: "skein/r1/task/t.1.1-make-a",
  base: "c0",
  past: [],
  before: [],
  steers: [],
};

export const planBrief: PlanBrief = {
  kind: "plan",
  run: "r1",
  goal: "make a",
  task: "t" as TaskId,
  spec: { ...spec, key: "t", shape: "plan" },
  depth: 0,
  turn: 1,
  tip: "c0",
  transcript: "plan-t",
  scratchpad: "",
  first: true,
  maxTasks: 10,
  rejected: [],
  notes: [],
  news: [],
  active: [],
  concerns: [],
  steers: [],
};

/** Long enough for a slow machine, short enough for a test that hangs. */
const MAX_MS = 30_000;
const environment = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

export const workAsk = (folder: string, brief: Partial<WorkBrief> = {}): Ask => ({
  job: JOB,
  brief: { ...workBrief, ...brief },
  folder,
  environment,
  maxMs: MAX_MS,
});

export const planAsk = (folder: string, brief: Partial<PlanBrief> = {}): Ask => ({
  job: "plan:t#1" as JobId,
  brief: { ...planBrief, ...brief },
  folder,
  environment,
  maxMs: MAX_MS,
});

export function textOf(said: Said | Called): string {
  assert.equal(said.is, "said", JSON.stringify(said));
  return said.is === "said" ? said.text : "";
}

export function failureOf(said: Said | Called) {
  assert.equal(said.is, "failed", JSON.stringify(said));
  return (said as Said & { readonly is: "failed" }).failure;
}
