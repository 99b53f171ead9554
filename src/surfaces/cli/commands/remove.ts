/** `skein remove`: which run is to be taken away, and has the person said yes already? */
import { type AddTo, addRepo, examples, type RemoveOptions } from "./options.ts";

export const addRemove: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Takes away the branches, notes and other refs of a run that is closed, its workspaces, its transcripts and its " +
        "log. Asks first, and names what would be lost: what landed and was never delivered, and kept work that never " +
        "landed. The notes with the proofs stay if something of the run was delivered: they are about commits of " +
        "yours by then. A run that is not over is refused: `skein cancel` it first. A branch that is checked out is " +
        "never removed. Stopped half way, it can be called again.",
    )
    .option("--yes", "do not ask; still refused if something that landed was never delivered")
    .option("--undelivered", "with --yes: also what landed and was never delivered")
    .addHelpText(
      "after",
      examples(
        "skein remove 1115-k7qd",
        "skein remove 1115-k7qd --yes",
        "skein cancel 1115-k7qd && skein remove 1115-k7qd --yes --undelivered",
      ),
    )
    .action((run: string, options: Omit<RemoveOptions, "run">) =>
      perform(async (context) => (await import("../acts/remove.ts")).remove(context, { ...options, run })),
    );
};
