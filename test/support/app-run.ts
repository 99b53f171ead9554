/** Makes a run for tests of use cases: the real engine over a log in memory, jobs that succeed, and no disk. */

import { ManualClock } from "../../src/adapters/clocks/manual.ts";
import { MemoryEventLog } from "../../src/adapters/event-logs/memory.ts";
import { InProcessJobQueue } from "../../src/adapters/job-queues/in-process.ts";
import type { FollowParts } from "../../src/app/follow-run.ts";
import { readPlanAnswer } from "../../src/core/answers/plan-answer.ts";
import type { Brief } from "../../src/core/brief.ts";
import { failure } from "../../src/core/failure.ts";
import type { Outcome } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import { defaultPolicy } from "../../src/core/rules/policy.ts";
import type { MailboxMessage } from "../../src/ports/mailbox.ts";
import type { RunHome } from "../../src/ports/runs.ts";

export type AppRun = {
  readonly home: RunHome;
  readonly parts: FollowParts;
  readonly log: MemoryEventLog;
  /** What was done outside of the log, in order. */
  readonly done: string[];
  /** Acts as if another process had taken the run. */
  readonly loseLock: () => void;
};

type Options = {
  readonly history?: readonly Event[];
  /** Replaces some answers of the run's place. */
  readonly place?: object;
  readonly letters?: readonly MailboxMessage[];
  readonly isLocked?: boolean;
  readonly work?: (brief: Brief) => Promise<Outcome>;
};

export async function makeAppRun(options: Options = {}): Promise<AppRun> {
  const { history = [], place, letters = [], isLocked = false, work = planNothing } = options;
  const log = new MemoryEventLog();
  await log.append(0, history);
  const done: string[] = [];
  const lost = Promise.withResolvers<{ failure: ReturnType<typeof failure> }>();
  const did = (what: string, answer?: unknown) => async (): Promise<unknown> => {
    done.push(what);
    return answer;
  };
  const queue = new InProcessJobQueue(async (brief) => ({ outcome: await work(brief) }));
  const world = {
    run: "r",
    engine: {
      queue: Object.assign(queue, { close: did("queue closed") }),
      clock: new ManualClock(),
      policy: defaultPolicy,
    },
    jobs: { redact: (text: string) => text.replaceAll("hunter2", "[secret]") },
    channel: { connect: () => {}, follow: () => {}, kept: () => {}, isWaiting: () => false },
    files: { open: async () => [] },
    programs: { endAll: did("programs ended") },
    workspaces: {
      holders: async () => [],
      space: async () => ({ freeBytes: 1e9 }),
      close: did("workspaces given back", []),
    },
    leave: () => {},
    place: {
      unready: async () => undefined,
      makeTarget: did("target made", "made"),
      restore: did("restored", []),
      hold: async () => undefined,
      letGo: did("let go"),
      gone: () => new Promise(() => {}),
      ...place,
    },
    settle: async () => {},
    close: did("world closed"),
  };
  const lock = { release: did("lock released"), lost: lost.promise };
  const home = {
    record: { run: "r", goal: "make it", base: "base", settings: {} },
    folder: "/runs/r",
    log,
    lock: async () => (isLocked ? { failure: failure("repository", "another has it") } : lock),
    owner: async () => (isLocked ? { pid: 7, since: 0 } : undefined),
    isThere: () => true,
    hasJobs: async () => history.length > 0,
  };
  const mailbox = {
    async *receive(_signal: AbortSignal, onCaughtUp?: () => void) {
      for (const command of letters) yield { command, answer: async () => {} };
      onCaughtUp?.();
    },
  };
  const parts = {
    openWorld: () => world,
    mailboxOf: () => mailbox,
    flaky: {
      list: async () => ({ tests: [{ name: "test: comes and goes" }] }),
      note: async () => ({ is: "noted" }),
    },
    traces: { follow: () => undefined },
  };
  const loseLock = () => lost.resolve({ failure: failure("repository", "another process took it") });
  return { home: home as unknown as RunHome, parts: parts as unknown as FollowParts, log, done, loseLock };
}

/** Plays a planner without tasks, and a green target. */
async function planNothing(brief: Brief): Promise<Outcome> {
  if (brief.kind === "check")
    return { is: "checked", tip: brief.tip, report: { commands: [] }, problems: [] };
  const read = readPlanAnswer(JSON.stringify({ scratchpad: "", tasks: [] }));
  return read.is === "answer"
    ? { is: "planned", answer: read.answer }
    : { is: "failed", failure: failure("plan-invalid", "") };
}
