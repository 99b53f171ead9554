/** `skein show`: what of a run is to be seen? */
import type { Command } from "commander";
import { type AddVerb, addRepo, examples, type RepoOption } from "./options.ts";

export const addShow: AddVerb = (program, perform) => {
  addRepo(program.command("show [run] [task]"))
    .summary("the tasks of a run as a tree, or one task in full")
    .description(
      "The tasks of a run as a tree, or one task in full: what it asks for, its attempts and why they failed, what " +
        "was handed in, and where its branch, its transcripts and its kept work are. " +
        "A task is named by its id (t.2.1), its whole name (parser/lexer), or its own name. " +
        "Without a run: the one that is open, else the newest.",
    )
    .option(
      "--flaky",
      "instead: all tests that failed and passed on the same tree, in any run of this repository",
    )
    .addHelpText(
      "after",
      examples(
        "skein show",
        "skein show 1115-k7qd",
        "skein show 1115-k7qd parser/lexer",
        "skein show --flaky",
      ),
    )
    .action((run: string | undefined, task: string | undefined, options: Said, command: Command) => {
      const { flaky, ...rest } = options;
      if (flaky && run !== undefined) command.error("error: --flaky is of all runs: name none");
      return perform(async (context) => {
        const { show } = await import("../acts/show.ts");
        if (flaky) return show(context, { ...rest, flaky });
        return show(context, {
          ...rest,
          ...(run === undefined ? {} : { run }),
          ...(task === undefined ? {} : { task }),
        });
      });
    });
};

type Said = RepoOption & { readonly flaky?: true };
