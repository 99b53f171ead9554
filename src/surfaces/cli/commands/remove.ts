/** `skein remove`: adds the options for removing a closed run, or all runs older than an age. */
import { type AddTo, addRepo, examples, type RemoveOptions } from "./options.ts";

export const addRemove: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Removes a closed run: its branches, notes and other refs, its workspaces, its transcripts and its log. Asks " +
        "first, and lists what would be lost: work that landed but was never delivered, and kept work that never landed. " +
        "The notes with the proofs stay if something of the run was delivered, because they then belong to your commits. " +
        "An open run is refused: `skein cancel` it first. A branch that is checked out is never removed. If it is " +
        "stopped half way, call it again.\n\n" +
        "With --older-than, removes all runs that were closed longer ago. A run of which something landed and was never " +
        "delivered stays, and so does one that is open; each is named with the reason.",
    )
    .option("--yes", "do not ask; still refuses to lose work that landed but was never delivered")
    .option("--undelivered", "with --yes: also lose work that landed but was never delivered")
    .option("--older-than <age>", "instead of a run: all that were closed longer ago, such as 30d, 12h or 0")
    .addHelpText(
      "after",
      examples(
        "skein remove 1115-k7qd",
        "skein remove 1115-k7qd --yes",
        "skein cancel 1115-k7qd && skein remove 1115-k7qd --yes --undelivered",
        "skein remove --older-than 30d",
      ),
    )
    .action((run: string | undefined, options: Omit<RemoveOptions, "run">) =>
      perform(async (context) =>
        run === undefined || options.olderThan !== undefined
          ? (await import("../acts/remove-old.ts")).removeOld(context, { ...options, ...(run && { run }) })
          : (await import("../acts/remove.ts")).remove(context, { ...options, run }),
      ),
    );
};
