/** `skein pause`, `steer`, `answer`, `approve`, `cancel`: sends a command to a run and waits for its confirmation. */
import type { Command } from "commander";
import { cancelRun } from "../../../app/cancel-run.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import { answerTo, whyUnheard } from "../../../app/tell-run.ts";
import { runToTell } from "../../../app/which-run.ts";
import { partsOf } from "../../../compose/parts.ts";
import { mailboxOf } from "../../../compose/project.ts";
import { nameOf } from "../../../core/log/state.ts";
import { hasFailed } from "../../../core/result.ts";
import type { TaskId } from "../../../core/task.ts";
import { ROOT } from "../../../core/task.ts";
import { findTask, viewOf } from "../../../core/view/view.ts";
import type { Letter, MailboxMessage } from "../../../ports/mailbox.ts";
import type { Project } from "../../../ports/project.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { harmless } from "../../../text/words.ts";
import { type Exit, hasExit, NEVER, openHere, orExit } from "../acts/project.ts";
import { stopOnSignal } from "../acts/signals.ts";
import { reconfigure } from "../configuration.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { unknownTask } from "./logs.ts";
import { type AddTo, addRepo, examples, type RepoOption, type TellOptions } from "./options.ts";
import { sayEnd } from "./report.ts";

type WithRun = RepoOption & { readonly run?: string };

export const addPause: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Starts no new work; running work continues and lands. The process that drives the run stays, and " +
        "`skein resume` ends the pause. Without a run: the only open one.",
    )
    .addHelpText("after", examples("skein pause", "skein pause 1115-k7qd"))
    .action((run: string | undefined, options: RepoOption) =>
      perform((context) => tell(context, { ...options, ...named(run), command: { type: "pause" } })),
    );
};

export const addSteer: AddTo = (command, perform) => {
  addRepo(command)
    .usage('[options] [run] "<message>"')
    .description(
      "Sends a message to the planner. The planner is asked at once, or after a pause or a pending approval. " +
        "Without a run: the only open one.",
    )
    .option("--run <run>", "the run, instead of naming it before the message")
    .addHelpText(
      "after",
      examples(
        'skein steer "Leave the old API in place"',
        'skein steer 1115-k7qd "Leave the old API in place"',
      ),
    )
    .action((first: string, second: string | undefined, { run, ...options }: WithRun, command: Command) => {
      if (second !== undefined && run !== undefined) command.error("error: the run is named twice");
      const [name, message] = second === undefined ? [run, first] : [first, second];
      return perform((context) =>
        tell(context, { ...options, ...named(name), command: { type: "steer", message } }),
      );
    });
};

export const addAnswer: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Answers a worker's question; everything else continues meanwhile. `skein status` lists the open questions with " +
        "their numbers, and when the default of each is used. The worker continues in the same conversation.",
    )
    .addHelpText("after", examples('skein answer 1115-k7qd q1 "Use PostgreSQL 16"'))
    .action((run: string, question: string, text: string, options: RepoOption) =>
      perform((context) => tell(context, { ...options, run, command: { type: "answer", question, text } })),
    );
};

type Approved = RepoOption & { readonly decline?: string };

export const addApprove: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Approves a plan, or the landing of a task. With `approve: first` or `every`, or `skein run --approve`, work on a " +
        "plan starts only after your approval; `skein show` lists its tasks. With `gateChanges: ask`, a task that changes " +
        "what the gate runs, or what steers agents, lands only after your approval; without a task, all that wait are " +
        "approved. Without a run: the only open one.",
    )
    .option(
      "--decline <reason>",
      "decline instead: the plan's tasks are cancelled, or the task is retried; the planner or worker is told why",
    )
    .addHelpText(
      "after",
      examples(
        "skein approve",
        'skein approve 1115-k7qd --decline "Leave the database alone"',
        "skein approve 1115-k7qd t.3",
      ),
    )
    .action((run: string | undefined, task: string | undefined, { decline, ...options }: Approved) =>
      perform(async (context) => {
        const of = task === undefined ? {} : { task: task as TaskId };
        const command =
          decline === undefined
            ? ({ type: "approve", ...of } as const)
            : ({ type: "decline", reason: decline, ...of } as const);
        return tell(context, { ...options, ...named(run), command });
      }),
    );
};

export const addCancel: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Cancels a task: ends its agent, keeps the work under salvage, and skips the tasks that wait for it. A landing in " +
        "progress may still succeed. Without a task, closes the whole run as cancelled. If no process drives the run, it " +
        "is closed at once, but a single task is cancelled when the run is resumed.",
    )
    .option("--reason <text>", "the reason, for the log")
    .addHelpText(
      "after",
      examples("skein cancel 1115-k7qd t.3", 'skein cancel 1115-k7qd --reason "wrong goal"'),
    )
    .action(
      (run: string, task: string | undefined, { reason, ...options }: RepoOption & { reason?: string }) =>
        perform(async (context) => {
          const command = {
            type: "cancel",
            ...(task === undefined ? {} : { task: task as TaskId }),
            ...(reason === undefined ? {} : { reason }),
          } as const;
          return tell(context, { ...options, run, command });
        }),
    );
};

const named = (run: string | undefined) => (run === undefined ? {} : { run });

const tell: Act<TellOptions> = async (context, { command: said, ...options }) => {
  if (saysNothing(said))
    return said.type === "answer"
      ? usage(context, "the answer is empty", "say what the worker should know")
      : usage(
          context,
          "the message is empty",
          "say what the planner should know: a message costs one of its turns",
        );
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  if (said.type === "steer" && options.run === undefined && (await isRun(project, said.message)))
    return usage(
      context,
      `there is no message for run ${said.message}`,
      `skein steer ${said.message} "<message>"`,
    );
  const found = await orExit(context, runToTell(options.run, project));
  if (hasExit(found)) return found.exit;
  const { home, seen } = found;
  const unheard = whyUnheard(home.record, seen.state, said);
  if (unheard)
    return refuse(context, EXIT.notAllDone, {
      ...unheard.failure,
      kind: seen.state.closed ? "closed" : "refused",
    });
  const command = withTask(context, found, said);
  if (hasExit(command)) return command.exit;
  const task = "task" in command ? command.task : undefined;
  if (command.type === "cancel" && (task === undefined || task === ROOT))
    return cancel(context, project, found, command);
  return tellRun(context, home, command, task === undefined ? undefined : nameOf(seen.state, task));
};

/** For example an unset variable in a script: it would cost a planner's turn and tell it nothing. */
const saysNothing = (said: MailboxMessage): boolean =>
  (said.type === "steer" && said.message.trim() === "") ||
  (said.type === "decline" && said.reason.trim() === "") ||
  (said.type === "answer" && said.text.trim() === "");

const isRun = async ({ runs }: Project, name: string): Promise<boolean> =>
  (await runs.list()).some((entry) => !hasFailed(entry) && entry.run === name);

/** A task is named as people do. */
function withTask(context: Context, { home, seen }: SeenRun, said: MailboxMessage): MailboxMessage | Exit {
  if (!("task" in said) || said.task === undefined) return said;
  const task = findTask(seen.state, said.task);
  if (typeof task === "string") return { ...said, task };
  const message = unknownTask(said.task, task.several);
  return { exit: usage(context, message, `skein show ${home.record.run} lists them`) };
}

type Cancel = Extract<MailboxMessage, { readonly type: "cancel" }>;

/** If no process drives the run, cancels it here. The mailbox gets the command too, in case this process is killed. */
async function cancel(
  context: Context,
  project: Project,
  { home, seen }: SeenRun,
  command: Cancel,
): Promise<ExitCode> {
  if ((await home.owner()) !== undefined) return tellRun(context, home, command);
  const config = reconfigure(context, home.record.settings, {});
  if (hasExit(config)) return config.exit;
  const letter = await mailboxOf(home).send(command);
  if (hasFailed(letter)) return refuse(context, EXIT.configuration, letter.failure);
  using stop = stopOnSignal();
  const parts = partsOf(project, context.env);
  const end = await cancelRun({ ...command, home, seen, config }, parts, stop.signal);
  if (!hasFailed(end) && end.is === "driven") return sayHeard(context, home, command, letter);
  await letter.withdraw();
  if (hasFailed(end))
    return refuse(context, stop.signal.aborted ? EXIT.interrupted : EXIT.notAllDone, end.failure);
  const { run } = home.record;
  if (context.json) {
    writeJson(context, { run, command: command.type, heard: true, closed: end.how });
    return EXIT.done;
  }
  for (const what of end.kept) say(context, harmless(`a workspace could not be cleaned up: ${what}`));
  await sayEnd(context, project, home, { view: viewOf(seen) });
  return EXIT.done;
}

/** Answered now if a process drives the run; else the command waits for the next process. */
export async function tellRun(
  context: Context,
  home: RunHome,
  command: MailboxMessage,
  task?: string,
): Promise<ExitCode> {
  const { run } = home.record;
  // Resuming would end the pause at once.
  if (command.type === "pause" && (await home.owner()) === undefined) return notGoing(context, run);
  const letter = await mailboxOf(home).send(command);
  if (hasFailed(letter)) return refuse(context, EXIT.configuration, letter.failure);
  const owner = await home.owner();
  if (owner === undefined) {
    if (context.json) writeJson(context, { run, command: command.type, heard: false });
    else say(context, `run ${run} is stopped; this applies when you resume it: skein resume ${run}`);
    return EXIT.done;
  }
  return sayHeard(context, home, command, letter, task);
}

async function sayHeard(
  context: Context,
  { record: { run } }: RunHome,
  command: MailboxMessage,
  letter: Letter,
  task?: string,
): Promise<ExitCode> {
  const told = await answerTo(letter, run, NEVER);
  if (hasFailed(told)) {
    const kind = told.failure.kind === "timed-out" ? "unheard" : "refused";
    return refuse(context, EXIT.notAllDone, { ...told.failure, kind });
  }
  if (context.json) writeJson(context, { run, command: command.type, heard: true });
  else say(context, harmless(WORDS[command.type](run, task)));
  return EXIT.done;
}

function notGoing(context: Context, run: string): ExitCode {
  if (context.json) writeJson(context, { run, command: "pause", heard: false });
  else say(context, `run ${run} is stopped: there is nothing to pause. To continue: skein resume ${run}`);
  return EXIT.done;
}

const WORDS: Readonly<Record<MailboxMessage["type"], (run: string, task?: string) => string>> = {
  pause: (run) =>
    `run ${run} is paused: no new work starts, running work continues. To end the pause: skein resume ${run}`,
  resume: (run) => `run ${run} continues`,
  approve: (run, task) =>
    `${task === undefined ? "" : `${task} of `}run ${run} has your approval. Watch it: skein logs ${run} -f`,
  decline: (run, task) =>
    task === undefined
      ? `declined in run ${run}: the planner or the worker is told why, and tries again`
      : `declined in run ${run}: ${task} is retried, and its worker is told why`,
  answer: (run) => `run ${run} has your answer: the worker that asked continues with it`,
  steer: (run) => `run ${run} has your message: the planner reads it at its next turn`,
  cancel: (run, task) =>
    `${task === undefined ? "" : `${task} of `}run ${run} is being cancelled; the landing in progress may still succeed. Watch it: skein logs ${run} -f`,
};
