import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { hasFailed } from "../core/result.ts";
import type { Heard, Mailbox, MailboxMessage } from "../ports/mailbox.ts";
import type { RunHome } from "../ports/runs.ts";
import { tellRun } from "./tell-run.ts";

const NEVER = new AbortController().signal;

function told(command: MailboxMessage, { pid, heard, plan }: { pid?: number; heard?: Heard; plan?: object }) {
  const home = {
    record: { run: "a", ...(plan && { plan }) },
    log: {
      async *read() {
        yield* CoreRun.planned([task("one")]).log;
      },
    },
    hasJobs: async () => true,
    owner: async () => (pid === undefined ? undefined : { pid, since: 0 }),
  } as unknown as RunHome;
  const mailbox = {
    send: async () => ({ answer: async () => heard, withdraw: async () => true }),
  } as unknown as Mailbox;
  return tellRun({ home, command }, mailbox, NEVER);
}

const STEER = { type: "steer", message: "m" } as const;

describe("what is said to a run", () => {
  it("is heard where a process drives it, and waits where none does", async () => {
    assert.deepEqual(await told(STEER, { pid: 7, heard: { is: "heard" } }), { is: "heard" });
    assert.deepEqual(await told(STEER, {}), { is: "waiting" });
  });

  it("is refused with the run's own reason, and taken back where no answer comes", async () => {
    const refused = await told(STEER, { pid: 7, heard: { is: "refused", reason: "too late" } });
    assert.ok(hasFailed(refused) && refused.failure.message === "run a refused: too late");
    const silent = await told(STEER, { pid: 7 });
    assert.ok(hasFailed(silent) && /nothing was sent/.test(silent.failure.message));
  });

  it("is not sent where nobody could hear it: a pause of a stopped run, a planner of a plan, no question", async () => {
    for (const [command, how, why] of [
      [{ type: "pause" }, {}, /run a is stopped/],
      [STEER, { plan: {} }, /there is no planner to tell/],
      [{ type: "answer", question: "q1", text: "yes" }, {}, /q1; no question is open/],
    ] as const) {
      const end = await told(command as MailboxMessage, how);
      assert.ok(hasFailed(end));
      assert.match(end.failure.message, why);
    }
  });
});
