/** Who of a program's processes is still there, and how are they all ended? */
import { readdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { readIfThere, statOf } from "./process-start.ts";

/** Whom to look for: the group (and session) that a program was started in, and the mark that it inherits. */
export type Family = {
  readonly group: number;
  /** False if the group's leader is gone or another: then the group counts only where the mark proves it. */
  readonly isGroupOurs: boolean;
  readonly mark: string;
};

export const MARK = "SKEIN_JOB";

/** Ends a family: asked first, then killed. How many there were, and whether all of them are gone. */
export async function endFamily(family: Family): Promise<{ count: number; isGone: boolean }> {
  const seen = new Set<number>();
  const deadline = performance.now() + GRACE_MS + KILL_MS;
  const killAfter = performance.now() + GRACE_MS;
  const asked = new Set<number>();
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const members = membersOf(family);
    if (members.length === 0) return { count: seen.size, isGone: true };
    const now = performance.now();
    if (now > deadline) return { count: seen.size, isGone: false };
    for (const member of members) {
      seen.add(member);
      if (now >= killAfter) send(member, "SIGKILL");
      else if (!asked.has(member)) send(member, "SIGTERM");
      asked.add(member);
    }
    // They are not our children: no event says that they are gone. So we look, a few dozen times at most.
    await wait(pauseMs);
  }
}

/** How long a program may take to put its things in order after SIGTERM. */
const GRACE_MS = 2_000;
/** How long killed processes may take to disappear: one in an uninterruptible wait is given up on. */
const KILL_MS = 5_000;

function send(process_: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(process_, signal);
  } catch {
    // It is gone already, or another user's: the next look tells.
  }
}

const isLinux = process.platform === "linux";

/**
 * On Linux: the group, the session, whoever carries the mark (setsid, nohup and double forks inherit it), and the
 * children of all these. Who clears its environment and is adopted by init as well is not found. On other systems
 * the group alone, as one negative number.
 */
export function membersOf(family: Family): number[] {
  if (!isLinux) return family.isGroupOurs && isThere(-family.group) ? [-family.group] : [];
  const all = processes();
  const found = new Set<number>();
  for (const { pid } of all) if (carries(pid, family.mark)) found.add(pid);
  const isOurs = family.isGroupOurs || all.some(({ pid, group }) => group === family.group && found.has(pid));
  if (isOurs) {
    for (const { pid, group, session } of all) {
      if (group === family.group || session === family.group) found.add(pid);
    }
  }
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  found.delete(process.pid);
  return [...found];
}

function isThere(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch {
    return false;
  }
}

type Entry = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
};

/** All that run; zombies do not. */
function processes(): Entry[] {
  const entries: Entry[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = statOf(pid);
    if (stat === undefined || stat[0] === "Z" || stat[0] === "X") continue;
    entries.push({ pid, parent: Number(stat[1]), group: Number(stat[2]), session: Number(stat[3]) });
  }
  return entries;
}

/** The value is a list: a Skein inside a Skein's program adds its own mark to the one that it inherited. */
function carries(pid: number, mark: string): boolean {
  const environment = readIfThere(`/proc/${pid}/environ`);
  if (!environment?.includes(mark)) return false;
  const marks = environment.split("\0").find((entry) => entry.startsWith(`${MARK}=`)) ?? "";
  return marks
    .slice(MARK.length + 1)
    .split(",")
    .some((one) => one.startsWith(mark));
}

/** Changes with every start of the machine, so that old numbers mean nothing. Unknown outside Linux. */
export const bootId = (): string =>
  isLinux ? (readIfThere("/proc/sys/kernel/random/boot_id")?.trim() ?? "") : "";
