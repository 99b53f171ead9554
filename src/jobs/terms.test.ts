/** Tests what a plan's task must answer, where its result is read from, and when its criterion is tried. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { broken, EVIDENCE, jobPorts, type Replies, SPEC } from "../../test/support/job-ports.ts";
import type { WorkBrief } from "../core/brief.ts";
import { failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import type { TaskId, Terms } from "../core/task.ts";
import type { Ask } from "../ports/agent.ts";
import { finishWork, work } from "./work.ts";

const quiet = new AbortController().signal;
const DONE = "DONE|/scratchpad/result.md";

const briefOf = (terms?: Terms, before: WorkBrief["before"] = []): WorkBrief => ({
  kind: "work",
  run: "r",
  task: "t.1" as TaskId,
  spec: { ...SPEC, ...(terms && { terms }) },
  attempt: 1,
  branch: "skein/r/task/t.1.1-write-a",
  base: "onto",
  past: [],
  before,
  steers: [],
});

const says = (text: string): Replies["said"] => ({ is: "said", text });
const handoff = (fields: object) => says(JSON.stringify(fields));

async function worked(terms: Terms, replies: Partial<Replies>) {
  const { parts, calls } = jobPorts(replies);
  const answer = await work(briefOf(terms), parts, quiet);
  return { ...answer, names: calls.map(([name]) => name), calls };
}

async function judged(said: Replies["said"], more: Partial<Replies> = {}) {
  const { outcome } = await worked({ output: "result.md" }, { said, ...more });
  assert.ok(outcome.is === "worked");
  const { handoff: made, evidence } = outcome;
  return { status: made.status, summary: made.summary, concerns: made.concerns, unmet: evidence.unmet };
}

describe("a task with terms whose worker waits for a subtask", () => {
  const terms = { output: "result.md", criterion: "npm test" };
  const goOn = (more: object = {}): NonNullable<WorkBrief["goOn"]> => ({
    ...{ start: "so far", session: "work:t.1#1" as JobId },
    response: {
      name: "question",
      result: { status: "NEEDS_INPUT", content: "which?", notes: { question: "q1" } },
    },
    ...more,
  });

  it("answers it in words alone, also if what it changed meanwhile cannot be kept", async () => {
    for (const keep of [undefined, broken("locked")]) {
      const said = handoff({ status: "complete", summary: "the first" });
      const { parts, calls } = jobPorts({ said, ...(keep && { keep }) });
      const brief = { ...briefOf(terms), goOn: goOn({ isAnswering: true }) };
      const { outcome } = await work(brief, parts, quiet);
      assert.deepEqual(outcome, { is: "answered", question: "q1", text: "the first" });
      const names = calls.map(([name]) => name);
      assert.ok(!names.includes("criterion") && !names.includes("evidence"), names.join());
      assert.equal(parts.unkept.size, 0, "no later attempt takes it for the work");
    }
  });

  it("finds in its output file what it had written there", async () => {
    const { parts, calls } = jobPorts({ said: says(DONE) });
    await work({ ...briefOf(terms), attempt: 2, goOn: goOn() }, parts, quiet);
    assert.equal(calls[0]?.[0], "take", "no empty file is prepared");
    const [, ask] = calls.find(([name]) => name === "turn")!;
    assert.equal((ask as Ask).scratchpad?.file, "/scratchpad/result.md");
  });
});

describe("a task with an output file", () => {
  it("is told where the file is before its turn, and takes its workspace afterwards", async () => {
    const { calls, names } = await worked({ output: "result.md" }, { said: says(DONE) });
    assert.deepEqual(calls[0], ["prepare-output", "result.md"]);
    assert.equal(names[1], "take");
    const [, ask] = calls.find(([name]) => name === "turn")!;
    assert.deepEqual((ask as Ask).scratchpad, { folder: "/scratchpad", file: "/scratchpad/result.md" });
  });

  it("is done with the exact answer, and its result is what the file says, without secrets", async () => {
    const output = { text: "  found a sec\u0007ret\u001b[2J\n" };
    for (const said of [says(` ${DONE}\n`), handoff({ status: "complete", summary: DONE })]) {
      const { status, summary, unmet } = await judged(said, { output });
      assert.deepEqual([status, summary, unmet], ["complete", "found a ***[2J", undefined]);
    }
    const { summary } = await judged(says(DONE), { output: { text: "x".repeat(900_000) } });
    assert.ok(summary.length < 21_000);
  });

  it("keeps the concerns of a handoff, and makes none up for a bare DONE", async () => {
    const said = handoff({ status: "complete", summary: DONE, concerns: ["slow"] });
    assert.deepEqual((await judged(said)).concerns, ["no cache", "slow"]);
    assert.deepEqual((await judged(says(DONE))).concerns, ["no cache"]);
  });

  it("fails with any other answer, which is quoted, and says which answer is expected", async () => {
    for (const [said, quotation] of [
      [says("All done!"), '"All done!"'],
      [says(`I wrote it.\n${DONE}`), `"I wrote it.\\n${DONE}"`],
      [says("DONE|/elsewhere/result.md"), '"DONE|/elsewhere/result.md"'],
      [says("done|/scratchpad/result.md"), '"done|/scratchpad/result.md"'],
      [says(""), "nothing"],
      [handoff({ status: "complete", summary: "wrote a secret" }), '"wrote a ***"'],
      [handoff({ summary: DONE }), String.raw`"{\"summary\":\"DONE|/scratchpad/result.md\"}"`],
    ] as const) {
      const { status, unmet } = await judged(said);
      assert.equal(unmet?.message, `answered ${quotation} instead of ${DONE}`);
      assert.equal(unmet.kind, "unmet");
      assert.match(unmet.next ?? "", /answer exactly DONE\|/);
      assert.equal(status, "complete", "or nobody would hear of it");
    }
  });

  it("fails if the file is not as it should be, whatever was answered", async () => {
    const { unmet } = await judged(says(DONE), { output: { problem: "/scratchpad/result.md is empty" } });
    assert.equal(unmet?.message, "answered DONE, but /scratchpad/result.md is empty");
  });

  it("may say that it is not complete", async () => {
    const { status, summary, unmet } = await judged(handoff({ status: "blocked", summary: "no network" }));
    assert.deepEqual([status, summary, unmet], ["blocked", "no network", undefined]);
  });

  it("does not begin where the file cannot be made", async () => {
    const { parts, calls } = jobPorts();
    const outbox = { ...parts.outbox, prepare: async () => broken("no room") };
    const { outcome } = await work(briefOf({ output: "result.md" }), { ...parts, outbox }, quiet);
    assert.deepEqual(outcome, { is: "failed", failure: broken("no room").failure });
    assert.equal(calls.length, 0);
  });
});

describe("a task without one", () => {
  const told = async (before: WorkBrief["before"]) => {
    const { parts, calls } = jobPorts();
    await work(briefOf({}, before), parts, quiet);
    return (calls.find(([name]) => name === "turn")![1] as Ask).scratchpad;
  };

  it("hears of the scratchpad only if results of others are there, and prepares nothing", async () => {
    const before = { key: "b", summary: "", files: [] };
    assert.equal(await told([before]), undefined);
    assert.deepEqual(await told([before, { ...before, output: "b.md" }]), { folder: "/scratchpad" });
  });
});

describe("a criterion", () => {
  const terms = { criterion: "npm test" };
  const red = { is: "red", detail: "1 failed, secret" } as const;

  it("is tried on what is kept already, and before the workspace is given back", async () => {
    const { names, calls, outcome } = await worked(terms, {});
    assert.deepEqual(names.slice(3), [
      ...["checkout", "keep", "evidence", "changes", "criterion", "remember", "release"],
    ]);
    assert.equal(calls.find(([name]) => name === "criterion")![1], "npm test");
    assert.ok(outcome.is === "worked" && outcome.evidence.unmet === undefined);
  });

  it("that is red is what the task failed by, with what the command wrote", async () => {
    const { outcome } = await worked(terms, { criterion: red });
    assert.ok(outcome.is === "worked");
    const { kind, message, detail } = outcome.evidence.unmet!;
    assert.deepEqual(
      [kind, message, detail],
      ["unmet", 'its success criterion does not pass: "npm test"', "1 failed, ***"],
    );
  });

  it("is not tried for what is refused in any case", async () => {
    const both = { output: "result.md", criterion: "npm test" };
    for (const said of [says("hm"), handoff({ status: "partial", summary: "half" })]) {
      assert.ok(!(await worked(both, { said })).names.includes("criterion"));
    }
    const failedTurn = { is: "failed", failure: failure("agent-failed", "no") } as const;
    assert.ok(!(await worked(terms, { said: failedTurn })).names.includes("criterion"));
  });

  it("of a worker that changed nothing is tried once more, in a place with the tree from before the task", async () => {
    const { commit: _, ...rest } = EVIDENCE;
    const evidence = { ...rest, filesChanged: [] };
    const { outcome, calls } = await worked(terms, { evidence });
    assert.ok(outcome.is === "worked" && outcome.evidence.isMetBefore);
    const takes = calls.filter(([name]) => name === "take").map(([, want]) => want);
    assert.deepEqual(takes[1], { job: "work:t.1#1.before", commit: "onto", use: "probe" });
    assert.equal(calls.filter(([name]) => name === "release").length, 2);
    const report = await work(
      { ...briefOf(terms), spec: { ...SPEC, terms, delivers: "report" } },
      jobPorts({ evidence }).parts,
      quiet,
    );
    assert.ok(report.outcome.is === "worked" && report.outcome.evidence.isMetBefore === undefined);
  });

  it("that passes only in the folder of a worker that changed nothing shows nothing", async () => {
    const { commit: _, ...rest } = EVIDENCE;
    const { parts } = jobPorts({ evidence: { ...rest, filesChanged: [] } });
    const ends = [{ is: "passed" } as const, { is: "red", detail: "no" } as const];
    const criteria = { try: async () => ends.shift()! };
    const { outcome } = await work(briefOf(terms), { ...parts, criteria }, quiet);
    assert.ok(outcome.is === "worked" && outcome.evidence.isMetBefore === undefined);
    assert.deepEqual(ends, []);
  });

  it("that the machine could not run is nobody's fault: the attempt is lost, its work is there for the next", async () => {
    const { outcome, names } = await worked(terms, { criterion: broken("no room") });
    assert.deepEqual(outcome, { is: "failed", failure: broken("no room").failure });
    assert.ok(!names.includes("remember") && !names.includes("release"));
  });

  it("that was stopped leaves the workspace to who goes on with the run", async () => {
    const { parts, calls } = jobPorts();
    const stop = new AbortController();
    const stopped = async () => {
      stop.abort();
      return { failure: failure("interrupted", "stopped") };
    };
    const { outcome } = await work(briefOf(terms), { ...parts, criteria: { try: stopped } }, stop.signal);
    assert.ok(outcome.is === "failed" && outcome.failure.kind === "interrupted");
    assert.ok(!calls.some(([name]) => name === "release" || name === "remember"));
  });
});

describe("the terms of an attempt whose engine died", () => {
  const workspace = { job: "work:t.1#1", folder: "/w/1", commit: "onto", environment: {}, notices: [] };

  it("are the same", async () => {
    const finished = async (terms: Terms, replies: Partial<Replies>) => {
      const { parts, calls } = jobPorts(replies);
      const held = { ...workspace, job: workspace.job as Ask["job"] };
      const answer = await finishWork(briefOf(terms), { workspace: held, wasRunning: false }, parts, quiet);
      assert.ok(answer && "outcome" in answer && answer.outcome.is === "worked");
      assert.ok(!calls.some(([name]) => name === "prepare-output"), "what was written stays");
      return answer.outcome;
    };
    const good = await finished({ output: "result.md", criterion: "true" }, { said: says(DONE) });
    assert.deepEqual([good.handoff.summary, good.evidence.unmet], ["all of it", undefined]);
    const wrong = await finished({ output: "result.md" }, { said: says("hm") });
    assert.equal(wrong.evidence.unmet?.kind, "unmet");
    const criterion = { is: "red", detail: "no" } as const;
    assert.equal((await finished({ criterion: "false" }, { criterion })).evidence.unmet?.detail, "no");
  });
});
