/** Lists unfinished work that was kept under refs/skein/salvage/, restores it to a branch, or drops it. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Salvage, Salvaged } from "../../ports/salvage.ts";
import { changeRefs, listRefs } from "../git/refs.ts";
import { type Created, createTarget } from "./locate.ts";
import { isCommit } from "./names.ts";
import { broken } from "./store.ts";

export const salvageIn = (folder: string): Salvage => ({
  list: (signal) => salvageList(folder, signal),
  restore: (entry, branch, signal) => salvageRestore(folder, entry, branch, signal),
  drop: (entry, signal) => salvageDrop(folder, entry, signal),
});

async function salvageList(folder: string, signal: AbortSignal): Promise<readonly Salvaged[] | Failed> {
  const fields = ["refname", "objectname", "committerdate:unix", "contents:subject"];
  const listed = await listRefs({ folder, patterns: [SALVAGE], fields, newest: MAX_LISTED }, signal);
  if (hasFailed(listed)) return listed;
  return listed.map(([ref = "", commit = "", seconds = "", subject = ""]) => ({
    ref,
    ...nameOf(ref.slice(SALVAGE.length)),
    commit,
    atMs: Number(seconds) * 1000,
    subject,
  }));
}

const SALVAGE = "refs/skein/salvage/";
const MAX_LISTED = 10_000;

/** Parses "<run>/<task>.<attempt>". */
function nameOf(name: string): Pick<Salvaged, "run" | "task" | "attempt"> {
  const at = name.lastIndexOf("/");
  const run = name.slice(0, Math.max(at, 0));
  const numbered = /^(.+)\.(\d+)$/.exec(name.slice(at + 1));
  return numbered === null
    ? { run, task: name.slice(at + 1) }
    : { run, task: numbered[1]!, attempt: Number(numbered[2]) };
}

/** Makes a branch of a salvaged commit. An existing branch stays as it is, and no checkout changes. */
async function salvageRestore(
  folder: string,
  entry: Pick<Salvaged, "commit">,
  branch: string,
  signal: AbortSignal,
): Promise<Created | Failed> {
  const made = await createTarget(folder, branch, entry.commit, signal);
  return !hasFailed(made) && made.is === "elsewhere"
    ? broken(`the branch ${branch} exists already, at ${made.at.slice(0, 12)}`, "choose another name")
    : made;
}

/** Removes the entry's ref, if it is still as listed. Git keeps the commit for some weeks. */
async function salvageDrop(
  folder: string,
  { ref, commit }: Pick<Salvaged, "ref" | "commit">,
  signal: AbortSignal,
): Promise<{ readonly is: "dropped" } | Failed> {
  if (!ref.startsWith(SALVAGE) || !isCommit(commit)) return broken(`not a salvage ref: ${ref}`);
  return (await changeRefs({ folder }, [`delete ${ref} ${commit}`], signal)) ?? { is: "dropped" };
}
