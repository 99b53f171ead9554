/** `skein remove`: the options of removing a closed run. */
import { type AddTo, addRepo, examples, type RemoveOptions } from "./options.ts";

export const addRemove: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Removes a closed run: its branches, notes and other refs, its workspaces, its transcripts and its log. Asks " +
        "first, and lists what would be lost: work that landed but was never delivered, and kept work that never landed. " +
        "The notes with the proofs stay if something of the run was delivered, because they then belong to your commits. " +
        "An open run is refused: `skein cancel` it first. A branch that is checked out is never removed. If it is " +
        "stopped half way, call it again.",
    )
    .option("--yes", "do not ask; still refuses to lose work that landed but was never delivered")
    .option("--undelivered", "with --yes: also lose work that landed but was never delivered")
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
