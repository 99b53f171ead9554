/** Which repository is it, and what do the use cases get of it? */
import path from "node:path";
import { Wakes } from "../adapters/files/wakes.ts";
import { FileFlakyTests } from "../adapters/flaky-tests.ts";
import { askGit } from "../adapters/git/ask-git.ts";
import { locate } from "../adapters/repositories/locate.ts";
import { salvageIn } from "../adapters/repositories/salvage.ts";
import { FolderRuns } from "../adapters/runs/folder-runs.ts";
import { movedRuns } from "../adapters/runs/moved.ts";
import { stateFolderFor } from "../adapters/runs/state-folder.ts";
import { openTraces } from "../adapters/traces/traces-of.ts";
import type { Parts } from "../app/parts.ts";
import { secretsOfRecord } from "../config/secrets-of-record.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Environment, Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";

export { mailboxOf } from "../adapters/fleet/fleet-runs.ts";
export { pullFiles } from "../adapters/fleet/pulled-files.ts";
export { askGit };

export const tracesOf = (env: Environment) => openTraces(env, secretsOfRecord);

export async function openProject(
  folder: string,
  env: Environment,
  signal: AbortSignal,
): Promise<Project | Failed> {
  const located = await locate(folder, signal);
  if (hasFailed(located)) return located;
  const state = stateFolderFor(located.gitDir, env, located.top);
  if (hasFailed(state)) return state;
  const { folder: stateFolder } = state;
  const runs = new FolderRuns({ folder: stateFolder });
  return { located, stateFolder, runs, movedRuns: () => movedRuns(stateFolder, located.gitDir) };
}

export const flakyTestsOf = ({ stateFolder }: Pick<Project, "stateFolder">) =>
  new FileFlakyTests({ folder: stateFolder });

export const lockChanges = ({ folder }: RunHome) => new Wakes(path.join(folder, "owner.json"));

export const salvageOf = ({ located: { top } }: Project) => salvageIn(top);

export const gitIn =
  ({ located: { top } }: Pick<Project, "located">): Parts["git"] =>
  (...args) =>
    askGit(top, args);
