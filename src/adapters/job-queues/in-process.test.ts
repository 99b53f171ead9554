/** Tests the queue that runs jobs in the engine's process: kept answers, recovery, failing disks. */
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { recordSyncs } from "../../../test/support/syncs.ts";
import type { Brief } from "../../core/brief.ts";
import { failure } from "../../core/failure.ts";
import { type Job, type JobId, jobId } from "../../core/job.ts";
import type { Report } from "../../core/log/event.ts";
import type { Answer, RunJob } from "../../ports/job-queue.ts";
import { InProcessJobQueue } from "./in-process.ts";
import { JobFiles } from "./job-files.ts";

const JOB: Job = { kind: "check", turn: 1 };
const BRIEF: Brief = { kind: "check", run: "r1", turn: 1, target: "skein/r1/target", tip: "c0" };
const PAID: Answer = {
  outcome: { is: "checked", tip: "c0", report: { commands: [] }, problems: [] },
  spent: { tokens: 7 },
};

/** What is reported, and what is kept for the next process. */
async function offered(folder: string, run: RunJob, isStopped = false) {
  const files = new JobFiles(folder);
  const queue = new InProcessJobQueue(run, files);
  const report = await new Promise<Report>((resolve) => {
    queue.offer(JOB, BRIEF, resolve);
    if (isStopped) queue.cancel(jobId(JOB));
  });
  return { report, kept: await files.answerOf(jobId(JOB)) };
}

describe("a queue that keeps what jobs answer", () => {
  it("has it for the next process, except failures of jobs that were told to end", async () => {
    const answered = await offered(newFolder(), async () => PAID);
    assert.deepEqual(answered.kept, PAID);
    const stopped = await offered(
      newFolder(),
      async () => ({ outcome: { is: "failed", failure: failure("interrupted", "told to stop") } }),
      true,
    );
    assert.equal(stopped.kept, undefined);
  });

  it("reads a planner's answer that an older Skein kept", async () => {
    const files = new JobFiles(newFolder());
    const id = "plan:t#1" as JobId;
    const answer = { scratchpad: "", tasks: [], deferred: [], done: true, notes: [] };
    const kept = { outcome: { is: "planned", answer: { ...answer, addressed: ["c1"] } } };
    await files.end(id, kept as unknown as Answer);
    const planned = { is: "planned", answer: { ...answer, addressed: [{ concern: "c1" }] } };
    assert.deepEqual(await files.answerOf(id), { outcome: planned });
  });

  it("has synced what an agent is paid for, and no more", async () => {
    const folder = newFolder();
    const files = new JobFiles(path.join(folder, "jobs"));
    const [paid, free] = ["work:t.1#1" as JobId, "land#1" as JobId];
    await using syncs = await recordSyncs();
    for (const id of [paid, free]) {
      await files.begin(id, BRIEF);
      await files.end(id, PAID);
    }
    const at = (...names: readonly string[]) => syncs.at(path.join(folder, ...names));
    const brief = await at("jobs", "work-t.1-1", "job.json");
    const answer = await at("jobs", "work-t.1-1", "answer.json");
    const names = await Promise.all([at("jobs", "work-t.1-1"), at("jobs"), at()]);
    assert.ok(brief >= 0 && answer > brief, "both files");
    assert.ok(Math.min(...names) > brief, "the name of the file, and those of the new folders");
    assert.deepEqual(
      [await at("jobs", "land-1", "job.json"), await at("jobs", "land-1", "answer.json")],
      [-1, -1],
    );
  });

  it("reports what was made and what it cost, also if the disk does not take it", async () => {
    const folder = newFolder();
    const { report, kept } = await offered(folder, async () => {
      await rm(path.join(folder, "check-1"), { recursive: true });
      await writeFile(path.join(folder, "check-1"), "in the way");
      return PAID;
    });
    assert.deepEqual(report, { type: "ended", job: "check#1", ...PAID });
    assert.equal(kept, undefined);
  });

  it("begins no job of which nothing could be kept", async () => {
    const folder = newFolder();
    await writeFile(path.join(folder, "check-1"), "in the way");
    const { report } = await offered(folder, async () => assert.fail("it was begun"));
    assert.ok(report.type === "ended" && report.outcome.is === "failed");
    assert.match(report.outcome.failure.message, /^the job's files could not be written: /);
  });
});
