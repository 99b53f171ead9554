/** Cuts the power of a run's machine: copies ext4 images with only what was on the disk, and resumes there. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { placeIn } from "./scenario.ts";
import {
  checkoutOf,
  furnish,
  hasRun,
  type Kill,
  live,
  look,
  processesOf,
  resume,
  type Trial,
  type Truth,
  violationsOf,
} from "./trial.ts";

/**
 * Starts one run on file systems of its own and kills it at a given moment. The file systems' images are then copied
 * without a sync, so that the copies hold what disks hold when the power fails: nothing that was only in memory. The
 * run is resumed on the copies, in the same folders, as if the machine had been started again. `isApart`: the state
 * folder has a disk of its own, so that a sync of the log syncs nothing of the repository.
 */
export async function powerCut(kill: Kill, truth: Truth, isApart = false): Promise<Trial> {
  await using machine = await startMachine(isApart);
  const place = await furnish(machine.folder);
  await run("sync", ["-f", place.repository]); // The project existed on the disk before the run.
  const before = await checkoutOf(place);
  const isKilled = await live(place, kill);
  await machine.cut();
  if (await hasRun(place)) await resume(place, machine.nextBoot);
  else await live(place);
  const found = await look(place);
  return { kills: isKilled ? 1 : 0, violations: await violationsOf(place, found, truth, before) };
}

/** Gives the reason why power cuts cannot be tried on this machine; undefined if they can. */
export async function noPowerCuts(): Promise<string | undefined> {
  try {
    await using _machine = await startMachine(true);
    return undefined;
  } catch (error) {
    return `an ext4 image cannot be mounted here, which takes root and a loop device: ${(error as Error).message}`;
  }
}

const run = promisify(execFile);

type Machine = AsyncDisposable & {
  /** Where the disk is mounted. */
  readonly folder: string;
  /**
   * Copies what had been written to the disk, ends every process that works there, and mounts the copy in its place.
   */
  readonly cut: () => Promise<void>;
  /** The command that starts a program as if the machine had been started again. */
  readonly nextBoot: readonly string[];
};

async function startMachine(isApart: boolean): Promise<Machine> {
  const outer = await mkdtemp(path.join(tmpdir(), "skein-power-"));
  const at = (name: string) => path.join(outer, name);
  const folder = at("disk");
  const state = placeIn(folder).env["SKEIN_STATE_DIR"]!;
  const disks = [
    { mount: folder, image: at("image"), copy: at("copy") },
    ...(isApart ? [{ mount: state, image: at("image-state"), copy: at("copy-state") }] : []),
  ];
  const unmount = async () => {
    // The unmount of a disk that is not mounted fails, which is fine.
    for (const { mount } of disks.toReversed()) await run("umount", ["--lazy", mount]).catch(() => {});
  };
  const remove = async () => {
    await unmount();
    await rm(outer, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    for (const { mount, image } of disks) {
      await mkdir(mount, { recursive: true });
      await run("truncate", ["-s", String(DISK_BYTES), image]);
      await run("mkfs.ext4", ["-q", "-m", "0", image]);
      await run("mount", ["-o", "loop", image, mount]);
    }
    await run("sync", ["-f", folder]);
    await writeFile(at("boot"), "00000000-0000-4000-8000-000000000000\n");
    await writeFile(at("uptime"), "0.05 0.05\n");
  } catch (error) {
    await remove();
    throw error;
  }
  const cut = async () => {
    await Promise.all(disks.map(({ image, copy }) => run("cp", ["--sparse=always", image, copy])));
    for (const pid of await processesOf(folder)) end(Number(pid));
    await unmount();
    for (const { copy, mount } of disks) await run("mount", ["-o", "loop", copy, mount]);
  };
  const nextBoot = ["unshare", "--mount", "sh", "-c", AS_BOOTED, at("boot"), at("uptime")];
  return { folder, cut, nextBoot, [Symbol.asyncDispose]: remove };
}

/** Far more than the run writes; nearly all of the file is a hole. */
const DISK_BYTES = 256 * 1024 * 1024;

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended meanwhile.
  }
}

/** Mounts other files over those in which Linux tells the boot id and the machine's uptime, for this program only. */
const AS_BOOTED = `mount --bind "$0" /proc/sys/kernel/random/boot_id && mount --bind "$1" /proc/uptime &&
  shift && exec "$@"`;
