/** Lists, restores and drops what was kept of attempts. */
import { type Failed, hasFailed } from "../core/result.ts";
import type { Salvage, Salvaged } from "../ports/salvage.ts";
import { closest } from "../text/closest.ts";
import type { Parts } from "./parts.ts";
import { misused, type Refused, refused } from "./refused.ts";

type SalvageParts = Pick<Parts, "salvage">;

/** "<run>/<task>.<attempt>": the name that users type. */
export const entryName = ({ ref }: Pick<Salvaged, "ref">): string => ref.replace(PREFIX, "");

const PREFIX = /^refs\/skein\/salvage\//;

type Restored = { readonly branch: string; readonly commit: string };

/** Makes a branch of an entry. Refused if the branch exists. */
export async function restoreSalvaged(
  { entry: name, branch = `skein-salvage/${name}` }: { readonly entry: string; readonly branch?: string },
  { salvage }: SalvageParts,
  signal: AbortSignal,
): Promise<Restored | Refused> {
  const entry = await findEntry(name, salvage, signal);
  if (hasFailed(entry)) return entry;
  return done(await salvage.restore(entry, branch, signal), { branch, commit: entry.commit });
}

/** Drops an entry; returns its commit. */
export async function dropSalvaged(
  { entry: name }: { readonly entry: string },
  { salvage }: SalvageParts,
  signal: AbortSignal,
): Promise<{ readonly commit: string } | Refused> {
  const entry = await findEntry(name, salvage, signal);
  if (hasFailed(entry)) return entry;
  return done(await salvage.drop(entry, signal), { commit: entry.commit });
}

const done = <Result extends object>(end: object | Failed, result: Result): Result | Refused =>
  hasFailed(end) ? refused("run", end.failure) : result;

async function findEntry(name: string, salvage: Salvage, signal: AbortSignal): Promise<Salvaged | Refused> {
  const entries = await salvage.list(signal);
  if (hasFailed(entries)) return refused("repository", entries.failure);
  const names = entries.map(entryName);
  const entry = entries[names.indexOf(name.replace(PREFIX, ""))];
  if (entry) return entry;
  const near = closest(name, names);
  const guess = near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
  return misused(`nothing is kept as ${name}${guess}`, "`skein salvage` lists the entries");
}
