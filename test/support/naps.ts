/** Marks a test's processes by an odd sleep time, and finds them among all processes. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** The sleep command for a shell. */
export const napOf = (seconds: number): string => `sleep ${seconds}.${process.pid}`;

/** The ids of all processes that sleep so, started by any process. */
export function napping(nap: string): string[] {
  if (process.platform === "linux") {
    const words = `${nap.replaceAll(" ", "\0")}\0`;
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandLine(name) === words);
  }
  const lines = execFileSync("ps", ["-A", "-o", "pid=,args="], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.endsWith(` ${nap}`)).map((line) => line.trim().split(" ")[0] ?? "");
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // The process ended meanwhile.
  }
}

/**
 * The processes that still sleep after `withinMs`. The kernel ends a sandbox's processes a moment after its first one.
 */
export async function stillNapping(nap: string, withinMs = 5_000): Promise<string[]> {
  const until = performance.now() + withinMs;
  let left = napping(nap);
  while (left.length > 0 && performance.now() < until) {
    await new Promise((resolve) => setImmediate(resolve));
    left = napping(nap);
  }
  return left;
}
