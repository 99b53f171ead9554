/** What is in a file that a person named? So much of it, and no waiting for a pipe's other end. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";

export const isMissing = (error: unknown): boolean => Object(error).code === "ENOENT";

/** The beginning of a file; one byte more than the limit shows that it is longer. */
export const readBounded = async (file: string, maxBytes: number): Promise<string> =>
  (await readBytes(file, maxBytes)).toString("utf8");

export async function readBytes(file: string, maxBytes: number): Promise<Buffer> {
  // To open a pipe would wait for its other end.
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const found = await handle.stat();
  if (!found.isFile()) throw new Error("it is no file");
  const buffer = Buffer.alloc(Math.min(maxBytes + 1, found.size + 1));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
