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
