/** `skein init`: is the file written, replaced or only shown? */
import { type AddVerb, addRepo, examples, type InitOptions } from "./options.ts";

export const addInit: AddVerb = (program, perform) => {
  addRepo(program.command("init"))
    .summary("write a first skein.yaml for this repository")
    .description(
      "Looks at the repository and writes a commented skein.yaml at its top: the gate that was found, how " +
        "workspaces are set up, and the keys that people change most, each with its default. Nothing else is " +
        "written, and a file that is there stays as it is.",
    )
    .option("--force", "replace a skein.yaml that is there")
    .option("--print", "only show what would be written")
    .addHelpText("after", examples("skein init", "skein init --print", "skein init --force"))
    .action((options: InitOptions) =>
      perform(async (context) => (await import("../acts/init.ts")).init(context, options)),
    );
};
