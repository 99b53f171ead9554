/** Tells whether a local connection comes from a program's processes, as far as the system shows it. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isLinux } from "./process-table.ts";
import { processesOf } from "./processes.ts";

/** The ports of a TCP connection on this machine, as its caller sees them. */
type Caller = { readonly from: number; readonly to: number };

/**
 * Undefined if the system does not show it: on other systems than Linux, and if a process of the program does not
 * let its files be listed, as some programs that hold secrets do; then it may be the caller. A caller that has
 * ended is in no table, so it counts as none of the program's.
 */
export async function comesFrom(group: number, caller: Caller): Promise<boolean | undefined> {
  if (!isLinux) return undefined;
  const link = `socket:[${inodeOf(caller)}]`;
  const holds = (await processesOf(group)).map((pid) => holdsFile(pid, link));
  if (holds.includes(true)) return true;
  return holds.includes(undefined) ? undefined : false;
}

/** The inode of the caller's socket; "0" if no process holds it. Programs that use IPv6 are in the other table. */
function inodeOf({ from, to }: Caller): string {
  const [local, remote] = [from, to].map((port) => `:${port.toString(16).toUpperCase().padStart(4, "0")}`);
  for (const table of ["tcp", "tcp6"])
    for (const row of readFileSync(`/proc/net/${table}`, "latin1").split("\n")) {
      const columns = row.trim().split(/\s+/);
      if (columns[1]?.endsWith(local!) && columns[2]?.endsWith(remote!)) return columns[9] ?? "0";
    }
  return "0";
}

/** Undefined if the process does not let its files be listed. */
function holdsFile(pid: number, link: string): boolean | undefined {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((name) => linkOf(`${folder}/${name}`) === link);
  } catch (error) {
    return (Object(error) as NodeJS.ErrnoException).code === "EACCES" ? undefined : false; // Else it has ended.
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ""; // It was closed meanwhile.
  }
}
