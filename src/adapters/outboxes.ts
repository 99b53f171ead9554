/** A run's scratchpad: one folder of plain files; links are not followed. */
import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { lstat, mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../core/failure.ts";
import { type Failed, failedWith } from "../core/result.ts";
import { unreachable } from "../core/unreachable.ts";
import type { Outbox } from "../ports/outbox.ts";
import { GUARDED, readBounded } from "./files/read-bounded.ts";
import { syncFolder } from "./files/write-whole.ts";

/** The folder is made with the first file. */
export class FolderOutbox implements Outbox {
  readonly folder: string;

  constructor({ folder }: { readonly folder: string }) {
    this.folder = folder;
  }

  async prepare(name: string): Promise<{ readonly file: string } | Failed> {
    const file = path.join(this.folder, name);
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await setAside(file);
      await (await open(file, NEW, 0o600)).close();
      return { file };
    } catch (error) {
      const why = `the output file ${file} cannot be created: ${messageOf(error)}`;
      return failedWith("repository", why, "see that the scratchpad can be written and has room");
    }
  }

  async read(name: string): Promise<{ readonly text: string } | { readonly problem: string }> {
    const file = path.join(this.folder, name);
    const read = await readBounded(file, MAX_BYTES);
    switch (read.is) {
      case "bytes":
        await sync(file);
        return textOf(file, read.bytes);
      case "none":
        return { problem: `${file} does not exist` };
      case "link":
        return { problem: `${file} is a link, and is not followed` };
      case "no-file":
        return { problem: `${file} is not a file` };
      case "too-large":
        return { problem: `${file} has ${read.size} bytes; at most ${MAX_BYTES} are read` };
      case "unreadable":
        return { problem: `${file} cannot be read: ${read.why}` };
      default:
        return unreachable(read);
    }
  }
}

/**
 * Syncs a result file before the log says that the task is done. Errors are ignored, because a failing disk fails
 * the log, too.
 */
async function sync(file: string): Promise<void> {
  await using handle = await open(file, GUARDED).catch(() => undefined);
  await handle?.sync().catch(() => {}); // See above.
  await syncFolder(path.dirname(file)).catch(() => {}); // See above.
}

const MAX_BYTES = 1_000_000;

const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

function textOf(file: string, bytes: Buffer): { readonly text: string } | { readonly problem: string } {
  if (bytes.includes(0) || !isUtf8(bytes)) return { problem: `${file} is not UTF-8 text` };
  const text = bytes.toString();
  return text.trim() === "" ? { problem: `${file} is empty` } : { text };
}

/** Renames an earlier file, with a number. An empty one is removed. */
async function setAside(file: string): Promise<void> {
  const found = await lookAt(file);
  if (found === undefined) return;
  if (found.isFile() && found.size === 0) return rm(file);
  for (let number = 1; number <= MAX_KEPT; number += 1) {
    const aside = `${file}.${number}`;
    if ((await lookAt(aside)) === undefined) return rename(file, aside);
  }
  throw new Error(`${MAX_KEPT} earlier ones are beside it already`);
}

const lookAt = (file: string) =>
  lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });

/** More than any number of attempts. */
const MAX_KEPT = 10_000;
