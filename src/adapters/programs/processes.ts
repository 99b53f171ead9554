/** Finds every process that a program has started, and ends them all. */
import { setTimeout as wait } from "node:timers/promises";
import { inSlices, isLinux, type Process, processTable } from "./process-table.ts";

/** The group (and session) that a program was started in, and the mark that its processes inherit. */
export type Family = {
  readonly group: number;
  /** False if the group's leader is gone or another process has its number: then only the mark proves membership. */
  readonly isGroupOurs: boolean;
  readonly mark: string;
  /** Start of its first process in ticks, 0 if unknown. Older processes cannot carry the mark. */
  readonly since: number;
};

export const MARK = "SKEIN_JOB";

/** Sends SIGTERM, later SIGKILL. Returns how many processes there were, and whether all are gone. */
export async function endFamily(family: Family): Promise<{ count: number; isGone: boolean }> {
  const seen = new Set<number>();
  const killAfter = performance.now() + GRACE_MS;
  let killedAt: number | undefined;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const members = await membersOf(family);
    if (members.length === 0) return { count: seen.size, isGone: true };
    const now = performance.now();
    if (killedAt !== undefined && now > killedAt + KILL_MS) return { count: seen.size, isGone: false };
    if (now >= killAfter) killedAt ??= now;
    for (const member of members) {
      if (killedAt !== undefined) send(member, "SIGKILL");
      else if (!seen.has(member)) send(member, "SIGTERM");
      seen.add(member);
    }
    // They are not children of this process, so no event reports their end. This loop runs a few dozen times at most.
    await wait(pauseMs);
  }
}

/** How long a program may take to clean up after SIGTERM. */
const GRACE_MS = 2_000;
/** How long killed processes may take to disappear; one in an uninterruptible wait is given up. */
const KILL_MS = 5_000;

function send(pid: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // It is gone, or belongs to another user.
  }
}

/**
 * On Linux: the group, the session, every process with the mark (setsid, nohup and double forks inherit it), and
 * the children of all these. A process that clears its environment and is adopted by init is not found. On other
 * systems only the group, as one negative number.
 */
async function membersOf({ group, isGroupOurs, mark, since }: Family): Promise<number[]> {
  if (!isLinux) return isGroupOurs && send(-group, 0) ? [-group] : [];
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

/**
 * The group and session of a program, and all below them, on Linux. The mark proves nothing here, because every
 * process of the user can read and copy it. No process can enter a group of another session, or choose its parent.
 */
export async function processesOf(group: number): Promise<readonly number[]> {
  const all = await processTable();
  const found = new Set(
    all.flatMap((one) => (one.group === group || one.session === group ? [one.pid] : [])),
  );
  addChildren(found, all);
  return [...found];
}

function addChildren(found: Set<number>, all: readonly Process[]): void {
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
}

/** The value is a list: a Skein that runs inside a program of Skein adds its own mark to the inherited one. */
const carries = (one: Process, mark: string): boolean =>
  one
    .variable(MARK)
    .split(",")
    .some((name) => name.startsWith(mark));
