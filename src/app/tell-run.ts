/** Sends a command to a run and waits for its answer; used by the command line, the terminal view and the web page. */
import { fromSettings, problemText } from "../config/index.ts";
import { failure } from "../core/failure.ts";
import type { RunEnd } from "../core/log/event.ts";
import type { RunState } from "../core/log/state.ts";
import { hasFailed } from "../core/result.ts";
import { ROOT } from "../core/task.ts";
import type { Letter, MailboxMessage } from "../ports/mailbox.ts";
import type { RunRecord } from "../ports/runs.ts";
import { cancelRun } from "./cancel-run.ts";
import type { Parts } from "./parts.ts";
import { misconfigured, misused, type Refused, refused } from "./refused.ts";
import type { SeenRun } from "./see-run.ts";
import { taskIn } from "./which-run.ts";

/** In ms. An engine answers as soon as the command is in its log; it may be busy writing for a moment. */
const MAX_ANSWER_MS = 15_000;
/** A message becomes part of a planner's or worker's brief. */
const MAX_MESSAGE_CHARS = 20_000;

type Told =
  | { readonly is: "heard" }
  /** No process drives the run; `note` says what that means for the command. */
  | { readonly is: "stopped"; readonly note: string }
  /** The run was stopped, and this process has cancelled it. `kept`: workspaces that could not be cleaned up. */
  | { readonly is: "closed"; readonly how: RunEnd; readonly kept: readonly string[]; readonly note: string };

type TellRequest = SeenRun & { readonly command: MailboxMessage };
type TellParts = Pick<Parts, "mailboxOf" | "openWorld">;

/** If the run is cancelled here, `seen` is updated with the new events. */
export async function tellRun(
  request: TellRequest,
  parts: TellParts,
  signal: AbortSignal,
): Promise<Told | Refused> {
  const { home, seen } = request;
  const { run } = home.record;
  const why = wrongText(request.command) ?? whyUnheard(home.record, seen.state, request.command);
  if (why) return why;
  const command = withTask(request);
  if (hasFailed(command)) return command;
  if ((await home.owner()) === undefined) {
    const note = `run ${run} is stopped: there is nothing to pause. To continue: skein resume ${run}`;
    if (command.type === "pause") return { is: "stopped", note }; // A resume would end the pause at once.
    if (command.type === "resume") return no(`run ${run} is stopped`, `skein resume ${run}`);
    if (isOfWholeRun(command)) return cancelHere({ ...request, command }, parts, signal);
  }
  const letter = await parts.mailboxOf(home).send(command);
  if (hasFailed(letter)) return refused("repository", letter.failure);
  if ((await home.owner()) !== undefined) return answerTo(letter, run, signal);
  return {
    is: "stopped",
    note: `run ${run} is stopped; this applies when you resume it: skein resume ${run}`,
  };
}

/** An empty message, for example an unset variable in a script, would cost an agent's turn and tell it nothing. */
function wrongText(command: MailboxMessage): Refused | undefined {
  const text = textIn(command);
  if (text === undefined) return undefined;
  const [what, who] = command.type === "answer" ? ["answer", "worker"] : ["message", "planner"];
  if (text.length > MAX_MESSAGE_CHARS)
    return misused(
      `the ${what} has ${text.length} characters; at most ${MAX_MESSAGE_CHARS} are accepted`,
      "put the details into a file of the repository, and name the file",
    );
  if (text.trim() !== "" || command.type === "cancel") return undefined;
  return misused(
    `the ${what} is empty`,
    `say what the ${who} should know${what === "message" ? ": a message costs one of its turns" : ""}`,
  );
}

function textIn(command: MailboxMessage): string | undefined {
  if (command.type === "steer") return command.message;
  if (command.type === "answer") return command.text;
  return command.type === "decline" || command.type === "cancel" ? command.reason : undefined;
}

/** Refuses commands that no engine would accept, whether a process drives the run or not. */
function whyUnheard(
  { run, plan }: RunRecord,
  { closed, questions, unapproved }: RunState,
  command: MailboxMessage,
): Refused | undefined {
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

/** Replaces a task's name by its id, which the engine needs. */
function withTask({ command, ...run }: TellRequest): MailboxMessage | Refused {
  if (!("task" in command) || command.task === undefined) return command;
  const task = taskIn(run, command.task);
  return typeof task === "string" ? { ...command, task } : task;
}

type Cancel = Extract<MailboxMessage, { readonly type: "cancel" }>;
const isOfWholeRun = (command: MailboxMessage): command is Cancel =>
  command.type === "cancel" && (command.task ?? ROOT) === ROOT;

/** The command also goes into the mailbox, in case this process is killed. */
async function cancelHere(
  { home, seen, command }: SeenRun & { readonly command: Cancel },
  { mailboxOf, openWorld }: TellParts,
  signal: AbortSignal,
): Promise<Told | Refused> {
  const { run, settings } = home.record;
  const read = fromSettings(settings);
  if ("problems" in read)
    return misconfigured(
      `the recorded configuration of run ${run} cannot be used`,
      undefined,
      read.problems.map(problemText),
    );
  const letter = await mailboxOf(home).send(command);
  if (hasFailed(letter)) return refused("repository", letter.failure);
  const end = await cancelRun({ ...command, home, seen, config: read.config }, { openWorld }, signal);
  if (!hasFailed(end) && end.is === "driven") return answerTo(letter, run, signal);
  await letter.withdraw();
  if (hasFailed(end)) return refused(signal.aborted ? "stopped" : "run", end.failure);
  const kept = end.kept.map((what) => `a workspace could not be cleaned up: ${what}`);
  return { ...end, kept, note: [`run ${run} is closed: ${end.how}`, ...kept].join("; ") };
}

/** The engine's answer to a command, or why there is none. */
async function answerTo(letter: Letter, run: string, signal: AbortSignal): Promise<Told | Refused> {
  const heard = await letter.answer(AbortSignal.any([signal, AbortSignal.timeout(MAX_ANSWER_MS)]));
  if (heard?.is === "heard") return { is: "heard" };
  if (heard) return no(`run ${run} refused: ${heard.reason}`);
  const isBack = await letter.withdraw();
  const sent = isBack ? "nothing was sent" : "the message may have arrived";
  const next = `skein logs ${run} shows whether it did`;
  return signal.aborted
    ? refused("stopped", failure("interrupted", `stopped before run ${run} answered; ${sent}`, next))
    : refused(
        "run",
        failure("timed-out", `run ${run} did not answer within ${MAX_ANSWER_MS / 1000} s; ${sent}`, next),
      );
}

const no = (message: string, next?: string): Refused => refused("run", failure("policy", message, next));
