/** What of workers' unfinished work is kept, and how does a person get it back? It lies under refs/skein/salvage/. */
import { type Failed, hasFailed } from "../../ports/repository.ts";
import { git } from "../git/git.ts";
import { type Created, createTarget } from "./locate.ts";
import { isCommit } from "./names.ts";
import { broken } from "./store.ts";

export type Salvaged = {
  /** In full. */
  readonly ref: string;
  readonly run: string;
  readonly task: string;
  /** Undefined if the name does not end in one. */
  readonly attempt?: number;
  readonly commit: string;
  readonly atMs: number;
  readonly subject: string;
};

/** The newest first. */
export async function salvageList(
  folder: string,
  signal: AbortSignal,
): Promise<readonly Salvaged[] | Failed> {
  const args = [
    "for-each-ref",
    "--sort=-committerdate",
    `--count=${MAX_LISTED}`,
    `--format=${FORMAT}`,
    SALVAGE,
  ];
  const answer = await git({ folder, args }, signal);
  if (!answer.ok) return { failure: answer.failure };
  return answer.out
    .split("\n")
    .map((line) => line.split("\0"))
    .filter(([ref, commit]) => ref?.startsWith(SALVAGE) && isCommit(commit ?? ""))
    .map(([ref = "", commit = "", seconds = "", subject = ""]) => ({
      ref,
      ...nameOf(ref.slice(SALVAGE.length)),
      commit,
      atMs: Number(seconds) * 1000,
      subject,
    }));
}

const SALVAGE = "refs/skein/salvage/";
const FORMAT = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)";
const MAX_LISTED = 10_000;

/** "<run>/<task>.<attempt>" */
function nameOf(name: string): Pick<Salvaged, "run" | "task" | "attempt"> {
  const at = name.lastIndexOf("/");
  const run = name.slice(0, Math.max(at, 0));
  const numbered = /^(.+)\.(\d+)$/.exec(name.slice(at + 1));
  return numbered === null
    ? { run, task: name.slice(at + 1) }
    : { run, task: numbered[1]!, attempt: Number(numbered[2]) };
}

/** Makes a branch of it. One that is elsewhere stays as it is, and no checkout changes. */
export async function salvageRestore(
  folder: string,
  entry: Pick<Salvaged, "commit">,
  branch: string,
  signal: AbortSignal,
): Promise<Created | Failed> {
  const made = await createTarget(folder, branch, entry.commit, signal);
  return !hasFailed(made) && made.is === "elsewhere"
    ? broken(`the branch ${branch} is there already, at ${made.at.slice(0, 12)}`, "choose another name")
    : made;
}

/** Gives it up, if it is still what was listed. Git keeps the commit for some weeks. */
export async function salvageDrop(
  folder: string,
  { ref, commit }: Pick<Salvaged, "ref" | "commit">,
  signal: AbortSignal,
): Promise<{ readonly is: "dropped" } | Failed> {
  if (!ref.startsWith(SALVAGE) || !isCommit(commit)) return broken(`nothing that was kept: ${ref}`);
  const answer = await git({ folder, args: ["update-ref", "-d", ref, commit] }, signal);
  return answer.ok ? { is: "dropped" } : { failure: answer.failure };
}
