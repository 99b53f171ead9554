/** `skein show`: what of a run is to be seen? */
import { type AddVerb, addRepo, examples, type RepoOption } from "./options.ts";

export const addShow: AddVerb = (program, perform) => {
  addRepo(program.command("show <run> [task]"))
    .summary("the tasks of a run as a tree, or one task in full")
    .description(
      "The tasks of a run as a tree, or one task in full: what it asks for, its attempts and why they failed, what " +
        "was handed in, and where its branch, its transcripts and its kept work are. " +
        "A task is named by its id (t.2.1), its whole name (parser/lexer), or its own name.",
    )
    .addHelpText("after", examples("skein show 1115-k7qd", "skein show 1115-k7qd parser/lexer"))
    .action((run: string, task: string | undefined, options: RepoOption) =>
      perform(async (context) =>
        (await import("../acts/show.ts")).show(context, {
          ...options,
          run,
          ...(task === undefined ? {} : { task }),
        }),
      ),
    );
};
