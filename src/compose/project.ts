/** Which repository is it, which runs does it have, and what was kept in it? */
import path from "node:path";
import { git } from "../adapters/git/git.ts";
import { FolderMailbox } from "../adapters/mailboxes/folder.ts";
import { type Located, locate, resolveBase } from "../adapters/repositories/locate.ts";
import * as salvage from "../adapters/repositories/salvage.ts";
import { FolderRuns } from "../adapters/runs/folder-runs.ts";
import * as moved from "../adapters/runs/moved.ts";
import { newRunName } from "../adapters/runs/run-name.ts";
import { stateFolderFor } from "../adapters/runs/state-folder.ts";
import type { Config } from "../config/schema.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { Mailbox } from "../ports/mailbox.ts";
import { type Failed, hasFailed } from "../ports/repository.ts";
import type { RunHome, Runs } from "../ports/runs.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A repository that runs can be made in, and where its runs are kept. */
export type Project = {
  readonly located: Located;
  readonly stateFolder: string;
  readonly runs: Runs;
};

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

/** Makes the run's home and its record; nothing of it runs, and no ref exists, before `startRun`. */
export async function createRun(
  project: Project,
  wanted: {
    readonly goal: string;
    readonly base: string;
    readonly baseBranch?: string;
    readonly config: Config;
    /** The plan that it follows instead of a planner. */
    readonly plan?: ExecutionPlan;
  },
): Promise<RunHome | Failed> {
  const { config, ...request } = wanted;
  const { toSettings } = await import("../config/settings.ts"); // Its schema library takes 100 ms; `status` needs none.
  return project.runs.create({
    run: newRunName(new Date(), Math.random),
    ...request,
    createdAt: Date.now(),
    settings: toSettings(config),
  });
}

/** Takes back `createRun`, unless the run has begun, or another process has it. */
export async function discardRun(home: RunHome): Promise<void> {
  const lock = await home.lock();
  if (hasFailed(lock)) return;
  await ((await isEmpty(home.log)) ? lock.discard() : lock.release());
}

/** Where anybody leaves what is to be said to a run, whether it goes on now or later. */
export const mailboxOf = ({ folder }: RunHome): Mailbox => new FolderMailbox(path.join(folder, "commands"));

/** Runs of a repository that is not any more where it was, and may be this one. */
export const movedRuns = ({ stateFolder, located }: Project) => moved.movedRuns(stateFolder, located.gitDir);

export type Salvaged = salvage.Salvaged;

export const salvageList = ({ located }: Project, signal: AbortSignal) =>
  salvage.salvageList(located.top, signal);

export const salvageRestore = ({ located }: Project, entry: Salvaged, branch: string, signal: AbortSignal) =>
  salvage.salvageRestore(located.top, entry, branch, signal);

export const salvageDrop = ({ located }: Project, entry: Salvaged, signal: AbortSignal) =>
  salvage.salvageDrop(located.top, entry, signal);

/** The commit that a person means by a name; what they typed is not trusted. */
export const commitOf = ({ located }: Pick<Project, "located">, name: string, signal: AbortSignal) =>
  resolveBase(located, name, signal);

/** The commit that a run starts from, and the branch that it is to be delivered to, if it starts from one. */
export type Base = { readonly base: string; readonly baseBranch?: string };

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
  const branch = isHead ? located.branch : await branchNamed(located.top, name);
  return branch === undefined ? { base: commit } : { base: commit, baseBranch: branch };
}

async function branchNamed(folder: string, name: string): Promise<string | undefined> {
  const short = name.replace(/^refs\/heads\//, "");
  const found = await askGit(folder, ["show-ref", "--verify", "--quiet", `refs/heads/${short}`]);
  return found === undefined ? undefined : short;
}

/** Damage is found by the engine, which says where. */
export async function isEmpty(log: EventLog): Promise<boolean> {
  try {
    for await (const _ of log.read(0)) return false;
    return true;
  } catch {
    return false;
  }
}

/** What git says to a question of a surface's own, without the last line end; undefined if it refuses. */
export async function askGit(folder: string, args: readonly string[]): Promise<string | undefined> {
  const answer = await git({ folder, args });
  return answer.ok ? answer.out.replace(/\n$/, "") : undefined;
}
