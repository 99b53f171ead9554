import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import type { Brief } from "../../core/brief.ts";
import type { Report } from "../../core/event.ts";
import { failure } from "../../core/failure.ts";
import { type Job, jobId } from "../../core/job.ts";
import type { Answer, RunJob } from "../../ports/job-queue.ts";
import { InProcessJobQueue } from "./in-process.ts";
import { JobFiles } from "./job-files.ts";

const JOB: Job = { kind: "check", turn: 1 };
const BRIEF: Brief = { kind: "check", run: "r1", turn: 1, target: "skein/r1/target", tip: "c0" };
const PAID: Answer = {
  outcome: { is: "checked", tip: "c0", report: { commands: [] }, problems: [] },
  spent: { tokens: 7 },
};

/** What is reported, and what is kept for whoever starts next. */
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
  it("has it for whoever starts next, but not that a job failed which was told to end", async () => {
    const answered = await offered(newFolder(), async () => PAID);
    assert.deepEqual(answered.kept, PAID);
    const stopped = await offered(
      newFolder(),
      async () => ({ outcome: { is: "failed", failure: failure("interrupted", "told to stop") } }),
      true,
    );
    assert.equal(stopped.kept, undefined);
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
