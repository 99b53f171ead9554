/** Which repository is it, and what do the use cases get of it? */
import path from "node:path";
import { FileFlakyTests } from "../adapters/flaky-tests.ts";
import { git } from "../adapters/git/git.ts";
import { FolderMailbox } from "../adapters/mailboxes.ts";
import { locate, resolveBase } from "../adapters/repositories/locate.ts";
import * as salvage from "../adapters/repositories/salvage.ts";
import { FolderRuns } from "../adapters/runs/folder-runs.ts";
import * as moved from "../adapters/runs/moved.ts";
import { stateFolderFor } from "../adapters/runs/state-folder.ts";
import type { Parts } from "../app/parts.ts";
import type { Environment } from "../config/sources.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Base, Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";

export type { Environment, Project };

export async function openProject(
  folder: string,
  env: Environment,
  signal: AbortSignal,
): Promise<Project | Failed> {
  const located = await locate(folder, signal);
  if (hasFailed(located)) return located;
  const state = stateFolderFor(located.gitDir, env, located.top);
  if (hasFailed(state)) return state;
  return { located, stateFolder: state.folder, runs: new FolderRuns({ folder: state.folder }) };
}

export const flakyTestsOf = ({ stateFolder }: Pick<Project, "stateFolder">) =>
  new FileFlakyTests({ folder: stateFolder });

/** Where anybody leaves what is to be said to a run, whether it goes on now or later. */
export const mailboxOf = ({ folder }: RunHome) => new FolderMailbox(path.join(folder, "commands"));

/** Runs of a repository that is not any more where it was, and may be this one. */
export const movedRuns = ({ stateFolder, located }: Project) => moved.movedRuns(stateFolder, located.gitDir);

type Salvaged = salvage.Salvaged;

export const salvageList = ({ located }: Project, signal: AbortSignal) =>
  salvage.salvageList(located.top, signal);

export const salvageRestore = ({ located }: Project, entry: Salvaged, branch: string, signal: AbortSignal) =>
  salvage.salvageRestore(located.top, entry, branch, signal);

export const salvageDrop = ({ located }: Project, entry: Salvaged, signal: AbortSignal) =>
  salvage.salvageDrop(located.top, entry, signal);

/** The commit that a person means by a name; what they typed is not trusted. */
export const commitOf = ({ located }: Pick<Project, "located">, name: string, signal: AbortSignal) =>
  resolveBase(located, name, signal);

/** A branch that is named is the one to deliver to; "HEAD" is the one that is checked out. */
export async function baseOf(
  project: Pick<Project, "located">,
  name: string,
  signal: AbortSignal,
): Promise<Base | Failed> {
  const { located } = project;
  const isHead = name === "HEAD";
  const commit = isHead ? located.head : await commitOf(project, name, signal);
  if (typeof commit !== "string") return commit;
  const short = name.replace(/^refs\/heads\//, "");
  const isBranch = () => gitIn(project)("show-ref", "--verify", "--quiet", `refs/heads/${short}`);
  const branch = isHead ? located.branch : (await isBranch()) === undefined ? undefined : short;
  return branch === undefined ? { base: commit } : { base: commit, baseBranch: branch };
}

export const gitIn =
  ({ located: { top } }: Pick<Project, "located">): Parts["git"] =>
  (...args) =>
    askGit(top, args);

/** What git says, without the last line end; undefined if it refuses. */
export async function askGit(folder: string, args: readonly string[]): Promise<string | undefined> {
  const answer = await git({ folder, args });
  return answer.ok ? answer.out.replace(/\n$/, "") : undefined;
}
