/** Is it still the same process? Its number comes back after it is gone; number and start time together do not. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";

/** In the system's own words; undefined if no such process can be seen from here. One that has ended does not count. */
export async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    const stat = statOf(pid);
    return stat === undefined || stat[0] === "Z" ? undefined : stat[19];
  }
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  execFile("ps", ["-o", "lstart=", "-p", String(pid)], (_error, out) => resolve(out.trim() || undefined));
  return promise;
}

/** The fields from the third on. The second, the name in parentheses, may hold spaces and parentheses itself. */
export function statOf(pid: number): string[] | undefined {
  const text = readIfThere(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // It ended meanwhile, or is another user's.
  }
}
