/** Tests the engine: running to the end, stopping, resuming, and losing the log to another engine. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { ManualClock } from "../adapters/clocks/manual.ts";
import { MemoryEventLog } from "../adapters/event-logs/memory.ts";
import { InProcessJobQueue } from "../adapters/job-queues/in-process.ts";
import { readPlanAnswer } from "../core/answers/plan-answer.ts";
import type { Brief } from "../core/brief.ts";
import { failure } from "../core/failure.ts";
import { NO_METRICS } from "../core/handoff.ts";
import { type Job, type JobId, jobId, type Outcome } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";
import { defaultPolicy } from "../core/rules/policy.ts";
import type { TaskId } from "../core/task.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { runEngine } from "./engine.ts";
import { Inbox, type Message } from "./inbox.ts";

const OPEN: Message = { type: "open", request: { run: "r1", goal: "make it", base: "c0" } };
const NEVER = new AbortController().signal;

/** One task, done successfully. */
function honest(brief: Brief): Outcome {
  switch (brief.kind) {
    case "plan": {
      const task = { id: "a", description: "a", acceptance: "a", scope: ["a.ts"] };
      const read = readPlanAnswer(JSON.stringify({ scratchpad: "", tasks: brief.first ? [task] : [] }));
      return read.is === "answer"
        ? { is: "planned", answer: read.answer }
        : { is: "failed", failure: failure("plan-invalid", "") };
    }
    case "work":
      return {
        is: "worked",
        handoff: {
          taskId: brief.task,
          status: "complete",
          summary: "did it",
          diff: "",
          filesChanged: [],
          concerns: [],
          suggestions: [],
          metrics: NO_METRICS,
        },
        evidence: {
          commit: "w1",
          filesChanged: ["a.ts"],
          diff: "",
          linesAdded: 1,
          linesRemoved: 0,
          filesCreated: 0,
          filesModified: 1,
          deletedTests: [],
          disabledTests: [],
          forbiddenMarks: [],
        },
      };
    case "land":
      return { is: "landed", commit: "c1", members: brief.members, conflicts: [], proof: "green" };
    case "check":
      return { is: "checked", tip: brief.tip, report: { commands: [] }, problems: [] };
  }
}

const LAST = "work:t.2#1" as JobId;

function twoTasks(brief: Brief): Outcome {
  const tasks = ["a", "b"].map((id) => ({ id, description: id, acceptance: id, scope: [`${id}.ts`] }));
  const isFirst = brief.kind === "plan" && brief.first;
  const read = readPlanAnswer(JSON.stringify({ scratchpad: "", tasks: isFirst ? tasks : [] }));
  assert.ok(read.is === "answer");
  return { is: "planned", answer: read.answer };
}

function setting(run: (brief: Brief) => Outcome | Promise<Outcome> = honest) {
  const log = new MemoryEventLog();
  const inbox = new Inbox();
  const queue: JobQueue = new InProcessJobQueue(async (brief) => ({ outcome: await run(brief) }));
  const parts = { log, queue, clock: new ManualClock(), policy: defaultPolicy };
  return { log, inbox, parts };
}

const types = (log: MemoryEventLog) => log.events.map((event) => event.type);

describe("the engine", () => {
  it("takes a goal to its end", async () => {
    const { log, inbox, parts } = setting();
    inbox.send(OPEN);
    const end = await runEngine(parts, inbox, NEVER);
    assert.ok(end.is === "closed");
    assert.equal(end.state.closed?.how, "done");
    assert.ok(types(log).includes("batch.landed"));
    assert.equal(types(log).at(-1), "run.closed");
  });

  it("stops when told to, and another goes on from the log", async () => {
    const stop = new AbortController();
    const { log, inbox, parts } = setting((brief) => {
      if (brief.kind === "land") stop.abort();
      return honest(brief);
    });
    inbox.send(OPEN);
    assert.equal((await runEngine(parts, inbox, stop.signal)).is, "stopped");
    assert.ok(!types(log).includes("run.closed"));

    const again = setting();
    const end = await runEngine({ ...again.parts, log }, again.inbox, NEVER);
    assert.ok(end.is === "closed");
    assert.equal(end.state.closed?.how, "done");
    const landed = log.events.filter((event) => event.type === "batch.landed");
    assert.equal(landed.length, 1);
  });

  it("answers at once for a run that is closed already", async () => {
    const { inbox, parts } = setting();
    inbox.send(OPEN);
    await runEngine(parts, inbox, NEVER);
    const end = await runEngine(parts, new Inbox(), NEVER);
    assert.equal(end.is, "closed");
  });

  it("is lost when another engine has written to its log", async () => {
    const { log, inbox, parts } = setting(async (brief) => {
      if (brief.kind === "plan") await log.append(log.events.length, [{ type: "run.paused", at: 0 }]);
      return honest(brief);
    });
    inbox.send(OPEN);
    const end = await runEngine(parts, inbox, NEVER);
    assert.ok(end.is === "lost");
    assert.match(end.failure.message, /another engine/);
  });

  it("is lost, with the reason, when its log cannot be written, and has started nothing", async () => {
    const offered: Job[] = [];
    const full: EventLog = {
      read: async function* (): AsyncGenerator<Event> {},
      append: async () => ({ is: "failed", failure: failure("repository", "the disk is full") }),
    };
    const queue: JobQueue = {
      offer: (job) => void offered.push(job),
      cancel: () => {},
      recover: async () => ({ is: "gone" }),
    };
    const { inbox, parts } = setting();
    inbox.send(OPEN);
    const end = await runEngine({ ...parts, log: full, queue }, inbox, NEVER);
    assert.ok(end.is === "lost");
    assert.equal(end.failure.message, "the disk is full");
    assert.deepEqual(offered, []);
  });

  it("is lost, with the place and the reason, when its log cannot be read", async () => {
    const damaged = async function* (): AsyncGenerator<Event> {
      yield { type: "run.paused", at: 0 };
      yield { type: "from.the.future", at: 0 } as unknown as Event;
    };
    const { inbox, parts } = setting();
    const log: EventLog = { read: damaged, append: async () => ({ is: "done" }) };
    const end = await runEngine({ ...parts, log }, inbox, NEVER);
    assert.ok(end.is === "lost");
    assert.match(end.failure.message, /after event 1: .*from\.the\.future/);
  });

  it("refuses a policy that makes no sense, and names it", async () => {
    const { inbox, parts } = setting();
    const policy = { ...defaultPolicy, capacity: { plan: 4, work: 0 } };
    const end = await runEngine({ ...parts, policy }, inbox, NEVER);
    assert.ok(end.is === "lost");
    assert.match(end.failure.message, /capacity\.work/);
  });

  it("offers a job only after the log has it", async () => {
    const { log, inbox, parts } = setting();
    const seen: boolean[] = [];
    const { queue } = parts;
    const watching: JobQueue = {
      offer: (job, brief, report) => {
        const id = jobId(job);
        seen.push(log.events.some((e) => e.type === "job.started" && jobId(e.job) === id));
        queue.offer(job, brief, report);
      },
      cancel: (id) => queue.cancel(id),
      recover: (job, report) => queue.recover(job, report),
    };
    inbox.send(OPEN);
    await runEngine({ ...parts, queue: watching }, inbox, NEVER);
    assert.ok(seen.length > 3);
    assert.ok(seen.every((durable) => durable));
  });

  it("cancels the job of a task that was cancelled", async () => {
    const cancelled: JobId[] = [];
    const { inbox, parts } = setting();
    const queue: JobQueue = {
      offer: (job, brief, report) => {
        if (job.kind === "work") inbox.send({ type: "cancel" });
        else report({ type: "ended", job: jobId(job), outcome: honest(brief) });
      },
      cancel: (id) => {
        cancelled.push(id);
        const why = failure("interrupted", "told to stop");
        inbox.send({ type: "ended", job: id, outcome: { is: "failed", failure: why }, spent: { tokens: 7 } });
      },
      recover: async () => ({ is: "gone" }),
    };
    inbox.send(OPEN);
    const end = await runEngine({ ...parts, queue }, inbox, NEVER);
    assert.ok(end.is === "closed");
    assert.equal(end.state.closed?.how, "cancelled");
    assert.ok(cancelled.includes("work:t.1#1" as JobId));
    assert.equal(end.state.spent.tokens, 7, "what it cost is heard before the run is closed");
  });

  it("asks what a job has cost that an engine called off before it ended itself", async () => {
    const { inbox, parts } = setting();
    const stop = new AbortController();
    const queue: JobQueue = {
      offer: (job, brief, report) => {
        if (job.kind === "work") inbox.send({ type: "cancel", task: "t.1" as TaskId });
        else report({ type: "ended", job: jobId(job), outcome: honest(brief) });
      },
      cancel: () => stop.abort(),
      recover: async (job) => (job.kind === "work" ? { is: "gone", spent: { tokens: 7 } } : { is: "gone" }),
    };
    inbox.send(OPEN);
    assert.equal((await runEngine({ ...parts, queue }, inbox, stop.signal)).is, "stopped");
    const end = await runEngine({ ...parts, queue }, new Inbox(), NEVER);
    assert.ok(end.is === "closed");
    assert.equal(end.state.spent.tokens, 7);
  });

  it("hears what called-off jobs cost also when it was about to close before, and was told to go on", async () => {
    const { inbox, parts } = setting();
    const plan = (tasks: readonly object[]) => readPlanAnswer(JSON.stringify({ scratchpad: "", tasks }));
    let turns = 0;
    const offer: JobQueue["offer"] = (job, brief, report) => {
      if (job.kind === "work") return inbox.send({ type: "cancel", task: job.task });
      if (job.kind !== "plan") return report({ type: "ended", job: jobId(job), outcome: honest(brief) });
      turns += 1;
      if (turns === 3) {
        parts.clock.wakeAt(60_000, () => {});
        parts.clock.step();
      }
      const id = `a${turns}`;
      const wanted = { id, description: id, acceptance: id, scope: [`${id}.ts`] };
      const read = plan(turns % 2 === 1 ? [wanted] : []);
      assert.ok(read.is === "answer");
      report({ type: "ended", job: jobId(job), outcome: { is: "planned", answer: read.answer } });
      const why = failure("interrupted", "told to stop");
      const last: Message = {
        ...{ type: "ended", job: "work:t.2#1" as JobId, outcome: { is: "failed", failure: why } },
        spent: { tokens: 7 },
      };
      // The first aborted job never reports.
      if (turns === 2) setImmediate(() => inbox.send({ type: "steer", message: "and more" }));
      if (turns === 4) setImmediate(() => inbox.send(last));
      if (turns === 4) setImmediate(() => setImmediate(() => parts.clock.step()));
    };
    const queue: JobQueue = { offer, cancel: () => {}, recover: async () => ({ is: "gone" }) };
    inbox.send(OPEN);
    const end = await runEngine({ ...parts, queue }, inbox, NEVER);
    assert.ok(end.is === "closed");
    assert.deepEqual([turns, end.state.spent.tokens], [4, 7]);
  });

  for (const isHeard of [false, true])
    it(`looks at the target again if it was put back while last words were waited for, which ${isHeard ? "came" : "never came"}`, async () => {
      const { inbox, parts } = setting();
      const { clock } = parts;
      let isPutBack = false;
      const offer: JobQueue["offer"] = (job, brief, report) => {
        if (job.kind === "work" && job.task !== "t.1") return inbox.send({ type: "cancel", task: job.task });
        const outcome = job.kind === "plan" ? twoTasks(brief) : honest(brief);
        const moved = { tip: "c0", landings: [], lost: ["c1"] };
        const isTaken = isPutBack && outcome.is === "checked" && outcome.tip === "c1";
        report({ type: "ended", job: jobId(job), outcome: isTaken ? { ...outcome, moved } : outcome });
      };
      const queue: JobQueue = { offer, cancel: () => {}, recover: async () => ({ is: "gone" }) };
      inbox.send(OPEN);
      const run = runEngine({ ...parts, queue }, inbox, NEVER);
      let isOver = false;
      void run.then(() => {
        isOver = true;
      });
      while (!isOver) {
        await new Promise(setImmediate);
        if (!isPutBack && clock.next() === clock.now() + 30_000) {
          isPutBack = true;
          const outcome = { is: "failed", failure: failure("interrupted", "told to stop") } as const;
          if (isHeard)
            clock.wakeAt(clock.now() + 5_000, () => inbox.send({ type: "ended", job: LAST, outcome }));
        }
        clock.step();
      }
      const end = await run;
      assert.ok(end.is === "closed" && isPutBack);
      assert.equal(end.state.closed?.how, "incomplete");
      assert.match(end.state.closed?.left.join() ?? "", /landed as c1, but was taken back/);
      assert.ok(clock.now() <= 30_000, "they are waited for once");
    });

  it("asks what a job has cost that expired, and whose place another has taken", async () => {
    const { log, parts } = setting();
    const run = CoreRun.planned([task("a")]);
    run.wait(defaultPolicy.leaseMs.work + defaultPolicy.retry.graceMs);
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
    await log.append(0, run.log);
    const stop = new AbortController();
    const queue: JobQueue = {
      offer: () => stop.abort(),
      cancel: () => {},
      recover: async (job) =>
        jobId(job) === "work:t.1#1" ? { is: "gone", spent: { tokens: 7 } } : { is: "gone" },
    };
    const end = await runEngine({ ...parts, queue }, new Inbox(), stop.signal);
    assert.ok(end.is === "stopped");
    assert.equal(end.state.spent.tokens, 7);
  });

  it("wakes by itself when a lease has run out", async () => {
    const { log, inbox, parts } = setting();
    let plans = 0;
    const queue: JobQueue = {
      offer: (job, brief, report) => {
        if (job.kind === "plan") plans += 1;
        if (plans === 1 && job.kind === "plan") return; // The process of its planner is gone.
        report({ type: "ended", job: jobId(job), outcome: honest(brief) });
      },
      cancel: () => {},
      recover: async () => ({ is: "gone" }),
    };
    inbox.send(OPEN);
    const run = runEngine({ ...parts, queue }, inbox, NEVER);
    let ended = false;
    void run.then(() => {
      ended = true;
    });
    while (!ended) {
      await new Promise(setImmediate);
      parts.clock.step();
    }
    assert.ok(log.events.some((event) => event.type === "job.ended" && event.how === "expired"));
    assert.equal(types(log).at(-1), "run.closed");
  });

  it("collects what a job answered while no engine was there", async () => {
    const stop = new AbortController();
    const { log, inbox, parts } = setting((brief) => {
      if (brief.kind === "work") stop.abort();
      return honest(brief);
    });
    inbox.send(OPEN);
    await runEngine(parts, inbox, stop.signal);
    const before = log.events.filter((e) => e.type === "job.started" && e.job.kind === "work").length;

    const second = setting();
    const queue: JobQueue = {
      offer: (job, brief, report) => second.parts.queue.offer(job, brief, report),
      cancel: () => {},
      recover: async (job) =>
        job.kind === "work"
          ? { is: "answered", answer: { outcome: honest({ kind: "work", task: job.task } as Brief) } }
          : { is: "gone" },
    };
    const end = await runEngine({ ...second.parts, log, queue }, second.inbox, NEVER);
    assert.ok(end.is === "closed");
    const after = log.events.filter((e) => e.type === "job.started" && e.job.kind === "work").length;
    assert.equal(after, before);
  });
});
