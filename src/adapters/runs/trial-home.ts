/** Makes a temporary home for a trial run, which is removed when disposed of. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { RunHome, RunRecord } from "../../ports/runs.ts";
import { FolderRuns } from "./folder-runs.ts";

export async function openTrialHome(
  stateFolder: string,
  record: RunRecord,
): Promise<(AsyncDisposable & { readonly home: RunHome }) | Failed> {
  await mkdir(stateFolder, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(path.join(stateFolder, "doctor-"));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  const home = await new FolderRuns({ folder }).create(record);
  if (!hasFailed(home)) return { home, [Symbol.asyncDispose]: remove };
  await remove();
  return home;
}
