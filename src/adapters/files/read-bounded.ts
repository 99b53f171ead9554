/** Reads a file that a worker could have made: up to a size limit, and never through a link. */
import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { messageOf } from "../../core/failure.ts";

type BoundedRead =
  | { readonly is: "bytes"; readonly bytes: Buffer }
  | { readonly is: "none" }
  /** Something is there that must not be read. */
  | { readonly is: "link" }
  | { readonly is: "no-file" }
  | { readonly is: "too-large"; readonly size: number }
  | { readonly is: "unreadable"; readonly why: string };

/**
 * Reads the file if it is safe. Opening a pipe would block a thread for ever, a device has no end, and a link may
 * lead to either, or to a file that its maker may not read.
 */
export async function readBounded(file: string, maxBytes: number): Promise<BoundedRead> {
  let handle: FileHandle;
  try {
    handle = await open(file, GUARDED);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { is: "none" };
    if (code === "ELOOP") return { is: "link" };
    if (code === "ENXIO") return { is: "no-file" }; // The file is a socket.
    return { is: "unreadable", why: messageOf(error) };
  }
  await using _ = handle;
  try {
    const found = await handle.stat();
    if (!found.isFile()) return { is: "no-file" };
    if (found.size > maxBytes) return { is: "too-large", size: found.size };
    return await upTo(handle, maxBytes);
  } catch (error) {
    return { is: "unreadable", why: messageOf(error) };
  }
}

/** Flags that follow no link, and do not wait for a pipe. */
export const GUARDED = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Reads at most `maxBytes`: a file may be longer than its size says, or grow. */
async function upTo(handle: FileHandle, maxBytes: number): Promise<BoundedRead> {
  const chunks: Buffer[] = [];
  for (let size = 0; size <= maxBytes; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES));
    if (bytesRead === 0) return { is: "bytes", bytes: Buffer.concat(chunks) };
    chunks.push(buffer.subarray(0, bytesRead));
    size += bytesRead;
  }
  return { is: "too-large", size: maxBytes + 1 };
}

const CHUNK_BYTES = 64 * 1024;

/**
 * The text in UTF-8; undefined if there is no file. `problem`: what is wrong with the file, to be said after its
 * name.
 */
export async function readText(
  file: string,
  maxBytes: number,
): Promise<{ readonly text: string } | { readonly problem: string } | undefined> {
  const read = await readBounded(file, maxBytes);
  switch (read.is) {
    case "none":
      return undefined;
    case "link":
    case "no-file":
      return { problem: "is not a plain file" };
    case "too-large":
      return { problem: `is longer than ${maxBytes} bytes` };
    case "unreadable":
      return { problem: `cannot be read: ${read.why}` };
    case "bytes":
      return isUtf8(read.bytes) ? { text: read.bytes.toString() } : { problem: "is not UTF-8" };
  }
}

/** Reads a small file; one that cannot be read counts as empty. */
export async function readShort(file: string, maxBytes = MAX_SHORT_BYTES): Promise<string> {
  const read = await readBounded(file, maxBytes);
  return read.is === "bytes" ? read.bytes.toString() : "";
}

/** The same, synchronously. A file that is longer than it says, as in /proc, counts as empty, too. */
export function readShortSync(file: string, maxBytes = MAX_SHORT_BYTES): string {
  let handle: number | undefined;
  try {
    handle = openSync(file, GUARDED);
    const found = fstatSync(handle);
    if (!found.isFile() || found.size > maxBytes) return "";
    const buffer = Buffer.allocUnsafe(found.size + 1);
    const length = readSync(handle, buffer);
    return length > found.size ? "" : buffer.toString("utf8", 0, length);
  } catch {
    return ""; // The file is missing, a link, or not readable.
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Room for one of Skein's own records, or a name in a git folder. */
const MAX_SHORT_BYTES = 1_000_000;
