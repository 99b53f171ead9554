/** What is put right before a run goes on? What a power cut or a `git prune` has taken, from what the log knows. */
import { glob, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { RunState } from "../../core/log/state.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { dropEmpty } from "../git/empty-files.ts";
import type { Shelf } from "../git/shelf.ts";
import { removeBrokenRefs, restoreTarget } from "../repositories/restore.ts";

type DamagedRun = {
  readonly gitDir: string;
  readonly shelf: Shelf;
  readonly folder: string;
  readonly run: string;
  readonly base: string;
  readonly target: string;
  readonly state: RunState;
};

/** Says what was put right, in sentences; fails if the target is lost with its commits. */
export async function restoreRun(
  damaged: DamagedRun,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const { gitDir, shelf, folder, run, base, target, state } = damaged;
  const records = await dropRecords(folder);
  const above = path.dirname(target);
  const dropped = await dropEmpty(gitDir, [`refs/heads/${above}`, "refs/notes/skein", "refs/skein"]);
  await shelf.putBack();
  const said = [
    ...counted(dropped.objects, "empty object", "in the repository"),
    ...counted(dropped.refs.length, "empty ref", "in the repository"),
    ...counted(records, "empty record", "of the run"),
  ];
  if (state.tips.size === 0) return said;
  const tips = [...[...state.tips].filter((tip) => tip !== state.target.tip), state.target.tip];
  const isEmptied = dropped.refs.includes(`refs/heads/${target}`); // Git may have an older one, among packed refs.
  const restored = await restoreTarget({ gitDir, branch: target, base, tips, isEmptied }, signal);
  if (hasFailed(restored)) return restored;
  if (restored.is === "restored")
    said.push(`the target ${target} was lost, and is again at ${restored.at}, where the log has it`);
  const removed = await removeBrokenRefs({ gitDir, run, base, target, branches: `${above}/` }, signal);
  if (hasFailed(removed)) return removed;
  return [...said, ...removed.map((ref) => `${ref} was removed: what it led to is not in the repository`)];
}

const counted = (count: number, what: string, where: string): readonly string[] =>
  count === 0 ? [] : [`${count} ${what}${count === 1 ? "" : "s"} ${where} removed`];

/** Readers treat an empty record as missing; it is removed. */
async function dropRecords(folder: string): Promise<number> {
  let count = 0;
  for await (const name of glob(RECORDS, { cwd: folder })) {
    const file = path.join(folder, name);
    const found = await stat(file).catch(() => undefined); // Gone meanwhile.
    if (!found?.isFile() || found.size > 0) continue;
    await rm(file, { force: true });
    count += 1;
  }
  return count;
}

/** Not what is in the folder of a turn, which is the agent's. */
const RECORDS = ["jobs/*/*.json", "turns/*.said.json", "turns/*.status", "programs/*.program.json"];
