/** Tells whether an agent, a gate or a set-up of Skein started this process: then it may not agree to anything. */
import { readFileSync } from "node:fs";
import type { Environment } from "../../ports/project.ts";
import { parentOf } from "./process-table.ts";
import { MARK } from "./processes.ts";

/**
 * Every process that a job starts inherits a mark. On Linux the processes above are checked, too, so that a job
 * cannot remove the mark by starting its command without variables.
 */
export function isInsideJob(env: Environment): boolean {
  if (env[MARK]) return true;
  let pid = process.ppid;
  for (let above = 0; pid > 0 && above < MAX_ABOVE; above += 1) {
    if (isMarked(pid)) return true;
    pid = parentOf(pid) ?? 0;
  }
  return false;
}

const MAX_ABOVE = 1_000;

function isMarked(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1")
      .split("\0")
      .some((entry) => entry.startsWith(`${MARK}=`) && entry.length > MARK.length + 1);
  } catch {
    return false; // It has ended, is another user's, or the system is not Linux.
  }
}
