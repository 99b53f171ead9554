/** `skein salvage`: lists kept work, shows it, and restores it as a branch. */

import { dropSalvaged, entryName, restoreSalvaged } from "../../../app/salvage.ts";
import { salvageOf } from "../../../compose/project.ts";
import { hasFailed } from "../../../core/result.ts";
import { closest } from "../../../text/closest.ts";
import { ago, harmless, short } from "../../../text/words.ts";
import { hasExit, NEVER, openHere } from "../acts/project.ts";
import { table, wrapped } from "../columns.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { sayRefused } from "../refusals.ts";
import { type AddTo, addRepo, examples, type RepoOption, type RestoreOptions } from "./options.ts";

export const addSalvage: AddTo = (command, perform) => {
  const salvage = addRepo(command)
    .description(
      "Lists the unfinished work of attempts that were killed, timed out or failed; restores an entry as a branch, or " +
        "drops it. Your checkout is never touched.",
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
    .allowExcessArguments() // An unknown subcommand is refused below, with a suggestion.
    .action((options: RepoOption, { args: [typed] }: { readonly args: readonly string[] }) =>
      perform(async (context) =>
        typed === undefined ? listSalvage(context, options) : unknownPart(context, typed),
      ),
    );
  addRepo(salvage.command("restore <entry>"))
    .description("create a branch from an entry")
    .option("--branch <name>", "the branch name (default: skein-salvage/<entry>)")
    .action((entry: string, options: RepoOption & { readonly branch?: string }) =>
      perform((context) => restoreSalvage(context, { ...options, entry })),
    );
  addRepo(salvage.command("drop <entry>"))
    .description("delete an entry")
    .action((entry: string, options: RepoOption) =>
      perform((context) => dropSalvage(context, { ...options, entry })),
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

const listSalvage: Act<RepoOption> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const entries = await salvageOf(project).list(NEVER);
  if (hasFailed(entries)) return refuse(context, EXIT.configuration, entries.failure);
  if (context.json)
    writeJson(context, { entries: entries.map((entry) => ({ entry: entryName(entry), ...entry })) });
  else if (entries.length === 0)
    say(
      context,
      wrapped("There is no salvaged work. `skein show <run>` lists the branches of attempts that handed in."),
    );
  else {
    const rows = entries.map((entry) => [
      entryName(entry),
      short(entry.commit),
      ago(context.now() - entry.atMs),
      harmless(entry.subject, 80),
    ]);
    const [head = "", ...rest] = table([["ENTRY", "COMMIT", "KEPT", "TASK"], ...rows]);
    say(context, paint(context.out, "quiet", head));
    for (const line of rest) say(context, line);
    say(context, `\nShow one: git show <commit>. Create a branch from it: skein salvage restore <entry>`);
  }
  return EXIT.done;
};

const restoreSalvage: Act<RestoreOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const made = await restoreSalvaged(options, { salvage: salvageOf(project) }, NEVER);
  if (hasFailed(made)) return sayRefused(context, made);
  const { branch, commit } = made;
  if (context.json) writeJson(context, { entry: options.entry, branch, commit });
  else say(context, `the branch ${branch} is at ${short(commit)}. Show it: git log -p -1 ${branch}`);
  return EXIT.done;
};

const dropSalvage: Act<RestoreOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const dropped = await dropSalvaged(options, { salvage: salvageOf(project) }, NEVER);
  if (hasFailed(dropped)) return sayRefused(context, dropped);
  if (context.json) writeJson(context, { entry: options.entry, dropped: dropped.commit });
  else say(context, `${options.entry} is dropped; its commit was ${dropped.commit}`);
  return EXIT.done;
};
