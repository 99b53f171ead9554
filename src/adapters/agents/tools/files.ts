/** Reads, writes, edits and lists files for a model: inside the workspace, within limits, without throwing. */
import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { lookInside, openFolder, readInside, writeInside } from "./open-inside.ts";
import type { RootedPlace } from "./place.ts";
import { isRefused, quoted, type Reached, readable, type ToolReach, writable } from "./reach.ts";
import { firstLines, problem, whyNot } from "./text.ts";

type FilePlace = ToolReach & Pick<RootedPlace, "limits">;

export async function readText(
  place: FilePlace,
  input: { readonly path: string; readonly offset?: number | undefined; readonly limit?: number | undefined },
): Promise<string> {
  const found = await textOf(place, input.path);
  if ("why" in found) return problem(found.why);
  if (found.text === "") return "(the file is empty)";
  const lines = found.text.replace(/\n$/, "").split("\n");
  const first = Math.max(1, Math.trunc(input.offset ?? 1));
  if (first > lines.length) return problem(`${found.name} has only ${lines.length} lines`);
  const max = { lines: input.limit ?? MAX_LINES, bytes: place.limits.maxOutputBytes };
  const { kept, leftOut } = firstLines(lines.slice(first - 1), max);
  const next = first + kept.length;
  const cut = `[lines ${first} to ${next - 1} of ${lines.length}; go on with offset ${next}]`;
  return leftOut === 0 ? kept.join("\n") : [...kept, cut].join("\n");
}

const MAX_LINES = 2_000;

export async function writeText(
  place: FilePlace,
  { path, content }: { readonly path: string; readonly content: string },
): Promise<string> {
  const written = await replaceWhole(place, path, content, place.limits.maxFileBytes);
  if ("why" in written) return problem(written.why);
  return `wrote ${written.name}: ${Buffer.byteLength(content)} bytes`;
}

type EditInput = {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean | undefined;
};

/**
 * Edits a file. The old text must occur exactly once, unless all places are meant, so that a wrong guess changes
 * nothing.
 */
export async function editText(place: FilePlace, input: EditInput): Promise<string> {
  const target = await writable(place, input.path);
  if (isRefused(target)) return problem(target.refused);
  const { name } = target.file;
  if (input.old_text === "") return problem("old_text is empty: use write for a new file");
  if (input.old_text === input.new_text) return problem("old_text and new_text are the same");
  const found = await textOf(place, input.path);
  if ("why" in found) return problem(found.why);
  const [old, replacement] = withLineEnds(found.text, input);
  const parts = found.text.split(old);
  const places = parts.length - 1;
  if (places === 0) return problem(`old_text is not in ${name}: read it again, spaces count`);
  if (places > 1 && input.replace_all !== true) {
    return problem(`old_text is in ${name} ${places} times: give more of it, or set replace_all`);
  }
  // Checked before the text is made: replacing every character by a page could exceed the memory.
  const grown = Buffer.byteLength(replacement) - Buffer.byteLength(old);
  const size = Buffer.byteLength(found.text) + places * grown;
  const { maxFileBytes } = place.limits;
  if (size > maxFileBytes) return problem(tooLarge(name, size, maxFileBytes));
  const why = await tryWrite(target, parts.join(replacement), found.mode);
  if (why !== undefined) return problem(why);
  return `changed ${name} in ${places} ${places === 1 ? "place" : "places"}`;
}

/** Models write "\n", whatever line ends the file has. */
function withLineEnds(text: string, { old_text, new_text }: EditInput): readonly [string, string] {
  if (text.includes(old_text) || !text.includes("\r\n")) return [old_text, new_text];
  const dos = (one: string) => one.replaceAll(/\r?\n/g, "\r\n");
  return [dos(old_text), dos(new_text)];
}

export async function listFolder(
  place: FilePlace,
  { path = "." }: { readonly path?: string | undefined },
): Promise<string> {
  const found = await readable(place, path);
  if (isRefused(found)) return problem(found.refused);
  try {
    await using folder = await openFolder(found.root, found.file.path);
    const entries = await readdir(folder.at, { withFileTypes: true });
    const names = entries
      .map((entry) => `${entry.name}${entry.isDirectory() ? "/" : entry.isSymbolicLink() ? "@" : ""}`)
      .sort();
    if (names.length === 0) return "(the folder is empty)";
    const max = { lines: MAX_ENTRIES, bytes: place.limits.maxOutputBytes };
    const { kept, leftOut } = firstLines(names, max);
    return [...kept, ...(leftOut > 0 ? [`[${leftOut} more are left out]`] : [])].join("\n");
  } catch (thrown) {
    return problem(`${quoted(path)} ${whyNot(thrown)}`);
  }
}

const MAX_ENTRIES = 1_000;

/** Why a file was not read or written. `missing`: its name, if it does not exist. */
export type FileProblem = { readonly why: string; readonly missing?: string };

type WholeFile = { readonly bytes: Buffer; readonly name: string; readonly mode: number };

export async function readWhole(
  reach: ToolReach,
  asked: string,
  maxBytes: number,
): Promise<WholeFile | FileProblem> {
  const reached = await readable(reach, asked);
  if (isRefused(reached)) return { why: reached.refused };
  const { root, file } = reached;
  try {
    const found = await readInside(root, file, maxBytes);
    if (found.is === "bytes") return { bytes: found.bytes, name: file.name, mode: found.mode };
    if (found.is === "too-large") return { why: tooLarge(file.name, found.size, maxBytes) };
    return { why: `${file.name} ${found.is === "folder" ? "is a folder: use ls" : SPECIAL}` };
  } catch (thrown) {
    return {
      why: `${quoted(file.name)} ${whyNot(thrown)}`,
      ...(isMissing(thrown) && { missing: file.name }),
    };
  }
}

/** Keeps the mode of the file that it replaces. */
export async function replaceWhole(
  reach: ToolReach,
  asked: string,
  content: string,
  maxBytes: number,
): Promise<{ readonly name: string } | FileProblem> {
  const reached = await writable(reach, asked);
  if (isRefused(reached)) return { why: reached.refused };
  const size = Buffer.byteLength(content);
  if (size > maxBytes) return { why: tooLarge("the content", size, maxBytes) };
  const before = await modeOf(reached);
  if ("why" in before) return before;
  const why = await tryWrite(reached, content, before.mode);
  return why === undefined ? { name: reached.file.name } : { why };
}

async function textOf(place: FilePlace, asked: string) {
  const found = await readWhole(place, asked, place.limits.maxFileBytes);
  if ("why" in found) return found;
  const { bytes, name, mode } = found;
  if (bytes.includes(0) || !isUtf8(bytes))
    return { why: `${name} is not UTF-8 text: it has ${bytes.length} bytes` };
  return { text: bytes.toString(), name, mode };
}

const SPECIAL = "is a pipe, a socket or a device, and is not opened";

async function modeOf({ root, file }: Reached): Promise<{ readonly mode?: number } | FileProblem> {
  try {
    const found = await lookInside(root, file);
    if (found.isFile()) return { mode: found.mode & 0o777 };
    return { why: `${file.name} ${found.isDirectory() ? "is a folder" : SPECIAL}` };
  } catch (thrown) {
    return isMissing(thrown) ? {} : { why: `${quoted(file.name)} ${whyNot(thrown)}` };
  }
}

async function tryWrite({ root, file }: Reached, text: string, mode?: number): Promise<string | undefined> {
  try {
    await writeInside(root, file, text, mode);
    return undefined;
  } catch (thrown) {
    return `${quoted(file.name)} ${whyNot(thrown)}`;
  }
}

const isMissing = (thrown: unknown): boolean => (Object(thrown) as NodeJS.ErrnoException).code === "ENOENT";

const tooLarge = (name: string, size: number, maxBytes: number) =>
  `${name} has ${size} bytes, more than ${maxBytes}: use smaller parts`;
