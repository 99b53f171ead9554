/** Sends a command to a run and waits for its answer; used by the command line, the terminal view and the web page. */
import { failure } from "../core/failure.ts";
import type { RunState } from "../core/log/state.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { ROOT } from "../core/task.ts";
import type { Letter, Mailbox, MailboxMessage } from "../ports/mailbox.ts";
import type { RunHome, RunRecord } from "../ports/runs.ts";
import { seeRun } from "./see-run.ts";

/** An engine answers as soon as the command is in its log; it may be busy writing for a moment. */
const MAX_ANSWER_MS = 15_000;

/** `waiting`: no process drives the run; the command applies when the run is resumed. */
type Told = { readonly is: "heard" | "waiting" } | Failed;

/** For a view: everything that could keep the command from being heard is asked first. */
export async function tellRun(
  { home, command }: { readonly home: RunHome; readonly command: MailboxMessage },
  mailbox: Mailbox,
  signal: AbortSignal,
): Promise<Told> {
  const read = await seeRun(home);
  if (hasFailed(read)) return read;
  const refused = whyUnheard(home.record, read.seen.state, command);
  if (refused) return refused;
  const isDriven = (await home.owner()) !== undefined;
  const { run } = home.record;
  if (!isDriven && NEEDS_A_PROCESS.has(command.type) && !isOfTask(command))
    return no(`run ${run} is stopped`, `skein ${command.type === "cancel" ? "cancel" : "resume"} ${run}`);
  const letter = await mailbox.send(command);
  if (hasFailed(letter)) return letter;
  return isDriven ? answerTo(letter, run, signal) : { is: "waiting" };
}

/** What no engine would hear, whether one drives the run or not. */
export function whyUnheard(
  { run, plan }: RunRecord,
  { closed, questions, unapproved }: RunState,
  command: MailboxMessage,
): Failed | undefined {
  if (closed)
    return no(`run ${run} is closed (${closed.how}): it accepts no commands`, "skein run starts another");
  const isForPlanner =
    command.type === "steer" ||
    (command.type === "decline" && command.task === undefined && unapproved.size === 0);
  if (plan !== undefined && isForPlanner)
    return no(
      `run ${run} follows a plan: there is no planner to tell`,
      `skein cancel ${run} <task> cancels a task; to change the plan: skein stop ${run}, edit its file, skein run it`,
    );
  if (command.type !== "answer" || questions.has(command.question)) return undefined;
  const open = [...questions.keys()].join(", ");
  return no(
    `run ${run} has no question ${command.question}; ${open === "" ? "no question is open" : `open: ${open}`}`,
  );
}

/** What the run made of a letter that was sent to its engine. */
export async function answerTo(letter: Letter, run: string, signal: AbortSignal): Promise<Told> {
  const heard = await letter.answer(AbortSignal.any([signal, AbortSignal.timeout(MAX_ANSWER_MS)]));
  if (heard?.is === "heard") return { is: "heard" };
  if (heard) return no(`run ${run} refused: ${heard.reason}`);
  const isBack = await letter.withdraw();
  const message = `run ${run} did not answer within ${MAX_ANSWER_MS / 1000} s; ${isBack ? "nothing was sent" : "the message may have arrived"}`;
  return { failure: failure("timed-out", message, `skein logs ${run} shows whether it did`) };
}

/** A pause ends with every resume, and a whole run is cancelled or resumed by a process of its own. */
const NEEDS_A_PROCESS: ReadonlySet<MailboxMessage["type"]> = new Set(["pause", "resume", "cancel"]);
const isOfTask = (command: MailboxMessage) =>
  command.type === "cancel" && command.task !== undefined && command.task !== ROOT;

const no = (message: string, next?: string): Failed => ({ failure: failure("policy", message, next) });
