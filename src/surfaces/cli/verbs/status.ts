/** `skein status`: of what is the state asked? */
import { type AddVerb, addRepo, examples, type RepoOption } from "./options.ts";

export const addStatus: AddVerb = (program, perform) => {
  addRepo(program.command("status [run]"))
    .summary("which runs there are, or how one of them stands")
    .description("Without a run: the runs of this repository, newest first. With one: how it stands now.")
    .addHelpText("after", examples("skein status", "skein status 1115-k7qd", "skein status --json"))
    .action((run: string | undefined, options: RepoOption) =>
      perform(async (context) =>
        (await import("../acts/status.ts")).status(
          context,
          run === undefined ? options : { ...options, run },
        ),
      ),
    );
};
