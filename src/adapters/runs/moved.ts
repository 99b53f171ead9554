/** Finds runs of this repository that began when it was in another place, which each state folder records. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { MovedRuns } from "../../ports/project.ts";
import { writeWhole } from "../files/write-whole.ts";
import { git } from "../git/git.ts";
import { isRunName, readRecord } from "./run-record.ts";

/** Records where the repository is, so that its runs can be found after it was moved. */
export async function noteRepository(stateFolder: string, gitDir: string): Promise<void> {
  const file = path.join(stateFolder, WHERE);
  if ((await readFile(file, "utf8").catch(() => "")) === gitDir) return;
  await writeWhole(file, gitDir).catch(() => {}); // Not essential: it only helps later.
}

/** Runs of repositories that are gone from their recorded place, if they started from commits that exist here. */
export async function movedRuns(stateFolder: string, gitDir: string): Promise<readonly MovedRuns[]> {
  const above = path.dirname(stateFolder);
  const found: MovedRuns[] = [];
  for (const name of (await readdir(above).catch(() => [])).slice(0, MAX_FOLDERS)) {
    const folder = path.join(above, name);
    const from = await readFile(path.join(folder, WHERE), "utf8").catch(() => ""); // Not recorded by an older Skein.
    if (folder === stateFolder || from === "" || existsSync(from)) continue;
    const runs = await runsFrom(folder, gitDir);
    if (runs.length > 0) found.push({ from: from.replace(/[\\/]\.git$/, ""), folder, runs });
  }
  return found;
}

const WHERE = "repository.txt";
const MAX_FOLDERS = 1_000;
/** Limited, because they are asked about one by one. */
const MAX_RUNS = 20;

async function runsFrom(folder: string, gitDir: string): Promise<readonly string[]> {
  const names = (await readdir(path.join(folder, "runs")).catch(() => [])).filter(isRunName);
  const runs: string[] = [];
  for (const run of names.sort().reverse().slice(0, MAX_RUNS)) {
    const file = path.join(folder, "runs", run, "run.json");
    const record = readRecord(run, file, await readFile(file, "utf8").catch(() => ""));
    if ("failure" in record || !/^[0-9a-f]{40,64}$/.test(record.base)) continue;
    const args = ["cat-file", "-e", `${record.base}^{commit}`];
    if ((await git({ folder: gitDir, args })).ok) runs.push(run);
  }
  return runs;
}
