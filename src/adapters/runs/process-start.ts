/** Is it still the same process? Its number comes back after it is gone; number and start time together do not. */
import { readFileSync } from "node:fs";

/** In the system's own unit; "unknown" where there is no /proc, undefined if there is no such process. */
export function startOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EPERM") return undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in brackets, may hold anything; the start is the 20th field after it.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return "unknown";
  }
}
