/** Mounts a disk for a test that can share the blocks of files, which the disks of most machines cannot. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Undefined where none can be mounted: that takes root, a loop device and mkfs.xfs. */
export async function sharingDisk(): Promise<(AsyncDisposable & { readonly path: string }) | undefined> {
  const outer = await mkdtemp(path.join(tmpdir(), "skein-disk-"));
  const [image, mount] = [path.join(outer, "image"), path.join(outer, "disk")];
  const remove = () => rm(outer, { recursive: true, force: true, maxRetries: 5 });
  try {
    await mkdir(mount);
    await run("truncate", ["-s", String(DISK_BYTES), image]);
    await run("mkfs.xfs", ["-q", "-m", "reflink=1", image]);
    await run("mount", ["-o", "loop", image, mount]);
  } catch {
    await remove();
    return undefined;
  }
  return {
    path: mount,
    [Symbol.asyncDispose]: async () => {
      await run("umount", ["--lazy", mount]);
      await remove();
    },
  };
}

/** mkfs.xfs makes no disk below 300 MB; nearly all of the file is a hole. */
const DISK_BYTES = 512 * 1024 * 1024;
