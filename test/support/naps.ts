/** Which process is a test's own? One that sleeps for a time that nobody else sleeps for. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Words for a shell. */
export const napOf = (seconds: number): string => `sleep ${seconds}.${process.pid}`;

/** Numbers of the processes that sleep so, whoever started them. */
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
    return ""; // It ended meanwhile.
  }
}

/** What still naps after `withinMs`. The kernel ends the processes of a sandbox a moment after its first one. */
export async function stillNapping(nap: string, withinMs = 5_000): Promise<string[]> {
  const until = performance.now() + withinMs;
  let left = napping(nap);
  while (left.length > 0 && performance.now() < until) {
    await new Promise((resolve) => setImmediate(resolve));
    left = napping(nap);
  }
  return left;
}
