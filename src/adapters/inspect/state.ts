/** Checks where runs are kept, whether that folder can be written, and how much room the disk has. */
import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Disk, StateFacts } from "../../ports/inspection.ts";
import type { Environment, Located } from "../../ports/project.ts";
import { FolderRuns } from "../runs/folder-runs.ts";
import { stateFolderFor } from "../runs/state-folder.ts";

/** The state folder of the repository; without a repository, the folder that holds those of all repositories. */
export async function inspectState(
  located: Located | undefined,
  folder: string,
  env: Environment,
): Promise<StateFacts | Failed> {
  const found =
    located === undefined
      ? stateFolderFor(path.join(folder, ".git"), env)
      : stateFolderFor(located.gitDir, env, located.top);
  if (hasFailed(found)) return found;
  const place = located === undefined ? path.dirname(found.folder) : found.folder;
  const existing = await nearest(place);
  const runs = located === undefined ? [] : await new FolderRuns({ folder: place }).list();
  const brokenRuns = runs.filter(hasFailed).length;
  const unwritable = existing === undefined ? "no folder of its path exists" : await whyUnwritable(existing);
  const disk = existing === undefined ? undefined : await inspectDisk(existing);
  return {
    folder: place,
    isThere: existing === place,
    runs: runs.length - brokenRuns,
    brokenRuns,
    ...(unwritable === undefined ? {} : { unwritable }),
    ...(disk === undefined ? {} : { disk }),
  };
}

/** The folder itself, or the closest existing folder above it. */
async function nearest(place: string): Promise<string | undefined> {
  const isThere = await stat(place).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT" && error.code !== "ENOTDIR",
  );
  if (isThere) return place;
  const above = path.dirname(place);
  return above === place ? undefined : nearest(above);
}

async function whyUnwritable(folder: string): Promise<string | undefined> {
  try {
    if (!(await stat(folder)).isDirectory()) return `${folder} is not a folder`;
    await access(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Undefined if the system does not say. */
export async function inspectDisk(folder: string): Promise<Disk | undefined> {
  try {
    const [{ type, bavail, bsize }, { dev }] = [await statfs(folder), await stat(folder)];
    const known = process.platform === "linux" ? FILE_SYSTEMS.get(type) : undefined;
    const disk = { freeBytes: bavail * bsize, device: dev };
    return known ? { fileSystem: known[0], kind: known[1], ...disk } : { kind: "unknown", ...disk };
  } catch {
    return undefined; // A problem of the folder is reported where the folder is checked.
  }
}

/** File systems by the number that Linux gives; on other systems the numbers mean other things. */
const FILE_SYSTEMS: ReadonlyMap<number, readonly [name: string, kind: Disk["kind"]]> = new Map([
  [0xef53, ["ext4", "local"]],
  [0x58465342, ["xfs", "local"]],
  [0x9123683e, ["btrfs", "local"]],
  [0x2fc12fc1, ["zfs", "local"]],
  [0xf2f52010, ["f2fs", "local"]],
  [0xca451a4e, ["bcachefs", "local"]],
  [0x794c7630, ["overlay", "local"]],
  [0x01021994, ["tmpfs", "memory"]],
  [0x858458f6, ["ramfs", "memory"]],
  [0x6969, ["nfs", "network"]],
  [0xff534d42, ["cifs", "network"]],
  [0xfe534d42, ["smb", "network"]],
  [0x01021997, ["9p", "network"]],
  [0x00c36400, ["ceph", "network"]],
] as const);
