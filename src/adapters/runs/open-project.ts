/** Which repository is around a folder, and where are its runs on this machine? */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Environment, Project } from "../../ports/project.ts";
import { locate } from "../repositories/locate.ts";
import { FolderRuns } from "./folder-runs.ts";
import { movedRuns } from "./moved.ts";
import { stateFolderFor } from "./state-folder.ts";

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
