/** Shares what tests of `skein watch` need: the view of a made run on a terminal, and the commands it sends. */
import path from "node:path";
import { mailboxOf } from "../../src/compose/project.ts";
import type { Fact } from "../../src/core/log/event.ts";
import type { TaskId } from "../../src/core/task.ts";
import type { MailboxMessage } from "../../src/ports/mailbox.ts";
import { ROOT } from "../../tools/source-files.ts";
import { openTerminal, type TestTerminal } from "../support/terminal.ts";
import type { MadeRun } from "../web/place.ts";

export const LIMIT = { timeout: 90_000 };
export const T = (n: number) => `t.${n}` as TaskId;
export const GOAL = "t" as TaskId;
export const DOWN = "\u001b[B";

type Size = { readonly columns?: number; readonly rows?: number };

export const watch = (run: MadeRun, env: NodeJS.ProcessEnv = {}, size: Size = {}): TestTerminal =>
  openTerminal([process.execPath, path.join(ROOT, "bin/skein"), "watch"], {
    folder: run.project.located.top,
    env: { ...process.env, SKEIN_STATE_DIR: run.stateDir, ...env },
    ...size,
  });

/** The events of a worker that asks in its first attempt, with ten minutes to answer. */
export function asked(run: MadeRun, n: number, text: string): readonly Fact[] {
  const until = Date.now() + 600_000;
  const session = `work:t.${n}#1` as never;
  return [
    { type: "job.started", job: { kind: "work", task: T(n), attempt: 1 }, until },
    { type: "job.ended", job: session, how: "answered" },
    {
      ...{ type: "question.asked", task: T(n), attempt: 1, start: run.base, session },
      question: { id: `q${n}`, task: T(n), text, default: `default ${n}`, until, to: "person", tries: 0 },
    },
  ];
}

export async function heard(run: MadeRun): Promise<MailboxMessage> {
  for await (const { command, answer } of mailboxOf(run.home).receive(AbortSignal.timeout(30_000))) {
    await answer({ is: "heard" });
    return command;
  }
  throw new Error("nothing was said");
}
