/** Tests a work job: keeping and judging its branch, and giving back its workspace. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { broken, EVIDENCE, jobPorts, type Replies, SPEC } from "../../test/support/job-ports.ts";
import type { WorkBrief } from "../core/brief.ts";
import { failure } from "../core/failure.ts";
import type { TaskId, TaskSpec } from "../core/task.ts";
import { isCut } from "./run-job.ts";
import { finishWork, recallUnkept, work } from "./work.ts";

const quiet = new AbortController().signal;

const BRIEF: WorkBrief = {
  kind: "work",
  run: "r",
  task: "t.1" as TaskId,
  spec: SPEC,
  attempt: 2,
  branch: "skein/r/task/t.1.2-write-a",
  base: "onto",
  past: [],
  before: [],
  steers: [],
};

async function worked(replies: Partial<Replies> = {}) {
  const { parts, calls } = jobPorts(replies);
  const answer = await work(BRIEF, parts, quiet);
  return { ...answer, calls, names: calls.map(([name]) => name) };
}

const FAILED = {
  is: "failed",
  failure: failure("agent-failed", "it said secret"),
  spent: { tokens: 9 },
} as const;

describe("an attempt", () => {
  it("keeps its branch before it is judged, and gives its workspace back last", async () => {
    const { outcome, calls, names } = await worked();
    assert.deepEqual(names, [
      "take",
      "checkout",
      "turn",
      "checkout",
      "keep",
      "evidence",
      "changes",
      "remember",
      "release",
    ]);
    assert.deepEqual(calls[0], [
      "take",
      { job: "work:t.1#2", commit: "onto", use: "agent", paths: SPEC.scope },
    ]);
    const [, , kept] = calls[4]!;
    assert.equal((kept as { readonly ref: string }).ref, `refs/heads/${BRIEF.branch}`);
    assert.deepEqual(calls[5], ["evidence", "onto", "kept"]);
    assert.deepEqual(calls[6], ["changes", "onto", "kept"]);
    assert.ok(outcome.is === "worked");
    assert.deepEqual(outcome.evidence, { ...EVIDENCE, diff: "+ ***" });
  });

  it("says which files it needs where these are known: its scope and what it reads", async () => {
    const pathsFor = async (spec: Partial<TaskSpec>) => {
      const { parts, calls } = jobPorts({});
      await work({ ...BRIEF, spec: { ...SPEC, ...spec } }, parts, quiet);
      return (calls[0]![1] as { readonly paths?: readonly string[] }).paths;
    };
    assert.deepEqual(await pathsFor({ scope: ["a/"], terms: { reads: ["b.md"] } }), ["a/", "b.md"]);
    assert.equal(await pathsFor({ terms: { criterion: "npm test" } }), undefined);
    assert.equal(await pathsFor({ terms: { loose: true } }), undefined);
    assert.equal(await pathsFor({ delivers: "report" }), undefined);
  });

  it("says first what the worker does not say: what was missing, what is not kept, strays", async () => {
    const { outcome } = await worked({
      keep: { commit: "kept", left: ["big.bin: too large"] },
      looks: [new Map([["index", "1"]]), new Map([["index", "2"]])],
    });
    assert.ok(outcome.is === "worked");
    assert.deepEqual(outcome.handoff.concerns, [
      "no cache",
      "not kept: big.bin: too large",
      "the user's checkout changed while this task was running: index",
      "mine",
    ]);
  });

  it("shows what it changes of the gate; where that cannot be seen, nothing of it is believed", async () => {
    const changes = [{ of: "gate", file: "package.json", what: "package.json: the script test" }] as const;
    const { outcome } = await worked({ changes });
    assert.deepEqual(outcome.is === "worked" && outcome.evidence.gateChanges, changes);
    const unseen = await worked({ changes: broken("no tree") });
    assert.deepEqual(unseen.outcome, { is: "failed", ...broken("no tree") });
  });

  it("says nothing of a checkout that could not be looked at", async () => {
    for (const looks of [
      [broken("no index"), new Map()],
      [new Map([["index", "1"]]), broken("no index")],
    ]) {
      const { outcome } = await worked({ looks });
      assert.ok(outcome.is === "worked");
      assert.deepEqual(outcome.handoff.concerns, ["no cache", "mine"]);
    }
  });

  it("that changed nothing is judged as what it started from", async () => {
    const { commit: _none, ...nothing } = EVIDENCE;
    const { outcome, calls } = await worked({ keep: { commit: undefined, left: [] }, evidence: nothing });
    assert.ok(outcome.is === "worked" && outcome.evidence.commit === undefined);
    assert.deepEqual(
      calls.find(([name]) => name === "evidence"),
      ["evidence", "onto", "onto"],
    );
    assert.ok(!calls.some(([name]) => name === "changes"));
  });

  it("that could not be kept is not judged, and its workspace is not given back", async () => {
    const { outcome, names } = await worked({ keep: broken("the disk is full") });
    assert.ok(outcome.is === "failed");
    assert.equal(outcome.failure.message, "the disk is full; its work is still in /w/1");
    assert.deepEqual(names.slice(-1), ["keep"]);
  });

  it("that destroyed its own folder gives the rest back: nothing is left there", async () => {
    const keep = { failure: failure("agent-failed", "it removed its repository") };
    const { outcome, names } = await worked({ keep });
    assert.deepEqual(outcome, { is: "failed", ...keep });
    assert.deepEqual(names.slice(-2), ["keep", "release"]);
  });

  it("that failed is kept aside, not as a branch; its cost, its strays and where it is are told", async () => {
    const looks = [new Map([["HEAD", "1"]]), new Map([["HEAD", "2"]])];
    const { outcome, spent, calls, names } = await worked({ said: FAILED, looks });
    assert.deepEqual(names.slice(-2), ["keep", "release"]);
    const [, , kept] = calls.at(-2)!;
    assert.equal((kept as { readonly ref: string }).ref, "refs/skein/salvage/r/t.1.2");
    assert.ok(outcome.is === "failed");
    assert.equal(
      outcome.failure.message,
      "it said ***; its work is kept (skein salvage); " +
        "the user's checkout changed while this task was running: HEAD",
    );
    assert.deepEqual(spent, { tokens: 9 });
  });

  it("that met an account's trouble, or the end of a budget, says whose, and until when", async () => {
    for (const about of [{ account: "other", until: 99 }, { budget: "run" }] as const) {
      const why = { ...failure("quota", "no more"), ...about };
      const { outcome } = await worked({ said: { is: "failed", failure: why } });
      const message = "no more; its work is kept (skein salvage)";
      assert.deepEqual(outcome, { is: "failed", failure: { ...why, message } });
    }
  });

  it("passes on the failures of its ports", async () => {
    const none = await worked({ take: broken("no room") });
    assert.deepEqual(none.outcome, { is: "failed", ...broken("no room") });
    assert.deepEqual(none.names, ["take"]);
    const unseen = await worked({ evidence: broken("no such commit") });
    assert.deepEqual(unseen.outcome, { is: "failed", ...broken("no such commit") });
    assert.equal(unseen.names.at(-1), "evidence", "its workspace is there for the next attempt");
    const wrong = { failure: failure("rule-broken", "too large") };
    assert.equal((await worked({ evidence: wrong })).names.at(-1), "release", "it is kept as a branch");
  });
});

describe("an attempt after one whose turn ended well and could not be kept", () => {
  const NEXT: WorkBrief = { ...BRIEF, attempt: 3, branch: "skein/r/task/t.1.3-write-a", base: "newer" };
  const PAID = {
    is: "said",
    text: '{"status": "complete", "summary": "wrote it"}',
    spent: { tokens: 9 },
  } as const;

  /** `keep` gives each of these results in turn; after that it works. */
  function portsThatFail(...keeps: readonly Replies["keep"][]) {
    const { parts, calls } = jobPorts({ said: PAID });
    const left = [...keeps];
    const keep: typeof parts.workspaces.keep = async (workspace, as, signal) =>
      left.length > 0 ? left.shift()! : parts.workspaces.keep(workspace, as, signal);
    return { parts: { ...parts, workspaces: { ...parts.workspaces, keep } }, calls };
  }

  it("keeps that work under its own name, with one turn, paid once, and the base that it was made on", async () => {
    const { parts, calls } = portsThatFail(broken("locked"), broken("locked"));
    const first = await work(BRIEF, parts, quiet);
    assert.ok(first.outcome.is === "failed");
    assert.deepEqual(first.spent, { tokens: 9 });
    assert.equal((await work(NEXT, parts, quiet)).outcome.is, "failed");
    const third = await work({ ...NEXT, attempt: 4, branch: "skein/r/task/t.1.4-write-a" }, parts, quiet);
    assert.ok(third.outcome.is === "worked");
    assert.equal(third.spent, undefined);
    const count = (name: string) => calls.filter(([call]) => call === name).length;
    assert.deepEqual([count("take"), count("turn"), count("release")], [1, 1, 1]);
    const kept = calls.find(([name]) => name === "keep") as readonly [
      string,
      unknown,
      { readonly ref: string },
    ];
    assert.equal(kept[2].ref, "refs/heads/skein/r/task/t.1.4-write-a");
    assert.deepEqual(
      calls.find(([name]) => name === "evidence"),
      ["evidence", "onto", "kept"],
    );
    await work({ ...NEXT, attempt: 5 }, parts, quiet);
    assert.equal(count("turn"), 2, "what was judged is not used again");
  });

  it("goes on in the conversation of the attempt that made a call", async () => {
    const ask = { is: "called", tool: "ask", input: { question: "which?" } } as const;
    const { parts, calls } = portsThatFail(broken("locked"), broken("locked"));
    const worker = { turn: async () => ask, collect: parts.worker.collect };
    for (const brief of [BRIEF, NEXT])
      assert.equal((await work(brief, { ...parts, worker }, quiet)).outcome.is, "failed");
    const { outcome } = await work({ ...NEXT, attempt: 4 }, { ...parts, worker }, quiet);
    assert.ok(outcome.is === "called");
    assert.deepEqual([outcome.session, outcome.start], ["work:t.1#2", "kept"]);
    assert.equal(calls.filter(([name]) => name === "take").length, 1);
  });

  it("makes a turn of its own after one that failed, was stopped, or lost its folder", async () => {
    const failedTurn = jobPorts({ said: FAILED, keep: broken("locked") });
    await work(BRIEF, failedTurn.parts, quiet);
    const gone = portsThatFail({ failure: failure("agent-failed", "it removed its folder") });
    await work(BRIEF, gone.parts, quiet);
    const stopped = portsThatFail(broken("locked"));
    await work(BRIEF, stopped.parts, AbortSignal.abort());
    for (const { parts, calls } of [failedTurn, gone, stopped]) {
      await work(NEXT, parts, quiet);
      assert.equal(calls.filter(([name]) => name === "turn").length, 2);
    }
  });

  it("goes on from it also after a restart, if what was said is on record", async () => {
    const workspace = { job: "" as never, folder: "/w/1", commit: "onto", environment: {}, notices: [] };
    for (const [said, isLeft, turns] of [
      [PAID, true, 0],
      [FAILED, false, 1],
    ] as const) {
      const { parts, calls } = jobPorts({ said });
      assert.equal(await recallUnkept(BRIEF, workspace, parts), isLeft);
      const { spent } = await work(NEXT, parts, quiet);
      assert.equal(calls.filter(([name]) => name === "turn").length, turns);
      assert.equal(spent === undefined, isLeft);
    }
  });
});

describe("an attempt of an engine that died", () => {
  const workspace = { job: "" as never, folder: "/w/1", commit: "onto", environment: {}, notices: [] };

  it("says as a concern that what its workspace has installed is not what its tree asks for", async () => {
    const stale = { ...workspace, stale: "content-type is installed differently" };
    const answer = await finishWork(BRIEF, { workspace: stale, wasRunning: false }, jobPorts().parts, quiet);
    assert.ok(answer && !isCut(answer) && answer.outcome.is === "worked");
    const { concerns } = answer.outcome.handoff;
    assert.ok(concerns.includes("in its workspace, content-type is installed differently"), concerns.join());
  });

  it("is judged if it had finished, and else only kept aside", async () => {
    const finished = jobPorts();
    const answer = await finishWork(BRIEF, { workspace, wasRunning: false }, finished.parts, quiet);
    assert.ok(answer && !isCut(answer));
    assert.equal(answer.outcome.is, "worked");
    assert.equal(finished.calls.at(-1)?.[0], "release");
    const running = jobPorts();
    assert.equal(await finishWork(BRIEF, { workspace, wasRunning: true }, running.parts, quiet), undefined);
    assert.deepEqual(
      running.calls.map(([name]) => name),
      ["collect", "keep", "release"],
    );
  });
});
