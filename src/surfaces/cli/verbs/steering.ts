/** `skein pause`, `steer`, `answer`, `approve` and `cancel`: what can be said to a run while it goes on? */
import type { Command } from "commander";
import type { TaskId } from "../../../core/task.ts";
import { type AddVerb, addRepo, examples, type RepoOption, type TellOptions } from "./options.ts";

type WithRun = RepoOption & { readonly run?: string };

const tell = async (options: TellOptions) => {
  const { tell: act } = await import("../acts/tell.ts");
  return (context: Parameters<typeof act>[0]) => act(context, options);
};

export const addPause: AddVerb = (program, perform) => {
  addRepo(program.command("pause [run]"))
    .summary("start nothing new in a run, until it is resumed")
    .description(
      "Nothing new is started; what is at work goes on and lands. The process that drives the run stays, and " +
        "`skein resume` ends the pause. By default the one run that is open.",
    )
    .addHelpText("after", examples("skein pause", "skein pause 1115-k7qd"))
    .action((run: string | undefined, options: RepoOption) =>
      perform(async (context) =>
        (await tell({ ...options, ...named(run), command: { type: "pause" } }))(context),
      ),
    );
};

export const addSteer: AddVerb = (program, perform) => {
  addRepo(program.command("steer <run-or-message> [message]"))
    .usage('[options] [run] "<message>"')
    .summary("tell the planner something while the run goes on")
    .description(
      "The planner hears it at its next turn, which comes at once; after a pause, or an approval that is waited for, " +
        "where there is one. By default of the one run that is open.",
    )
    .option("--run <run>", "which run: the same as naming it before the message")
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
      return perform(async (context) =>
        (await tell({ ...options, ...named(name), command: { type: "steer", message } }))(context),
      );
    });
};

export const addAnswer: AddVerb = (program, perform) => {
  addRepo(program.command("answer <run> <question> <text>"))
    .summary("answer a question that a worker asks")
    .description(
      "A worker that lacks something asks, and all else goes on meanwhile. `skein status` lists the open questions with " +
        "their numbers and when the default of each is taken. The worker goes on with your words in the same conversation.",
    )
    .addHelpText("after", examples('skein answer 1115-k7qd q1 "Use PostgreSQL 16"'))
    .action((run: string, question: string, text: string, options: RepoOption) =>
      perform(async (context) =>
        (await tell({ ...options, run, command: { type: "answer", question, text } }))(context),
      ),
    );
};

type Approved = RepoOption & { readonly decline?: string };

export const addApprove: AddVerb = (program, perform) => {
  addRepo(program.command("approve [run] [task]"))
    .summary("let a run go to work on the plan that it proposes, or land a task that waits for you")
    .description(
      "Where the configuration asks for it (`approve: first` or `every`, or `skein run --approve`), nobody is put to " +
        "work on a plan before you say so; `skein show` has its tasks. With `gateChanges: ask`, a task that changes what " +
        "the gate runs, or what steers agents, does not land before you say so; without a task all that wait are " +
        "meant. By default of the one run that is open.",
    )
    .option(
      "--decline <reason>",
      "no: the plan's tasks are cancelled, the task is made again; the planner or the worker is told why",
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
        return (await tell({ ...options, ...named(run), command }))(context);
      }),
    );
};

export const addCancel: AddVerb = (program, perform) => {
  addRepo(program.command("cancel <run> [task]"))
    .summary("give up a task with everything below it, or the whole run")
    .description(
      "Ends what is at work on it, keeping its work under salvage, and skips what waits for it. What is being landed " +
        "at that moment may still land. Without a task the run is closed as cancelled, at once if no process runs it; a " +
        "task of such a run is cancelled when it is resumed.",
    )
    .option("--reason <text>", "why; it is kept in the log")
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
          return (await tell({ ...options, run, command }))(context);
        }),
    );
};

const named = (run: string | undefined) => (run === undefined ? {} : { run });
