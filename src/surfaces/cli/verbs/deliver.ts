/** `skein deliver`: which run is brought to the user's branch, and may the checkout change? */
import { type AddVerb, addRepo, type DeliverOptions, examples } from "./options.ts";

export const addDeliver: AddVerb = (program, perform) => {
  addRepo(program.command("deliver [run]"))
    .summary("bring what landed to the branch that the run started from")
    .description(
      "Moves the branch that a run started from to the run's target; by default of the newest closed run that " +
        "has landed something which that branch has not. " +
        "It is the only command that touches a branch of yours. If that branch has moved meanwhile, it is merged " +
        "into the target first, which is gated again. A branch that is checked out is moved only with " +
        "--into-checkout, and only if nothing is uncommitted there.",
    )
    .option("--branch <name>", "the branch to move, if not the one that the run started from")
    .option("--into-checkout", "also if the branch is checked out: its files change, by git merge --ff-only")
    .option("--partial", "also if the run is not done: what landed so far; never if it is going on or is red")
    .addHelpText("after", examples("skein deliver", "skein deliver 1115-k7qd --into-checkout"))
    .action((run: string | undefined, options: Omit<DeliverOptions, "run">) =>
      perform(async (context) =>
        (await import("../acts/deliver.ts")).deliver(
          context,
          run === undefined ? options : { ...options, run },
        ),
      ),
    );
};
