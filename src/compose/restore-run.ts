/** What is put right before a run goes on? What a power cut or a `git prune` has taken, from what the log knows. */
import { glob, rm, stat } from "node:fs/promises";
import path from "node:path";
import { dropEmpty } from "../adapters/git/empty-files.ts";
import { removeBrokenRefs } from "../adapters/repositories/broken-refs.ts";
import { restoreTarget } from "../adapters/repositories/restore.ts";
import type { Config } from "../config/schema.ts";
import { targetBranchOf } from "../core/brief.ts";
import { evolve } from "../core/evolve.ts";
import { emptyState, type RunState } from "../core/state.ts";
import { type Failed, hasFailed } from "../ports/repository.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Project } from "./project.ts";
import { shelfOf } from "./world.ts";

/** Says what was put right, in sentences; fails if the target is lost with its commits. */
export async function restoreRun(
  project: Project,
  home: RunHome,
  config: Config,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const { gitDir } = project.located;
  const { run, base } = home.record;
  const branch = targetBranchOf(run, config.branchPrefix);
  const records = await dropRecords(home.folder);
  const dropped = await dropEmpty(gitDir, [
    `refs/heads/${path.dirname(branch)}`,
    "refs/notes/skein",
    "refs/skein",
  ]);
  await shelfOf(project, home).putBack();
  const said = [
    ...counted(dropped.objects, "empty object", "in the repository"),
    ...counted(dropped.refs.length, "empty ref", "in the repository"),
    ...counted(records, "empty record", "of the run"),
  ];
  const state = await stateOf(home);
  if (state === undefined || state.tips.size === 0) return said; // The engine says what is wrong with the log.
  const tips = [...[...state.tips].filter((tip) => tip !== state.target.tip), state.target.tip];
  const isEmptied = dropped.refs.includes(`refs/heads/${branch}`); // Git may have an older one, among packed refs.
  const restored = await restoreTarget({ gitDir, branch, base, tips, isEmptied }, signal);
  if (hasFailed(restored)) return restored;
  if (restored.is === "restored")
    said.push(`the target ${branch} was lost, and is again at ${restored.at}, where the log has it`);
  const branches = `${config.branchPrefix}${run}/`;
  const removed = await removeBrokenRefs({ gitDir, run, base, target: branch, branches }, signal);
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

/** Undefined if the log cannot be read. */
async function stateOf({ log }: RunHome): Promise<RunState | undefined> {
  const state = emptyState();
  try {
    for await (const event of log.read(0)) evolve(state, event);
    return state;
  } catch {
    return undefined; // The engine reads it as well, and says where it is damaged.
  }
}
