/** `skein salvage`: what was kept, and how does it come back? */
import { type Project, salvageDrop, salvageList, salvageRestore } from "../../../compose.ts";
import { closest } from "../../../core/closest.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import type { RepoOption, RestoreOptions } from "../verbs/options.ts";
import { ago, harmless, short, table, wrapped } from "../words.ts";
import { type Exit, hasExit, NEVER, openHere } from "./project.ts";

export const listSalvage: Act<RepoOption> = async (context, options) => {
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

export const restoreSalvage: Act<RestoreOptions> = async (context, options) => {
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

export const dropSalvage: Act<RestoreOptions> = async (context, options) => {
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
