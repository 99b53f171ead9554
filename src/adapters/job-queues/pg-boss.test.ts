/** Tests what a coordinator accepts of a worker's result, with real git on both sides and endings that a test wrote. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { SPEC } from "../../../test/support/job-ports.ts";
import { makeRepository } from "../../../test/support/repositories.ts";
import type { WorkBrief } from "../../core/brief.ts";
import { type Handoff, NO_METRICS } from "../../core/handoff.ts";
import { type Job, type JobId, jobId, type Outcome } from "../../core/job.ts";
import type { TaskId } from "../../core/task.ts";
import type { OfferedJob } from "../../ports/fleet-jobs.ts";
import type { Recovered } from "../../ports/job-queue.ts";
import { JobObjects } from "../objects/job-objects.ts";
import { outputRef } from "../objects/names.ts";
import { GitRemote } from "../objects/remote.ts";
import { RemoteTarget } from "../objects/remote-target.ts";
import { GitRepository } from "../repositories/git.ts";
import type { FleetOffers } from "./fleet-offers.ts";
import type { InProcessJobQueue } from "./in-process.ts";
import type { JobEnding } from "./job-ending.ts";
import { PgBossJobQueue } from "./pg-boss.ts";

const JOB = { kind: "work", task: "t.1" as TaskId, attempt: 1 } as const satisfies Job;
const RUN = "r1";
const NOTHING = {
  ...{ filesChanged: [], diff: "", linesAdded: 0, linesRemoved: 0, filesCreated: 0, filesModified: 0 },
  ...{ deletedTests: [], disabledTests: [], forbiddenMarks: [] },
};
const HANDOFF: Handoff = {
  status: "complete",
  ...{ taskId: "t.9", summary: "done", diff: "", filesChanged: [] },
  ...{ concerns: [], suggestions: [], metrics: NO_METRICS },
};

/** Makes a coordinator whose jobs all end like this. */
async function openQueue() {
  const stack = new AsyncDisposableStack();
  const bare = stack.use(await makeRepository({ bare: true, name: "remote.git" }));
  const here = stack.use(await makeRepository({ files: { "a.test.ts": 'test("a", () => {});\n' } }));
  const base = await here.git("rev-parse", "HEAD");
  const repository = stack.use(new GitRepository({ folder: here.folder }));
  const gitDir = path.join(here.folder, ".git");
  const remote = new GitRemote({ gitDir, remote: bare.folder, patienceMs: 5_000 });
  const shared = new RemoteTarget({ gitDir, remote, run: RUN });
  const recover = async (end: Partial<JobEnding>, from = base): Promise<Recovered> => {
    const brief: WorkBrief = {
      ...{ ...JOB, run: RUN, spec: SPEC, branch: "skein/r1/t.1", base: from },
      ...{ past: [], before: [], steers: [] },
    };
    const offered = { run: RUN, job: jobId(JOB), what: { is: "brief", brief } } as unknown as OfferedJob;
    const found = { tries: 0, ...(end.is === "answered" && { offered }), ...end } as JobEnding;
    const queue = new PgBossJobQueue({
      ...{ run: RUN, labels: [], travels: () => true, salvageRef: () => "refs/skein/salvage/x" },
      offers: { find: async () => found } as unknown as FleetOffers,
      objects: new JobObjects({ gitDir, remote, shared, target: "target", run: RUN }),
      own: {} as InProcessJobQueue,
      onTaken: () => {},
      readFile: async () => undefined,
      evidenceOf: (...asked) => repository.evidence(...asked),
    });
    const recovered = await queue.recover(JOB, () => {});
    await queue.settled();
    return recovered;
  };
  const answer = async (outcome: Outcome, commit?: string, from?: string): Promise<Outcome> => {
    const made = commit === undefined ? {} : { made: { commit, as: "branch" } as const };
    const found = await recover(
      { is: "answered", result: { is: "answer", answer: { outcome }, ...made } },
      from,
    );
    assert.ok(found.is === "answered");
    return found.answer.outcome;
  };
  /** Pushes a commit as a worker does. */
  const handIn = async (files: Parameters<typeof here.branch>[1], from = base) => {
    const commit = await here.branch("made", files, { from });
    await here.git("push", "-q", bare.folder, `+${commit}:${outputRef(RUN, jobId(JOB), 0)}`);
    return commit;
  };
  const left = async () => (await bare.git("for-each-ref", "--format=%(refname)", "refs/skein")).split("\n");
  const push = (ref: string, commit = "HEAD") => here.git("push", "-q", bare.folder, `+${commit}:${ref}`);
  return {
    here,
    base,
    recover,
    answer,
    handIn,
    left,
    push,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test("what a commit shows counts, not what its worker says of it", async () => {
  await using queue = await openQueue();
  const commit = await queue.handIn({ "a.test.ts": null, "b.ts": "1\n" });
  const unmet = { kind: "unmet", message: "no output" } as const;
  const said = { is: "worked", handoff: HANDOFF, evidence: { ...NOTHING, commit, unmet } } as const;
  const outcome = await queue.answer(said, commit);
  assert.ok(outcome.is === "worked");
  assert.deepEqual(outcome.evidence.filesChanged, ["a.test.ts", "b.ts"]);
  assert.deepEqual(outcome.evidence.deletedTests, ['a.test.ts (its only case: "a")']);
  assert.deepEqual(outcome.evidence.unmet, unmet);
  assert.equal(outcome.handoff.taskId, "t.1");
});

test("what an earlier attempt began is seen against its own beginning, and what has another history fails", async () => {
  await using queue = await openQueue();
  const { here, base } = queue;
  const older = await here.git("commit-tree", "-m", "of its own", `${base}^{tree}`);
  const worked = (commit: string) =>
    queue.answer({ is: "worked", handoff: HANDOFF, evidence: { ...NOTHING, commit } }, commit);
  const alone = await worked(await queue.handIn({ "b.ts": "1\n" }, older));
  assert.match(alone.is === "failed" ? alone.failure.message : "", /no history in common/);
  const later = await openQueue();
  await using _ = later;
  const began = await later.handIn({ "b.ts": "1\n" });
  await later.here.commit({ "c.ts": "landed meanwhile\n" });
  const outcome = await later.answer(
    { is: "worked", handoff: HANDOFF, evidence: { ...NOTHING, commit: began } },
    began,
    await later.here.git("rev-parse", "HEAD"),
  );
  assert.deepEqual(outcome.is === "worked" && outcome.evidence.filesChanged, ["b.ts"]);
});

test("without a commit nothing was changed, whatever is said", async () => {
  await using queue = await openQueue();
  const evidence = { ...NOTHING, filesChanged: ["b.ts"], diff: "+1" };
  const outcome = await queue.answer({ is: "worked", handoff: HANDOFF, evidence });
  assert.ok(outcome.is === "worked");
  assert.deepEqual([outcome.evidence.filesChanged, outcome.evidence.diff], [[], ""]);
});

test("what is no answer to this kind of job fails the job, and nothing else", async () => {
  await using queue = await openQueue();
  const answers: readonly Outcome[] = [
    {
      is: "planned",
      answer: { scratchpad: "", tasks: [], deferred: [], addressed: [], done: true, notes: [] },
    },
    {
      ...{ is: "called", start: queue.base, session: "work:t.2#1" as JobId },
      call: { is: "question", question: { text: "q" } },
    },
    // Not valid for its type: it must not throw either.
    { is: "worked" } as Outcome,
  ];
  for (const said of answers) {
    const outcome = await queue.answer(said);
    assert.equal(outcome.is === "failed" && outcome.failure.kind, "agent-failed");
  }
  const found = await queue.recover({ is: "unusable" });
  assert.ok(found.is === "answered" && found.answer.outcome.is === "failed");
  assert.equal(found.answer.outcome.failure.kind, "agent-failed");
});

test("what was pushed for an answer that is refused is gone from the remote, also by an earlier try, and nothing else", async () => {
  await using queue = await openQueue();
  const other = outputRef(RUN, "work:t.2#1", 0);
  await queue.push(other);
  const commit = await queue.handIn({ "b.ts": "1\n" });
  await queue.push(outputRef(RUN, jobId(JOB), 1));
  const worked = (named: string) =>
    ({ is: "worked", handoff: HANDOFF, evidence: { ...NOTHING, commit: named } }) as const;
  assert.equal((await queue.answer(worked(commit), commit)).is, "worked");
  assert.equal((await queue.left()).length, 3, "what was taken is needed by another coordinator");
  const foreign = await queue.answer(worked(queue.base), commit);
  assert.match(foreign.is === "failed" ? foreign.failure.message : "", /did not hand in/);
  assert.deepEqual(
    await queue.left(),
    [outputRef(RUN, jobId(JOB), 1), other],
    "of the tries that there were: one",
  );
  await queue.push(outputRef(RUN, jobId(JOB), 0));
  await queue.recover({ is: "unusable", tries: 1 });
  assert.deepEqual(await queue.left(), [other]);
});

/** Makes a tree; `mktree` does not check whether it can be checked out. */
const treeOf = (folder: string, entries: string): string =>
  execFileSync("git", ["mktree"], { cwd: folder, input: entries, encoding: "utf8" }).trim();

test("a tree that nobody can unfold is counted before anything looks at it, and its answer is refused", async () => {
  await using queue = await openQueue();
  const { here } = queue;
  const wide = async () => {
    let tree = await here.git("rev-parse", `${queue.base}^{tree}`);
    for (let level = 0; level < 8; level += 1) {
      const entries = Array.from({ length: 10 }, (_, n) => `040000 tree ${tree}\td${n}\n`).join("");
      tree = treeOf(here.folder, entries);
    }
    return tree;
  };
  const named = async () => {
    const file = await here.git("rev-parse", `${queue.base}:a.test.ts`);
    return treeOf(here.folder, `100644 blob ${file}\t${"n".repeat(300)}\n`);
  };
  for (const [tree, why] of [
    [await wide(), /more than 1000000 files and folders|more than 67108864 bytes/],
    [await named(), /a name in its tree has more than 255 bytes/],
  ] as const) {
    const commit = await here.git("commit-tree", "-m", "bomb", "-p", queue.base, tree);
    await queue.push(outputRef(RUN, jobId(JOB), 0), commit);
    const outcome = await queue.answer(
      { is: "worked", handoff: HANDOFF, evidence: { ...NOTHING, commit } },
      commit,
    );
    assert.match(outcome.is === "failed" ? outcome.failure.message : JSON.stringify(outcome), why);
    assert.equal(outcome.is === "failed" && outcome.failure.kind, "agent-failed");
    assert.deepEqual(await queue.left(), [""]);
  }
});

test("what a worker says of an account counts for an hour at most, and in words of Skein", async () => {
  await using queue = await openQueue();
  const said = { message: "LIES", next: "run my program", detail: "LIES", account: "a" };
  const outcome = async (failure: object) => {
    const found = await queue.answer({ is: "failed", failure: { ...said, ...failure } as never });
    return found.is === "failed" ? found.failure : found;
  };
  const message = "a worker says that account a is rate limited";
  for (const far of [{ waitMs: 1e12 }, { until: Date.now() + 1e12 }])
    assert.deepEqual(await outcome({ kind: "quota", ...far }), {
      ...{ kind: "quota", message, account: "a", waitMs: 3_600_000 },
    });
  assert.deepEqual(await outcome({ kind: "quota", waitMs: -5 }), {
    ...{ kind: "quota", message, account: "a", waitMs: 0 },
  });
  assert.deepEqual(await outcome({ kind: "authentication" }), {
    ...{ kind: "authentication", account: "a" },
    message: "a worker says that the key of account a was refused there",
  });
  assert.deepEqual(await outcome({ kind: "incomplete" }), { ...said, kind: "incomplete" });
});
