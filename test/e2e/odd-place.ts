/** Gives tests full disks and read-only folders, and snapshots to check that nothing has changed. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, watch } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { Event } from "../../src/core/log/event.ts";
import type { Place } from "./cli-place.ts";

const execute = promisify(execFile);

export const runOf = (out: string): string => /^run {5}(\S+)$/m.exec(out)?.[1] ?? "";

/** Each file below a folder with its bytes, each link with its target, each folder with its entries. */
export async function bytesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const names = existsSync(folder) ? await readdir(folder, { recursive: true }) : [];
  for (const name of names.sort()) {
    const file = path.join(folder, name);
    const { mode, isLink, isFile } = await lstat(file).then((stat) => ({
      mode: stat.mode,
      isLink: stat.isSymbolicLink(),
      isFile: stat.isFile(),
    }));
    const what = isLink ? await readlink(file) : isFile ? digest(await readFile(file)) : "";
    found.set(name, `${mode.toString(8)} ${what}`);
  }
  return found;
}

const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** What belongs to the user in a repository: files, HEAD, index, configuration, and refs that are not Skein's. */
export async function checkoutOf({ repository }: Place): Promise<unknown> {
  const all = await bytesOf(repository.folder);
  const own = [...all].filter(([name]) => !/^\.git\/(?:objects|refs|logs|packed-refs)(?:\/|$)/.test(name));
  const refs = (await repository.git("for-each-ref")).split("\n");
  return {
    files: own,
    refs: refs.filter((line) => !/\trefs\/(?:heads\/skein|notes\/skein|skein)\//.test(line)),
  };
}

/** Writes a shell script as an agent; it takes the whole goal with `--planner none`. */
export async function agentOf(place: Pick<Place, "folder">, name: string, text: string): Promise<string> {
  const file = path.join(place.folder, name);
  await writeFile(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

export const COMPLETE = `echo '{"status":"complete","summary":"did it"}'`;
/** One worker, no gate, one attempt. */
export const ALONE = [
  "--planner",
  "none",
  "--gate",
  "none",
  "--set",
  "retry.first=1ms",
  "--set",
  "retry.max=1ms",
];
export const ONCE = ["--set", "retry.maxFailed=1", "--set", "retry.maxLost=0", "--set", "retry.maxRefused=0"];

export async function eventsOf({ skein }: Pick<Place, "skein">, run: string): Promise<readonly Event[]> {
  const { out } = await skein("logs", run, "--json");
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
}

/** Resolves when the file exists. */
export async function appears(file: string, signal = AbortSignal.timeout(30_000)): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = () => {
    if (existsSync(file)) resolve();
  };
  const watcher = watch(path.dirname(file), look);
  signal.addEventListener("abort", () => reject(new Error(`${file} did not appear`)), { once: true });
  look();
  await promise.finally(() => watcher.close());
}

/** A process that has ended, but whose parent has not reaped it yet, is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = process.platform === "linux" ? readFileSync(`/proc/${pid}/stat`, "latin1") : "";
    return stat[stat.lastIndexOf(")") + 2] !== "Z";
  } catch {
    return false;
  }
}

export const pidIn = async (file: string): Promise<number> => Number((await readFile(file, "utf8")).trim());

/** Makes a folder read-only until disposed, also for root; undefined where that is not possible. */
export async function readOnly(folder: string): Promise<AsyncDisposable | undefined> {
  if (process.getuid?.() !== 0) {
    const folders = [folder, ...(await foldersIn(folder))];
    for (const one of folders) await chmod(one, 0o555);
    return {
      [Symbol.asyncDispose]: async () => {
        for (const one of folders) await chmod(one, 0o755);
      },
    };
  }
  const mounted = await mounts(["--bind", folder, folder], folder);
  if (!mounted) return undefined;
  try {
    await execute("mount", ["-o", "remount,ro,bind", folder]);
    return mounted;
  } catch {
    await mounted[Symbol.asyncDispose]();
    return undefined;
  }
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Mounts a disk of that size; undefined where none can be mounted. */
export async function smallDisk(folder: string, kilobytes: number): Promise<AsyncDisposable | undefined> {
  await mkdir(folder, { recursive: true });
  return mounts(["-t", "tmpfs", "-o", `size=${kilobytes}k,mode=777`, "skein-test", folder], folder);
}

async function mounts(args: readonly string[], folder: string): Promise<AsyncDisposable | undefined> {
  try {
    await execute("mount", [...args]);
  } catch {
    return undefined; // Mounting is not permitted here: the caller then limits the size of files.
  }
  return { [Symbol.asyncDispose]: async () => void (await execute("umount", ["-l", folder])) };
}
