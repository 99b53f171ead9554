/** `skein logs`: which events are told? */
import { type AddVerb, addRepo, examples, type LogsOptions } from "./options.ts";

export const addLogs: AddVerb = (program, perform) => {
  addRepo(program.command("logs [run]"))
    .summary("what happened in a run, line by line")
    .description(
      "What happened in a run, with times. With --json every event in full, one a line. " +
        "Without a run: the one that is open, else the newest.",
    )
    .option("-f, --follow", "go on telling until the run closes; Ctrl-C ends it")
    .option("--task <task>", "only what concerns this task, and what is below it")
    .addHelpText(
      "after",
      examples(
        "skein logs 1115-k7qd",
        "skein logs 1115-k7qd -f",
        "skein logs 1115-k7qd --task parser --json",
      ),
    )
    .action((run: string | undefined, options: Omit<LogsOptions, "run">) =>
      perform(async (context) =>
        (await import("../acts/logs.ts")).logs(context, run === undefined ? options : { ...options, run }),
      ),
    );
};
