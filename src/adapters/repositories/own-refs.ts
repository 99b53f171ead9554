/** Lists the refs that belong to one run, finds the commits that would be lost with them, and removes them. */
import { existsSync } from "node:fs";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Owned, OwnRef, OwnRefs } from "../../ports/own-refs.ts";
import { fieldsIn, git } from "../git/git.ts";
import { changeRefs, listRefs } from "../git/refs.ts";
import { heldBy, isCommit, proofsOf, wrongNames } from "./names.ts";

export const ownRefsIn = (folder: string): OwnRefs => ({
  list: (owned, signal) => ownRefs(folder, owned, signal),
  onlyIn: (owned, commits, signal) => onlyIn(folder, owned, commits, signal),
  remove: (refs, signal) => removeRefs(folder, refs, signal),
});

async function ownRefs(
  folder: string,
  { run, branches }: Owned,
  signal: AbortSignal,
): Promise<readonly OwnRef[] | Failed> {
  const wrong = wrongNames({ runs: [run], branches: [`${branches}target`] });
  if (wrong) return wrong;
  const patterns = [
    ...[`refs/heads/${branches}target`, `refs/heads/${branches}task/`, proofsOf(run)],
    ...[`refs/skein/salvage/${run}/`, `${heldBy(run)}/`],
  ];
  const fields = ["refname", "objectname", "worktreepath"];
  const listed = await listRefs({ folder, patterns, fields }, signal);
  if (hasFailed(listed)) return listed;
  return listed.map(([ref = "", commit = "", at = ""]) => ({
    ref,
    commit,
    ...(at !== "" && existsSync(at) ? { checkedOutIn: at } : {}), // A work tree whose folder is gone does not count.
  }));
}

async function onlyIn(
  folder: string,
  { branches }: Owned,
  commits: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string> | Failed> {
  const asked = [...new Set(commits)].filter(isCommit).slice(-MAX_ASKED);
  if (asked.length === 0) return new Set<string>();
  const heads = `refs/heads/${branches}`;
  const own = [`${heads}target`, `${heads}task/*`, "refs/skein/*", "refs/notes/*"];
  const others = ["--not", ...own.map((pattern) => `--exclude=${pattern}`), "--all"];
  const listed = await git({ folder, args: ["rev-list", "--ignore-missing", ...asked, ...others] }, signal);
  return listed.ok ? new Set(fieldsIn(listed.out, "\n")) : listed;
}

/** As many as fit on one command line; in a longer run the newest commits lead to the rest. */
const MAX_ASKED = 1_000;

const removeRefs = (
  folder: string,
  refs: readonly OwnRef[],
  signal: AbortSignal,
): Promise<Failed | undefined> =>
  changeRefs(
    { folder },
    refs.map(({ ref, commit }) => `delete ${ref} ${commit}`),
    signal,
  );
