/** The contract suite of job queues, which each adapter passes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Brief } from "../../src/core/brief.ts";
import { failure } from "../../src/core/failure.ts";
import { type Job, jobId } from "../../src/core/job.ts";
import type { Report } from "../../src/core/log/event.ts";
import type { Answer, JobQueue, RunJob } from "../../src/ports/job-queue.ts";

const job = (turn: number): Job => ({ kind: "check", turn });
const brief = (turn: number): Brief => ({
  kind: "check",
  run: "r1",
  turn,
  target: "skein/r1/target",
  tip: "c0",
});
const failed = (why: string): Answer => ({
  outcome: { is: "failed", failure: failure("agent-failed", why) },
});

/** Waits for one report of the queue. */
function waitingFor() {
  const { promise, resolve } = Promise.withResolvers<Report>();
  return { promise, report: resolve };
}

export function jobQueueContract(name: string, open: (run: RunJob) => JobQueue): void {
  describe(`the job queue ${name}`, () => {
    it("reports what the executor answered, with its cost, under the job's id", async () => {
      const answer: Answer = { ...failed("no"), spent: { tokens: 7 } };
      const queue = open(async () => answer);
      const { promise, report } = waitingFor();
      queue.offer(job(1), brief(1), report);
      assert.deepEqual(await promise, { type: "ended", job: "check#1", ...answer });
    });

    it("hands the brief on as it is", async () => {
      const given: Brief[] = [];
      const queue = open(async (got) => {
        given.push(got);
        return failed("seen");
      });
      const { promise, report } = waitingFor();
      queue.offer(job(2), brief(2), report);
      await promise;
      assert.deepEqual(given, [brief(2)]);
    });

    it("turns an executor that throws into a failure that says so", async () => {
      const queue = open(async () => {
        throw new Error("a defect");
      });
      const { promise, report } = waitingFor();
      queue.offer(job(3), brief(3), report);
      const got = await promise;
      assert.ok(got.type === "ended" && got.outcome.is === "failed");
      assert.match(got.outcome.failure.message, /a defect/);
    });

    it("tells a cancelled job to end, and reports what it said", async () => {
      const queue = open(
        (_brief, signal) =>
          new Promise((resolve) => signal.addEventListener("abort", () => resolve(failed("stopped")))),
      );
      const { promise, report } = waitingFor();
      queue.offer(job(4), brief(4), report);
      queue.cancel(jobId(job(4)));
      const got = await promise;
      assert.ok(got.type === "ended" && got.outcome.is === "failed");
      assert.equal(got.outcome.failure.message, "stopped");
    });

    it("takes no notice of a job that it does not know", async () => {
      const queue = open(async () => failed("never"));
      queue.cancel(jobId(job(99)));
      assert.deepEqual(await queue.recover(job(99), () => {}), { is: "gone" });
    });

    it("runs several jobs side by side", async () => {
      const both = Promise.withResolvers<void>();
      let started = 0;
      const queue = open(async () => {
        started += 1;
        if (started === 2) both.resolve();
        await both.promise;
        return failed("done");
      });
      const [one, two] = [waitingFor(), waitingFor()];
      queue.offer(job(5), brief(5), one.report);
      queue.offer(job(6), brief(6), two.report);
      await Promise.all([one.promise, two.promise]);
      assert.equal(started, 2);
    });
  });
}
