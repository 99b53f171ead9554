/** `skein salvage`: what was kept, and how does it come back? */

import { type Project, salvageDrop, salvageList, salvageRestore } from "../../../compose.ts";
import { hasFailed } from "../../../core/result.ts";
import { closest } from "../../../text/closest.ts";
import { type Exit, hasExit, NEVER, openHere } from "../acts/project.ts";
import { table, wrapped } from "../columns.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { ago, harmless, short } from "../words.ts";
import { type AddTo, addRepo, examples, type RepoOption, type RestoreOptions } from "./options.ts";

export const addSalvage: AddTo = (command, perform) => {
  const salvage = addRepo(command)
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
        typed === undefined ? listSalvage(context, options) : unknownPart(context, typed),
      ),
    );
  addRepo(salvage.command("restore <entry>"))
    .description("make a branch of an entry")
    .option("--branch <name>", "its name (default: skein-salvage/<entry>)")
    .action((entry: string, options: RepoOption & { readonly branch?: string }) =>
      perform((context) => restoreSalvage(context, { ...options, entry })),
    );
  addRepo(salvage.command("drop <entry>"))
    .description("forget an entry")
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
  const found = await entriesOf(context, options);
  if (hasExit(found)) return found.exit;
  const { entries } = found;
  if (context.json)
    writeJson(context, { entries: entries.map((entry) => ({ entry: nameOf(entry), ...entry })) });
  else if (entries.length === 0)
    say(
      context,
      wrapped(
        "Nothing is kept under salvage. Attempts that got as far as a branch are in `skein show <run>`.",
      ),
    );
  else {
    const rows = entries.map((entry) => [
      nameOf(entry),
      short(entry.commit),
      ago(context.now() - entry.atMs),
      harmless(entry.subject, 80),
    ]);
    const [head = "", ...rest] = table([["ENTRY", "COMMIT", "KEPT", "TASK"], ...rows]);
    say(context, paint(context.out, "quiet", head));
    for (const line of rest) say(context, line);
    say(context, `\nLook at one: git show <commit>. Make a branch of it: skein salvage restore <entry>`);
  }
  return EXIT.done;
};

const restoreSalvage: Act<RestoreOptions> = async (context, options) => {
  const found = await entryOf(context, options);
  if (hasExit(found)) return found.exit;
  const { project, entry } = found;
  const { branch = `skein-salvage/${options.entry}` } = options;
  const made = await salvageRestore(project, entry, branch, NEVER);
  if (hasFailed(made)) return refuse(context, EXIT.notAllDone, made.failure);
  if (context.json) writeJson(context, { entry: options.entry, branch, commit: entry.commit });
  else say(context, `the branch ${branch} is at ${short(entry.commit)}. Look at it: git log -p -1 ${branch}`);
  return EXIT.done;
};

const dropSalvage: Act<RestoreOptions> = async (context, options) => {
  const found = await entryOf(context, options);
  if (hasExit(found)) return found.exit;
  const dropped = await salvageDrop(found.project, found.entry, NEVER);
  if (hasFailed(dropped)) return refuse(context, EXIT.notAllDone, dropped.failure);
  if (context.json) writeJson(context, { entry: options.entry, dropped: found.entry.commit });
  else say(context, `${options.entry} is dropped; its commit was ${found.entry.commit}`);
  return EXIT.done;
};

type Entries = Exclude<Awaited<ReturnType<typeof salvageList>>, { readonly failure: unknown }>;
type Entry = Entries[number];

async function entriesOf(
  context: Context,
  options: RepoOption,
): Promise<{ readonly project: Project; readonly entries: Entries } | Exit> {
  const project = await openHere(context, options);
  if (hasExit(project)) return project;
  const entries = await salvageList(project, NEVER);
  return hasFailed(entries)
    ? { exit: refuse(context, EXIT.configuration, entries.failure) }
    : { project, entries };
}

async function entryOf(
  context: Context,
  options: RestoreOptions,
): Promise<{ readonly project: Project; readonly entry: Entry } | Exit> {
  const found = await entriesOf(context, options);
  if (hasExit(found)) return found;
  const names = found.entries.map(nameOf);
  const entry = found.entries[names.indexOf(options.entry.replace(/^refs\/skein\/salvage\//, ""))];
  if (entry) return { project: found.project, entry };
  const near = closest(options.entry, names);
  const guess = near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
  return {
    exit: usage(context, `nothing is kept as ${options.entry}${guess}`, "`skein salvage` lists what is"),
  };
}

/** "<run>/<task>.<attempt>": what is typed. */
const nameOf = ({ ref }: Entry): string => ref.replace(/^refs\/skein\/salvage\//, "");
