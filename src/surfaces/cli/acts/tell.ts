/** `skein pause`, `steer`, `approve`, `cancel`: how is something said to a run, and was it heard? */
import { cancelStopped, mailboxOf, type Project } from "../../../compose.ts";
import { nameOf, type RunState } from "../../../core/state.ts";
import { ROOT } from "../../../core/task.ts";
import { findTask, viewOf } from "../../../core/view.ts";
import type { Letter, Said } from "../../../ports/mailbox.ts";
import { hasFailed } from "../../../ports/repository.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { TellOptions } from "../verbs/options.ts";
import { harmless } from "../words.ts";
import { reconfigure } from "./configuration.ts";
import { unknownTask } from "./logs.ts";
import { type Exit, hasExit, openHere, openSeen, runsWhere, type SeenRun, seeRun } from "./project.ts";
import { sayEnd } from "./report.ts";
import { stopOnSignal } from "./signals.ts";

/** An engine answers as soon as what was said is in its log; it may be busy writing for a moment. */
const MAX_ANSWER_MS = 15_000;

export const tell: Act<TellOptions> = async (context, { command: said, ...options }) => {
  if (saysNothing(said))
    return said.type === "answer"
      ? usage(context, "the answer is empty", "say what the worker is to know")
      : usage(context, "the message is empty", "say what the planner is to know: it costs one of its turns");
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  if (said.type === "steer" && options.run === undefined && (await isRun(project, said.message)))
    return usage(
      context,
      `nothing was said to run ${said.message}`,
      `skein steer ${said.message} "<what the planner is to know>"`,
    );
  const found = options.run
    ? await openSeen(context, project, options.run)
    : await onlyOpen(
        await runsWhere(context, project, ({ seen }) => seen.state.closed === undefined),
        context,
      );
  if (hasExit(found)) return found.exit;
  const { home, seen } = found;
  const { record } = home;
  const { run } = record;
  if (seen.state.closed)
    return refuse(context, EXIT.notAllDone, {
      kind: "closed",
      message: `run ${run} is closed (${seen.state.closed.how}): it hears nothing any more`,
      next: "skein run starts another",
    });
  if (record.plan !== undefined && isForPlanner(said, seen.state))
    return refuse(context, EXIT.notAllDone, {
      kind: "refused",
      message: `run ${run} follows a plan: there is no planner who could hear it`,
      next: `skein cancel ${run} <task> gives up a task; to change the plan: skein stop ${run}, edit its file, skein run it`,
    });
  if (said.type === "answer" && !seen.state.questions.has(said.question)) {
    const open = [...seen.state.questions.keys()].join(", ");
    return refuse(context, EXIT.notAllDone, {
      kind: "refused",
      message: `run ${run} asks no ${said.question}; ${open === "" ? "no question is open" : `open: ${open}`}`,
    });
  }
  const command = withTask(context, found, said);
  if (hasExit(command)) return command.exit;
  const task = "task" in command ? command.task : undefined;
  if (command.type === "cancel" && (task === undefined || task === ROOT))
    return cancel(context, project, home, command);
  return tellRun(context, home, command, task === undefined ? undefined : nameOf(seen.state, task));
};

/** An unset variable in a script, say: a planner would be asked again, and told nothing. */
const saysNothing = (said: Said): boolean =>
  (said.type === "steer" && said.message.trim() === "") ||
  (said.type === "decline" && said.reason.trim() === "") ||
  (said.type === "answer" && said.text.trim() === "");

const isForPlanner = (said: Said, { asked }: RunState): boolean =>
  said.type === "steer" || (said.type === "decline" && said.task === undefined && asked.size === 0);
const isRun = async ({ runs }: Project, name: string): Promise<boolean> =>
  (await runs.list()).some((entry) => !hasFailed(entry) && entry.run === name);

/** A task is named as people do. */
function withTask(context: Context, { home, seen }: SeenRun, said: Said): Said | Exit {
  if (!("task" in said) || said.task === undefined) return said;
  const task = findTask(seen.state, said.task);
  if (typeof task === "string") return { ...said, task };
  const message = unknownTask(said.task, task.several);
  return { exit: usage(context, message, `skein show ${home.record.run} lists them`) };
}

function onlyOpen(open: readonly SeenRun[], context: Context): SeenRun | { readonly exit: ExitCode } {
  const [one, ...others] = open;
  if (one === undefined)
    return { exit: usage(context, "there is no open run", "`skein status` lists the runs") };
  if (others.length === 0) return one;
  const names = open.map(({ home }) => home.record.run).join(", ");
  return { exit: usage(context, `several runs are open: ${names}`, "name the one that is meant") };
}

type Cancel = Extract<Said, { readonly type: "cancel" }>;

/** Of a run that nobody drives: done here and now. Left in the mailbox besides: if this is killed, the next one hears it. */
async function cancel(context: Context, project: Project, home: RunHome, command: Cancel): Promise<ExitCode> {
  if ((await home.owner()) !== undefined) return tellRun(context, home, command);
  const config = reconfigure(context, home.record.settings, {});
  if (hasExit(config)) return config.exit;
  const letter = await mailboxOf(home).send(command);
  if (hasFailed(letter)) return refuse(context, EXIT.configuration, letter.failure);
  using stop = stopOnSignal();
  const options = { ...command, config, env: context.env };
  const end = await cancelStopped(project, home, options, stop.signal);
  if (!hasFailed(end) && end.is === "driven") return sayHeard(context, home, command, letter);
  await letter.withdraw();
  if (hasFailed(end))
    return refuse(context, stop.signal.aborted ? EXIT.interrupted : EXIT.notAllDone, end.failure);
  const { run } = home.record;
  if (context.json) {
    writeJson(context, { run, command: command.type, heard: true, closed: end.how });
    return EXIT.done;
  }
  for (const what of end.kept) say(context, harmless(`a workspace could not be given back: ${what}`));
  const seen = await seeRun(context, home);
  if (hasExit(seen)) return seen.exit;
  await sayEnd(context, project, home, { view: viewOf(seen) });
  return EXIT.done;
}

/** Heard now if somebody drives the run; else it waits for whoever does next. */
export async function tellRun(
  context: Context,
  home: RunHome,
  command: Said,
  task?: string,
): Promise<ExitCode> {
  const { run } = home.record;
  // It would only be in the way of whoever resumes it, which ends every pause.
  if (command.type === "pause" && (await home.owner()) === undefined) return notGoing(context, run);
  const letter = await mailboxOf(home).send(command);
  if (hasFailed(letter)) return refuse(context, EXIT.configuration, letter.failure);
  const owner = await home.owner();
  if (owner === undefined) {
    if (context.json) writeJson(context, { run, command: command.type, heard: false });
    else say(context, `run ${run} is not going on; it will hear this when it does: skein resume ${run}`);
    return EXIT.done;
  }
  return sayHeard(context, home, command, letter, task);
}

async function sayHeard(
  context: Context,
  { record: { run } }: RunHome,
  command: Said,
  letter: Letter,
  task?: string,
): Promise<ExitCode> {
  const heard = await letter.answer(AbortSignal.timeout(MAX_ANSWER_MS));
  if (heard === undefined) {
    const gone = await letter.withdraw();
    return refuse(context, EXIT.notAllDone, {
      kind: "unheard",
      message: `run ${run} did not answer within ${MAX_ANSWER_MS / 1000} s; ${gone ? "nothing was said to it" : "it may have heard it"}`,
      next: `skein logs ${run} shows whether it did`,
    });
  }
  if (heard.is === "refused")
    return refuse(context, EXIT.notAllDone, {
      kind: "refused",
      message: `run ${run} does nothing about it: ${heard.reason}`,
    });
  if (context.json) writeJson(context, { run, command: command.type, heard: true });
  else say(context, harmless(WORDS[command.type](run, task)));
  return EXIT.done;
}

function notGoing(context: Context, run: string): ExitCode {
  if (context.json) writeJson(context, { run, command: "pause", heard: false });
  else say(context, `run ${run} is not going on: there is nothing to pause. To go on: skein resume ${run}`);
  return EXIT.done;
}

const WORDS: Readonly<Record<Said["type"], (run: string, task?: string) => string>> = {
  pause: (run) =>
    `run ${run} is paused: nothing new is started, what is at work goes on. To end the pause: skein resume ${run}`,
  resume: (run) => `run ${run} goes on`,
  approve: (run, task) =>
    `${task === undefined ? "" : `${task} of `}run ${run} has your approval. Watch it: skein logs ${run} -f`,
  decline: (run, task) =>
    task === undefined
      ? `run ${run} has it: the planner, or the worker, is told why, and tries again`
      : `run ${run} has it: ${task} is done again, and its worker is told why`,
  answer: (run) => `run ${run} has your answer: the worker that asked goes on with it`,
  steer: (run) => `run ${run} has it: the planner hears it at its next turn`,
  cancel: (run, task) =>
    `${task === undefined ? "" : `${task} of `}run ${run} is being cancelled; what is landing at this moment may still land. Watch it: skein logs ${run} -f`,
};
