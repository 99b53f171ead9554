/** How does a model read and change files? By path and text, inside the workspace, within limits, never by throwing. */
import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { isRefused, quoted } from "./inside.ts";
import { lookInside, openFolder, readInside, writeInside } from "./open-inside.ts";
import type { RootedPlace } from "./place.ts";
import { type Reach, type Reached, readable, writable } from "./reach.ts";
import { firstLines, problem, whyNot } from "./text.ts";

export type FilePlace = Reach & Pick<RootedPlace, "limits">;

export type ReadInput = {
  readonly path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
};

/** From line `offset` on, the first being 1. */
export async function readText(place: FilePlace, input: ReadInput): Promise<string> {
  const found = await textOf(place, input.path);
  if ("why" in found) return problem(found.why);
  const lines = found.text.replace(/\n$/, "").split("\n");
  const first = Math.max(1, Math.trunc(input.offset ?? 1));
  if (found.text === "") return "(the file is empty)";
  if (first > lines.length) return problem(`${found.name} has only ${lines.length} lines`);
  const wanted = lines.slice(first - 1);
  const max = { lines: input.limit ?? MAX_LINES, bytes: place.limits.maxOutputBytes };
  const { kept, leftOut } = firstLines(wanted, max);
  const next = first + kept.length;
  const cut = `[lines ${first} to ${next - 1} of ${lines.length}; go on with offset ${next}]`;
  return leftOut === 0 ? kept.join("\n") : [...kept, cut].join("\n");
}

const MAX_LINES = 2_000;

export type WriteInput = { readonly path: string; readonly content: string };

export async function writeText(place: FilePlace, { path, content }: WriteInput): Promise<string> {
  const found = await writable(place, path);
  if (isRefused(found)) return problem(found.refused);
  const size = Buffer.byteLength(content);
  if (size > place.limits.maxFileBytes) return problem(tooLarge("the content", size, place));
  const before = await modeOf(found);
  if ("why" in before) return problem(before.why);
  const why = await written(found, content, before.mode);
  return why === undefined ? `wrote ${found.file.name}: ${size} bytes` : problem(why);
}

export type EditInput = {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean | undefined;
};

/** The text must be there once, unless all places are meant: a wrong guess changes nothing. */
export async function editText(place: FilePlace, input: EditInput): Promise<string> {
  const target = await writable(place, input.path);
  if (isRefused(target)) return problem(target.refused);
  const { file } = target;
  if (input.old_text === "") return problem("old_text is empty: use write for a new file");
  if (input.old_text === input.new_text) return problem("old_text and new_text are the same");
  const found = await textOf(place, input.path);
  if ("why" in found) return problem(found.why);
  const [old, replacement] = asInFile(found.text, input);
  const parts = found.text.split(old);
  const places = parts.length - 1;
  if (places === 0) return problem(`old_text is not in ${file.name}: read it again, spaces count`);
  if (places > 1 && input.replace_all !== true) {
    return problem(`old_text is in ${file.name} ${places} times: give more of it, or set replace_all`);
  }
  // Counted before it is made: a character that becomes a page, everywhere, is more than memory holds.
  const grown = Buffer.byteLength(replacement) - Buffer.byteLength(old);
  const size = Buffer.byteLength(found.text) + places * grown;
  if (size > place.limits.maxFileBytes) return problem(tooLarge(file.name, size, place));
  const why = await written(target, parts.join(replacement), found.mode);
  return why === undefined
    ? `changed ${file.name} in ${places} ${places === 1 ? "place" : "places"}`
    : problem(why);
}

/** Models write line ends as "\n", whatever the file has. */
function asInFile(text: string, { old_text, new_text }: EditInput): readonly [string, string] {
  if (text.includes(old_text) || !text.includes("\r\n")) return [old_text, new_text];
  const dos = (one: string) => one.replaceAll(/\r?\n/g, "\r\n");
  return [dos(old_text), dos(new_text)];
}

export type ListInput = { readonly path?: string | undefined };

/** A slash marks folders, "@" links. */
export async function listFolder(place: FilePlace, { path = "." }: ListInput): Promise<string> {
  const { limits } = place;
  const found = await readable(place, path);
  if (isRefused(found)) return problem(found.refused);
  try {
    await using folder = await openFolder(found.root, found.file.path);
    const entries = await readdir(folder.at, { withFileTypes: true });
    const names = entries
      .map((entry) => `${entry.name}${entry.isDirectory() ? "/" : entry.isSymbolicLink() ? "@" : ""}`)
      .sort();
    if (names.length === 0) return "(the folder is empty)";
    const { kept, leftOut } = firstLines(names, { lines: MAX_ENTRIES, bytes: limits.maxOutputBytes });
    return [...kept, ...(leftOut > 0 ? [`[${leftOut} more are left out]`] : [])].join("\n");
  } catch (thrown) {
    return problem(`${quoted(path)} ${whyNot(thrown)}`);
  }
}

const MAX_ENTRIES = 1_000;

type Text = { readonly text: string; readonly name: string; readonly mode: number };
type Why = { readonly why: string };

async function textOf(place: FilePlace, asked: string): Promise<Text | Why> {
  const reached = await readable(place, asked);
  if (isRefused(reached)) return { why: reached.refused };
  const { file } = reached;
  const found = await bytesOf(place, reached);
  if ("why" in found) return found;
  const { bytes, mode } = found;
  if (bytes.includes(0) || !isUtf8(bytes)) {
    return { why: `${file.name} is no text in UTF-8: it has ${bytes.length} bytes` };
  }
  return { text: bytes.toString(), name: file.name, mode };
}

async function bytesOf(place: FilePlace, { root, file }: Reached) {
  try {
    const found = await readInside(root, file, place.limits.maxFileBytes);
    if (found.is === "bytes") return found;
    if (found.is === "too-large") return { why: tooLarge(file.name, found.size, place) };
    return { why: found.is === "folder" ? `${file.name} is a folder: use ls` : `${file.name} ${SPECIAL}` };
  } catch (thrown) {
    return { why: `${quoted(file.name)} ${whyNot(thrown)}` };
  }
}

const SPECIAL = "is a pipe, a socket or a device, and is not opened";

/** Of what is replaced; none for what is new. What is no file is not replaced. */
async function modeOf({ root, file }: Reached): Promise<{ readonly mode?: number } | Why> {
  try {
    const found = await lookInside(root, file);
    if (found.isFile()) return { mode: found.mode & 0o777 };
    return { why: found.isDirectory() ? `${file.name} is a folder` : `${file.name} ${SPECIAL}` };
  } catch (thrown) {
    const { code } = Object(thrown) as NodeJS.ErrnoException;
    return code === "ENOENT" ? {} : { why: `${quoted(file.name)} ${whyNot(thrown)}` };
  }
}

async function written({ root, file }: Reached, text: string, mode?: number) {
  try {
    await writeInside(root, file, text, mode);
    return undefined;
  } catch (thrown) {
    return `${quoted(file.name)} ${whyNot(thrown)}`;
  }
}

const tooLarge = (name: string, size: number, { limits }: FilePlace) =>
  `${name} has ${size} bytes, more than ${limits.maxFileBytes}: use smaller parts`;
