/** `skein salvage`: what is to be done with work that was kept? */
import { closest } from "../../../core/closest.ts";
import { type Context, usage } from "../context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { harmless } from "../words.ts";
import { type AddVerb, addRepo, examples, type RepoOption } from "./options.ts";

export const addSalvage: AddVerb = (program, perform) => {
  const salvage = addRepo(program.command("salvage"))
    .summary("work that was kept of attempts that came to nothing")
    .description(
      "What attempts had made before they were killed, timed out or failed is kept. Lists it, brings an entry back as " +
        "a branch, or drops it. Your checkout is never touched.",
    )
    .addHelpText(
      "after",
      examples(
        "skein salvage",
        "skein salvage restore 1115-k7qd/t.3.1",
        "skein salvage restore 1115-k7qd/t.3.1 --branch try-again",
        "skein salvage drop 1115-k7qd/t.3.1",
      ),
    )
    .allowExcessArguments() // What is no command of its own is refused below, with what was probably meant.
    .action((options: RepoOption, { args: [typed] }: { readonly args: readonly string[] }) =>
      perform(async (context) =>
        typed === undefined
          ? (await import("../acts/salvage.ts")).listSalvage(context, options)
          : unknownPart(context, typed),
      ),
    );
  addRepo(salvage.command("restore <entry>"))
    .description("make a branch of an entry")
    .option("--branch <name>", "its name (default: skein-salvage/<entry>)")
    .action((entry: string, options: RepoOption & { readonly branch?: string }) =>
      perform(async (context) =>
        (await import("../acts/salvage.ts")).restoreSalvage(context, { ...options, entry }),
      ),
    );
  addRepo(salvage.command("drop <entry>"))
    .description("forget an entry")
    .action((entry: string, options: RepoOption) =>
      perform(async (context) =>
        (await import("../acts/salvage.ts")).dropSalvage(context, { ...options, entry }),
      ),
    );
};

function unknownPart(context: Context, typed: string): ExitCode {
  const [near] = closest(typed, ["restore", "drop"]);
  const guess = near === undefined ? "" : ` (did you mean ${near}?)`;
  return usage(
    context,
    `skein salvage has no command '${harmless(typed, 80)}'${guess}`,
    "skein salvage --help",
  );
}
