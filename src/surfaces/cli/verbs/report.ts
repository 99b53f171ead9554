/** `skein report`: of which run is the end to be said again? */
import { type AddVerb, addRepo, examples, type RepoOption } from "./options.ts";

export const addReport: AddVerb = (program, perform) => {
  addRepo(program.command("report [run]"))
    .summary("print again how a run ended: what landed, what did not, and why")
    .description(
      "What landed, what was tried again and why, what is not done, time and money: what `skein run` printed at the " +
        "end. Of a run that is not over: what is there so far. Without a run: the one that is open, else the newest.",
    )
    .addHelpText("after", examples("skein report", "skein report 1115-k7qd", "skein report 1115-k7qd --json"))
    .action((run: string | undefined, options: RepoOption) =>
      perform(async (context) =>
        (await import("../acts/report.ts")).report(
          context,
          run === undefined ? options : { ...options, run },
        ),
      ),
    );
};
