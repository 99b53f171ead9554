/** Runs the scenario while `git gc --prune=now` and `git prune` run again and again in the same repository. */
import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { randomFrom } from "../../src/simulation/random.ts";
import { openRepository, plainEnvironment } from "../support/repositories.ts";
import type { Place } from "./scenario.ts";
import { type Kill, type Trial, type Truth, trial } from "./trial.ts";

const execute = promisify(execFile);

/** Commands with which people clean up a repository, from careful to thorough. */
const COMMANDS: readonly string[] = [
  "git prune --expire=now",
  "git gc -q --prune=now",
  "git reflog expire --expire=now --all && git gc -q --prune=now",
];

/** Audits as other trials do, and with git: nothing that a ref needs is missing. `kills` count as in other kinds. */
export async function prunedTrial(seed: number, truth: Truth): Promise<Trial & { readonly prunes: number }> {
  const random = randomFrom(seed);
  let prunes = 0;
  const kills: readonly Kill[] = random.chance(0.5)
    ? [{ afterMs: random.between(1, Math.ceil(truth.ms)) }]
    : [];
  const beside = async (place: Place, over: AbortSignal) => {
    while (!over.aborted && prunes < MAX_PRUNES) {
      const options = { cwd: place.repository, env: plainEnvironment(), timeout: MAX_MS };
      // Two commands that pack the same refs can meet: the second then fails, and the next command does its work.
      await execute("sh", ["-c", random.pick(COMMANDS)], options).catch(() => {});
      prunes += 1;
      await pause(random.below(MAX_PAUSE_MS), undefined, { signal: over }).catch(() => {}); // The scenario has ended.
    }
  };
  const { kills: killed, violations } = await trial(kills, truth, { beside, audit: fsck });
  return { kills: killed, violations, prunes };
}

const MAX_PRUNES = 2_000;
/** Without a pause, a slow machine could write nothing in between, and no run would come to its end. */
const MAX_PAUSE_MS = 30;
const MAX_MS = 60_000;

async function fsck({ repository }: Place): Promise<readonly string[]> {
  const { git } = openRepository(repository);
  const held = await git("for-each-ref", "--format=%(refname)", "refs/skein/held");
  return [
    ...(await git("fsck", "--no-dangling", "--no-reflogs").then(
      (said) => (said === "" ? [] : [`git fsck: ${said}`]),
      (error: unknown) => [`git fsck: ${String(error)}`],
    )),
    ...(held === "" ? [] : [`still held: ${held.replaceAll("\n", " ")}`]),
  ];
}
