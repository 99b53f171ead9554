/** What tests of `skein watch` share: the view of a made run on a terminal, and what it says to the run. */
import path from "node:path";
import { mailboxOf } from "../../src/compose/project.ts";
import type { TaskId } from "../../src/core/task.ts";
import type { MailboxMessage } from "../../src/ports/mailbox.ts";
import { ROOT } from "../../tools/source-files.ts";
import { openTerminal, type TestTerminal } from "../support/terminal.ts";
import type { MadeRun } from "../web/place.ts";

export const LIMIT = { timeout: 90_000 };
export const T = (n: number) => `t.${n}` as TaskId;
export const GOAL = "t" as TaskId;
export const DOWN = "\u001b[B";

export const watch = (run: MadeRun, env: NodeJS.ProcessEnv = {}): TestTerminal =>
  openTerminal([process.execPath, path.join(ROOT, "bin/skein"), "watch"], {
    folder: run.project.located.top,
    env: { ...process.env, SKEIN_STATE_DIR: run.stateDir, ...env },
  });

export async function heard(run: MadeRun): Promise<MailboxMessage> {
  for await (const { command, answer } of mailboxOf(run.home).receive(AbortSignal.timeout(30_000))) {
    await answer({ is: "heard" });
    return command;
  }
  throw new Error("nothing was said");
}
