/** Measures the free space on the disk of the workspaces, and which workspace takes the most. */
import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { promisify } from "node:util";
import type { DiskSpace } from "../../ports/workspaces.ts";

/** Called only when a disk is full: a walk through a large workspace takes seconds. */
export async function spaceOf(folder: string, workspaces: readonly string[]): Promise<DiskSpace> {
  const { bavail, bsize } = await statfs(folder);
  const sizes = await Promise.all(
    workspaces.map(async (one) => ({ folder: one, bytes: await bytesIn(one) })),
  );
  const [largest] = sizes.toSorted((a, b) => b.bytes - a.bytes);
  return { freeBytes: bavail * bsize, ...(largest && { largest }) };
}

async function bytesIn(folder: string): Promise<number> {
  const options = { timeout: MAX_MS, maxBuffer: 64 * 1024 };
  // Folders that `du` may not read are not counted.
  const { stdout } = await promisify(execFile)("du", ["-sk", folder], options).catch(() => ({ stdout: "" }));
  return (Number.parseInt(stdout, 10) || 0) * 1024;
}

const MAX_MS = 10_000;
