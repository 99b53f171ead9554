/** How does an agent read and write files through us? Inside the workspace and the scratchpad, links followed first. */
import { messageOf } from "../../../core/failure.ts";
import { isRefused } from "../tools/inside.ts";
import { lookInside, readInside, writeInside } from "../tools/open-inside.ts";
import { type Reach, readable, writable } from "../tools/reach.ts";
import { whyNot } from "../tools/text.ts";
import { fields, text } from "./loose.ts";
import type { Answered } from "./peer.ts";

export type FilesPlace = Reach & { readonly maxFileBytes: number };

/** `line`: the first one, counted from 1; `limit`: how many. */
export async function readForAgent(place: FilesPlace, params: unknown): Promise<Answered> {
  const { path, line, limit } = fields(params);
  const found = await readable(place, text(path));
  if (isRefused(found)) return refused(found.refused);
  const { root, file } = found;
  try {
    const read = await readInside(root, file, place.maxFileBytes);
    if (read.is === "too-large") return refused(`${file.name} has ${read.size} bytes: too large`);
    if (read.is !== "bytes") return refused(`${file.name} is no file`);
    const content = read.bytes.toString();
    if (line === undefined && limit === undefined) return { result: { content } };
    const from = Math.max(1, count(line) ?? 1) - 1;
    return {
      result: {
        content: content
          .split(/(?<=\n)/)
          .slice(from, from + (count(limit) ?? Infinity))
          .join(""),
      },
    };
  } catch (thrown) {
    return isMissing(thrown) ? missing(file.name) : refused(`${file.name} ${whyNot(thrown)}`);
  }
}

export async function writeForAgent(place: FilesPlace, params: unknown): Promise<Answered> {
  const { path, content } = fields(params);
  if (place.readsOnly && place.pad?.output === undefined) return refused("this role changes no files");
  if (typeof content !== "string") return refused("there is no content");
  const found = await writable(place, text(path));
  if (isRefused(found)) return refused(found.refused);
  const { root, file } = found;
  const size = Buffer.byteLength(content);
  if (size > place.maxFileBytes) return refused(`${size} bytes are too many for one file`);
  try {
    const before = await lookInside(root, file).catch((thrown: unknown) => {
      if (isMissing(thrown)) return undefined;
      throw thrown;
    });
    if (before && !before.isFile()) return refused(`${file.name} is no file`);
    await writeInside(root, file, content, before && before.mode & 0o777);
    return { result: {} };
  } catch (thrown) {
    return refused(`${file.name} ${whyNot(thrown)}`);
  }
}

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? Math.max(0, Math.trunc(value)) : undefined;

const isMissing = (thrown: unknown): boolean => (Object(thrown) as NodeJS.ErrnoException).code === "ENOENT";

/** Codes of the protocol: an invalid parameter, a resource that is not there, a method that is not. */
const refused = (message: string): Answered => ({ error: { code: -32602, message } });
const missing = (name: string): Answered => ({
  error: { code: -32002, message: `Resource not found: ${name}` },
});
export const unknownMethod = (method: string): Answered => ({
  error: { code: -32601, message: `Skein has no method ${messageOf(method).slice(0, 100)}` },
});
