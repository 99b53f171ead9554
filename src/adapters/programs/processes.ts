/** Who of a program's processes is still there, and how are they all ended? */
import { setTimeout as wait } from "node:timers/promises";
import { readIfThere } from "./process-start.ts";
import { type Entry, inSlices, processTable } from "./process-table.ts";

/** Whom to look for: the group (and session) that a program was started in, and the mark that it inherits. */
export type Family = {
  readonly group: number;
  /** False if the group's leader is gone or another: then the group counts only where the mark proves it. */
  readonly isGroupOurs: boolean;
  readonly mark: string;
  /** When its first process started, in ticks; 0 if that is not known. Who is older cannot carry the mark. */
  readonly since: number;
};

export const MARK = "SKEIN_JOB";

/** Ends a family: asked first, then killed. How many there were, and whether all of them are gone. */
export async function endFamily(family: Family): Promise<{ count: number; isGone: boolean }> {
  const seen = new Set<number>();
  const killAfter = performance.now() + GRACE_MS;
  const asked = new Set<number>();
  let killedAt: number | undefined;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const members = await membersOf(family);
    if (members.length === 0) return { count: seen.size, isGone: true };
    const now = performance.now();
    if (killedAt !== undefined && now > killedAt + KILL_MS) return { count: seen.size, isGone: false };
    if (now >= killAfter) killedAt ??= now;
    for (const member of members) {
      seen.add(member);
      if (killedAt !== undefined) send(member, "SIGKILL");
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
async function membersOf({ group, isGroupOurs, mark, since }: Family): Promise<number[]> {
  if (!isLinux) return isGroupOurs && isThere(-group) ? [-group] : [];
  const all = await processTable();
  const found = new Set<number>();
  const addGroup = () => {
    for (const one of all) if (one.group === group || one.session === group) found.add(one.pid);
  };
  if (isGroupOurs) addGroup();
  addChildren(found, all);
  await inSlices(all, (one) => {
    if (one.start >= since && !found.has(one.pid) && carries(one, mark)) found.add(one.pid);
  });
  if (all.some((one) => one.group === group && found.has(one.pid))) addGroup();
  addChildren(found, all);
  found.delete(process.pid);
  return [...found];
}

function addChildren(found: Set<number>, all: readonly Entry[]): void {
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
}

function isThere(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch {
    return false;
  }
}

/** The value is a list: a Skein inside a Skein's program adds its own mark to the one that it inherited. */
const carries = (one: Entry, mark: string): boolean =>
  one
    .variable(MARK)
    .split(",")
    .some((name) => name.startsWith(mark));

/** Changes with every start of the machine, so that old numbers mean nothing. Unknown outside Linux. */
export const bootId = (): string =>
  isLinux ? (readIfThere("/proc/sys/kernel/random/boot_id")?.trim() ?? "") : "";
