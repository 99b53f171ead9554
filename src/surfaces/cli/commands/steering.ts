/** `skein pause`, `steer`, `answer`, `approve`, `cancel`: sends a command to a run and waits for its confirmation. */
import type { Command } from "commander";
import type { Parts } from "../../../app/parts.ts";
import type { Refused } from "../../../app/refused.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import { tellRun } from "../../../app/tell-run.ts";
import { runToTell, taskIn } from "../../../app/which-run.ts";
import { partsOf } from "../../../compose/parts.ts";
import { nameOf } from "../../../core/log/state.ts";
import { hasFailed } from "../../../core/result.ts";
import type { TaskId } from "../../../core/task.ts";
import { ROOT } from "../../../core/task.ts";
import { viewOf } from "../../../core/view/view.ts";
import type { MailboxMessage } from "../../../ports/mailbox.ts";
import type { Project } from "../../../ports/project.ts";
import { harmless } from "../../../text/words.ts";
import { hasExit, openHere, orExit } from "../acts/project.ts";
import { stopOnSignal } from "../acts/signals.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";
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
      "Sends a message to the planner and starts a planner turn for it, at once, or when a pause or a pending approval " +
        "ends. Without a run: the only open one.",
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
        "what the gate, CI or hooks run, or what steers agents, lands only after your approval; without a task, all that wait are " +
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
        "progress may still succeed. Without a task, closes the whole run as cancelled. If the run is stopped, cancelling " +
        "the run takes effect at once; cancelling one task takes effect when you resume the run.",
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

const tell: Act<TellOptions> = async (context, { command, ...options }) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  if (command.type === "steer" && options.run === undefined && (await isRun(project, command.message)))
    return usage(
      context,
      `there is no message for run ${command.message}`,
      `skein steer ${command.message} "<message>"`,
    );
  const found = await orExit(context, runToTell(options.run, project));
  return hasExit(found) ? found.exit : sayTold(context, { ...found, command }, partsOf(project, context.env));
};

const isRun = async ({ runs }: Project, name: string): Promise<boolean> =>
  (await runs.list()).some((entry) => !hasFailed(entry) && entry.run === name);

export async function sayTold(
  context: Context,
  { command, ...found }: SeenRun & { readonly command: MailboxMessage },
  parts: Parts,
): Promise<ExitCode> {
  const { home, seen } = found;
  const { run } = home.record;
  const isClosed = seen.state.closed !== undefined;
  using stop = stopOnSignal();
  const told = await tellRun({ ...found, command }, parts, stop.signal);
  if (hasFailed(told)) return sayRefusal(context, told, isClosed);
  if (context.json)
    writeJson(context, {
      ...{ run, command: command.type, heard: told.is !== "stopped" },
      ...(told.is === "closed" && { closed: told.how }),
    });
  else if (told.is === "heard") say(context, harmless(WORDS[command.type](run, taskName(found, command))));
  else if (told.is === "stopped") say(context, told.note);
  else {
    for (const text of told.kept) say(context, harmless(text));
    await sayEnd(context, parts.project, home, { view: viewOf(seen) });
  }
  return EXIT.done;
}

/** Programs that read JSON decide by the kind whether to retry. */
function sayRefusal(context: Context, why: Refused, isClosed: boolean): ExitCode {
  const { because, failure } = why;
  if (because !== "run") return sayRefused(context, why);
  const kinds: Readonly<Record<string, string>> = {
    policy: isClosed ? "closed" : "refused",
    "timed-out": "unheard",
  };
  return refuse(context, EXIT.notAllDone, { ...failure, kind: kinds[failure.kind] ?? failure.kind });
}

function taskName(run: SeenRun, command: MailboxMessage): string | undefined {
  const task = "task" in command && command.task !== undefined ? taskIn(run, command.task) : ROOT;
  return typeof task === "string" && task !== ROOT ? nameOf(run.seen.state, task) : undefined;
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
  answer: (run) => `run ${run} has your answer, and continues with it`,
  steer: (run) =>
    `run ${run} has your message: a planner turn starts for it, at once, or when a pause or a pending approval ends`,
  cancel: (run, task) =>
    `${task === undefined ? "" : `${task} of `}run ${run} is being cancelled; the landing in progress may still succeed. Watch it: skein logs ${run} -f`,
};
