/** `skein stop`: which run is to stop, and how soon? */
import { type AddVerb, addRepo, examples, type StopOptions } from "./options.ts";

export const addStop: AddVerb = (program, perform) => {
  addRepo(program.command("stop [run]"))
    .summary("ask a run that goes on to stop, and wait until it has")
    .description(
      "Asks the process that drives a run to stop, as Ctrl-C there would, and waits until it has. What is landing is " +
        "finished, the rest is kept; `skein resume` goes on. By default the one run that is going on. " +
        "A run that nobody drives is as stopped as can be: that is said, and the exit code is 0.",
    )
    .option("--now", "do not wait for what is landing")
    .addHelpText("after", examples("skein stop", "skein stop 1115-k7qd --now"))
    .action((run: string | undefined, options: Omit<StopOptions, "run">) =>
      perform(async (context) =>
        (await import("../acts/stop.ts")).stop(context, run === undefined ? options : { ...options, run }),
      ),
    );
};
