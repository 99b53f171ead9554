/** Prepares a tool's output for its readers: lines without colours, with paths relative to the workspace. */
import { stripVTControlCharacters } from "node:util";
import { EVERYTHING, readPath } from "../../../core/scope.ts";
import type { Finds, ToolProblem } from "./found.ts";

export type Sheet = {
  readonly lines: readonly string[];
  /** A path that a tool wrote, if it is an editable file of the workspace. */
  readonly place: (written: string) => string | undefined;
  /** The first of these files that exists; undefined if that is not known. */
  readonly first: (candidates: readonly string[]) => string | undefined;
};

/** How the output of one tool is recognised, and how its failures are read. */
export type Reader = {
  /** Matches a line that only this tool writes. */
  readonly mark: RegExp;
  readonly read: (sheet: Sheet, finds: Finds) => void;
};

/** Reads single lines: `find` tells what a matching line means; `at` is the place inside the file. */
export const lineReader = (
  mark: RegExp,
  find: (
    match: RegExpExecArray,
    sheet: Sheet,
    line: number,
  ) => (ToolProblem & { readonly at?: string }) | undefined,
): Reader => ({
  mark,
  read(sheet, finds) {
    for (const [i, line] of sheet.lines.entries()) {
      const match = mark.exec(line);
      const found = match && find(match, sheet, i);
      if (found) finds.add(found, found.at);
    }
  },
});

export function sheetOf(
  text: string,
  folder: string | undefined,
  has: ((path: string) => boolean) | undefined,
): Sheet {
  const relative = relativeTo(folder);
  const place = (written: string) => {
    if (written.length > MAX_LINE_CHARS || /[:<>|"]|\s$/.test(written) || FOREIGN.test(written))
      return undefined;
    const read = readPath(written);
    if ("problem" in read || read.path === EVERYTHING || read.path.endsWith("/")) return undefined;
    return has === undefined || has(read.path) ? read.path : undefined;
  };
  return {
    lines: rawLines(text).map((line) => relative(plain(line))),
    place,
    first: (candidates) =>
      has === undefined ? undefined : candidates.find((path) => place(path) !== undefined),
  };
}

/** Third-party or generated files, which are not repaired. */
const FOREIGN =
  /(?:^|\/)(?:node_modules|site-packages|dist-packages|\.venv|venv|\.tox|target\/(?:debug|release))\//;

const MAX_LINE_CHARS = 2_000;
/** The limit of a line that still has its colours. */
const MAX_RAW_CHARS = 8_000;
/** About 64 MB of ordinary lines; of more, the first and the last half of this number are kept. */
const MAX_LINES = 600_000;

function rawLines(text: string): readonly string[] {
  const all = text.split("\n");
  const lines =
    all.length <= MAX_LINES ? all : [...all.slice(0, MAX_LINES / 2), ...all.slice(-MAX_LINES / 2)];
  return lines.map((line) => line.slice(0, MAX_RAW_CHARS));
}

/** A line without colours. Of an overwritten line, the text written last counts. */
function plain(raw: string): string {
  const line = raw.includes("\u001b") ? stripVTControlCharacters(raw) : raw;
  const end = line.endsWith("\r") ? line.replace(/(?<!\r)\r+$/, "") : line;
  return end.slice(end.lastIndexOf("\r") + 1).slice(0, MAX_LINE_CHARS);
}

function relativeTo(folder: string | undefined): (line: string) => string {
  const top = folder?.replace(/(?<!\/)\/+$/, "") ?? "";
  if (top === "") return (line) => line;
  const escaped = top.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const whole = new RegExp(`(?<![\\w./-])(?:file://)?(?:/private)?${escaped}(/|(?![\\w./-]))`, "g");
  return (line) =>
    line.includes(top) ? line.replace(whole, (_, slash) => (slash === "/" ? "" : ".")) : line;
}

/** Lines from `from` until the end of the block; limited, so that nested blocks cost nothing. */
export function block(
  lines: readonly string[],
  from: number,
  isEnd: (line: string) => boolean,
  max = MAX_BLOCK_LINES,
): readonly string[] {
  let to = from;
  while (to < lines.length && to < from + max && !isEnd(lines[to]!)) to += 1;
  return lines.slice(from, to);
}

const MAX_BLOCK_LINES = 60;

export const gist = (lines: readonly string[], max = 6): string =>
  lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(0, max)
    .join("\n");

/** Files of the workspace in the stack frames of JavaScript, innermost first. */
export function frames(lines: readonly string[], sheet: Sheet): readonly string[] {
  return lines.flatMap((line) => {
    const at = FRAME.exec(line)?.[1];
    const file = at === undefined ? undefined : sheet.place(at.replace(/^file:\/\//, ""));
    return file === undefined ? [] : [file];
  });
}

const FRAME = /^\s*(?:at|❯) (?:.*[ (])?([^\s()]+?):\d{1,9}:\d{1,9}\)?(?: \{)?$/;

export const isFile = (path: string | undefined): path is string => path !== undefined;
