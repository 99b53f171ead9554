/** Tests how a command reaches a run, waits for it, or is refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type { TaskId } from "../core/task.ts";
import { Fold } from "../engine/fold.ts";
import type { Heard, MailboxMessage } from "../ports/mailbox.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Parts } from "./parts.ts";
import type { Refused } from "./refused.ts";
import { tellRun } from "./tell-run.ts";

const NEVER = new AbortController().signal;

type Case = {
  /** Of the process that drives the run. */
  readonly pid?: number;
  readonly heard?: Heard;
  readonly plan?: object;
  readonly settings?: object;
  readonly isClosed?: boolean;
  /** Another process takes the run while it is cancelled. */
  readonly isTaken?: boolean;
  readonly signal?: AbortSignal;
};

async function told(command: MailboxMessage, how: Case = {}) {
  const { pid, heard, plan, settings = {}, isClosed = false, isTaken = false, signal = NEVER } = how;
  const run = CoreRun.planned([task("one")]);
  const seen = new Fold();
  for (const event of run.log) seen.take(event);
  if (isClosed) seen.take({ type: "run.closed", how: "done", left: [], at: 9 });
  const lock = { release: async () => {} };
  const home = {
    record: { run: "a", settings, ...(plan && { plan }) },
    owner: async () => (pid === undefined ? undefined : { pid, since: 0 }),
    log: { async *read() {} },
    lock: async () => (isTaken ? { failure: failure("repository", "taken") } : lock),
  } as unknown as RunHome;
  const sent: MailboxMessage[] = [];
  const send = async (letter: MailboxMessage) => {
    sent.push(letter);
    return { answer: async () => heard, withdraw: async () => sent.pop() !== undefined };
  };
  const restore = () => Promise.reject(new Error("no world here"));
  const openWorld = () => ({ place: { restore }, close: async () => {} });
  const parts = { mailboxOf: () => ({ send }), openWorld } as unknown as Parts;
  return { end: await tellRun({ home, seen, command }, parts, signal), sent };
}

async function refusal(command: MailboxMessage, how?: Case): Promise<Refused> {
  const { end, sent } = await told(command, how);
  assert.ok(hasFailed(end), JSON.stringify(end));
  assert.deepEqual(sent, []);
  return end;
}

const STEER = { type: "steer", message: "m" } as const;
const CANCEL = { type: "cancel" } as const;
const HEARD = { is: "heard" } as const;

describe("what is said to a run", () => {
  it("is heard where a process drives it, and waits where none does", async () => {
    assert.deepEqual((await told(STEER, { pid: 7, heard: HEARD })).end, HEARD);
    const { end, sent } = await told(STEER);
    assert.deepEqual(sent, [STEER]);
    assert.deepEqual(end, {
      is: "stopped",
      note: "run a is stopped; this applies when you resume it: skein resume a",
    });
  });

  it("is refused with the run's own reason, and taken back where no answer comes", async () => {
    const { end } = await told(STEER, { pid: 7, heard: { is: "refused", reason: "too late" } });
    assert.ok(hasFailed(end) && end.failure.message === "run a refused: too late");
    const silent = await refusal(STEER, { pid: 7 });
    assert.match(silent.failure.message, /did not answer within 15 s; nothing was sent/);
    const left = await refusal(STEER, { pid: 7, signal: AbortSignal.abort() });
    assert.deepEqual([left.because, left.failure.kind], ["stopped", "interrupted"]);
  });

  it("is not sent where nobody could hear it: a closed run, a planner of a plan, no question", async () => {
    for (const [command, how, why] of [
      [CANCEL, { isClosed: true }, /is closed \(done\): it accepts no commands/],
      [STEER, { plan: {} }, /there is no planner to tell/],
      [{ type: "answer", question: "q1", text: "yes" }, {}, /q1; no question is open/],
      [{ type: "resume" }, {}, /run a is stopped/],
    ] as const) {
      const { because, failure: reason } = await refusal(command, how);
      assert.deepEqual([because, why.test(reason.message)], ["run", true], reason.message);
    }
    assert.equal((await refusal({ type: "resume" })).failure.next, "skein resume a");
  });

  it("must say something, and not too much", async () => {
    for (const command of [
      { type: "steer", message: " \n" },
      { type: "decline", reason: "" },
      { type: "answer", question: "q1", text: "" },
    ] as const) {
      const { because, failure: why } = await refusal(command, { pid: 7, heard: HEARD });
      assert.deepEqual([because, /^the (message|answer) is empty$/.test(why.message)], ["usage", true]);
    }
    const long = { type: "steer", message: "x".repeat(20_001) } as const;
    assert.match((await refusal(long)).failure.message, /has 20001 characters; at most 20000 are accepted/);
    const longest = { type: "steer", message: "x".repeat(20_000) } as const;
    assert.deepEqual((await told(longest, { pid: 7, heard: HEARD })).end, HEARD);
  });

  it("names a task by its name, and is refused where there is none of that name", async () => {
    const { sent } = await told({ type: "cancel", task: "one" as TaskId });
    assert.deepEqual(sent, [{ type: "cancel", task: "t.1" }]);
    const { because, failure: why } = await refusal({ type: "approve", task: "two" as TaskId });
    assert.deepEqual([because, why.next], ["usage", "skein show a lists them"]);
  });
});

describe("a stopped run", () => {
  it("has nothing to pause, which is no failure", async () => {
    const { end, sent } = await told({ type: "pause" });
    assert.deepEqual(sent, []);
    assert.deepEqual(end, {
      is: "stopped",
      note: "run a is stopped: there is nothing to pause. To continue: skein resume a",
    });
  });

  it("is cancelled here as a whole, or by the process that has taken it meanwhile", async () => {
    for (const command of [CANCEL, { ...CANCEL, task: "t" as TaskId }]) {
      const here = await refusal(command);
      assert.deepEqual([here.because, here.failure.message], ["run", "the run broke: no world here"]);
      assert.deepEqual((await told(command, { isTaken: true, heard: HEARD })).end, HEARD);
    }
  });

  it("is not cancelled with a configuration that cannot be read", async () => {
    const { because, lines } = await refusal(CANCEL, { settings: { nonsense: 1 } });
    assert.deepEqual([because, lines?.length], ["configuration", 1]);
  });
});
