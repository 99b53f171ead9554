/** What does a written value mean: a text, a line, a list, ids, paths, a command? Mended where that is safe, and said. */
import { quoted } from "../../core/lines.ts";
import { TASK_ID } from "../../core/plan-answer.ts";
import { readPath } from "../../core/scope.ts";
import type { Found, Report } from "./place.ts";

/** As for planners: some twenty pages of one task; a folder stands for its files. */
export const MAX_TEXT_CHARS = 50_000;
export const MAX_LINE_CHARS = 10_000;
const MAX_ENTRIES = 10_000;

/** All but tab and line ends: a terminal obeys an escape, and no process takes a NUL. */
const CONTROL = /[\p{Cc}--[\t\n]]/gv;
const LINE_END = /\r\n?|[\u2028\u2029]/g;

function plain(text: string, at: string, report: Report): string {
  const ended = text.replace(LINE_END, "\n");
  const mended = ended.toWellFormed().replace(CONTROL, "");
  if (mended !== ended) report.note(at, "held control characters or half characters, which were removed");
  return mended.trim();
}

/** Empty, with a problem, where nothing is said. */
export function textOf(found: Found, report: Report, maxChars = MAX_TEXT_CHARS): string {
  const before = report.count;
  const text = anyTextOf(found, report, maxChars);
  if (report.count > before || /[\p{L}\p{N}\p{S}]/u.test(text)) return text;
  return refused(report, found.at, "says nothing");
}

/** It may be empty, or say nothing. */
function anyTextOf({ at, value }: Found, report: Report, maxChars: number): string {
  const written = Array.isArray(value) && value.every(isText) ? value.join("\n") : value;
  if (!isText(written)) return refused(report, at, "must be text");
  const text = plain(written, at, report);
  return text.length > maxChars ? refused(report, at, `is longer than ${maxChars} characters`) : text;
}

const isText = (value: unknown): value is string => typeof value === "string";

function refused(report: Report, at: string, why: string, next?: string): "" {
  report.refuse(at, why, next);
  return "";
}

export const lineOf = (found: Found, report: Report, maxChars = MAX_LINE_CHARS): string =>
  oneLine(textOf(found, report, maxChars));

export const anyLineOf = (found: Found, report: Report, maxChars = MAX_LINE_CHARS): string =>
  oneLine(anyTextOf(found, report, maxChars));

/** Line ends become blanks; by hand, because a pattern with blanks on both sides would look at each of them often. */
function oneLine(text: string): string {
  if (!text.includes("\n")) return text;
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}

/** A list of lines. A text is one, too: its lines, without the marks of a list before them. */
export function linesOf({ at, value }: Found, report: Report): readonly string[] {
  if (isText(value)) {
    report.note(at, "was text and is kept as a list");
    const text = plain(value, at, report);
    const lines = text.split("\n").map((line) =>
      line
        .trim()
        .replace(/^(?:[-*•] |\d{1,3}[.)] )/, "")
        .trim(),
    );
    return linesOf({ at, value: lines.filter((line) => line !== "") }, report);
  }
  return listOf({ at, value }, report).flatMap((one, index) => {
    if (isText(one) && one.trim() === "") return [];
    const line = lineOf({ at: `${at}[${index}]`, value: one }, report);
    return line === "" ? [] : [line];
  });
}

export function listOf({ at, value }: Found, report: Report): readonly unknown[] {
  if (!Array.isArray(value)) report.refuse(at, "must be a list");
  else if (value.length > MAX_ENTRIES) report.refuse(at, `has more than ${MAX_ENTRIES} entries`);
  else return value;
  return [];
}

/** An id as it is kept; undefined if it cannot be one. */
export function idOf(value: unknown): string | undefined {
  const id = typeof value === "number" && Number.isSafeInteger(value) ? `${value}` : value;
  return isText(id) && TASK_ID.test(id) ? id : undefined;
}

export const ID_RULE =
  "up to 64 letters, digits, dots, dashes and underscores, the first a letter or a digit";

/** Each once. As text, with commas between them; "none" is none. */
export function idsOf({ at, value }: Found, report: Report): readonly string[] {
  const ids = new Set<string>();
  const isOne = isText(value) || typeof value === "number";
  const list = isText(value) ? namesIn(value) : isOne ? [value] : listOf({ at, value }, report);
  if (isOne) report.note(at, "was not a list and is kept as one");
  for (const [index, one] of list.entries()) {
    const id = idOf(one);
    if (id !== undefined) ids.add(id);
    else report.refuse(isOne ? at : `${at}[${index}]`, `${shown(one)} is no id`, `an id has ${ID_RULE}`);
  }
  return [...ids];
}

const namesIn = (text: string) =>
  text
    .slice(0, MAX_LINE_CHARS)
    .split(/[,\n]/)
    .map((name) => name.trim())
    .filter((name) => name !== "" && !/^(?:none|-|—)$/i.test(name));

export const shown = (value: unknown): string =>
  isText(value) ? quoted(value) : typeof value === "object" ? "something else than text" : `${value}`;

/** Made plain; the same path counts once, as a folder if it was written as one. As text, with commas between them. */
export function pathsOf(found: readonly Found[], report: Report): readonly string[] {
  const paths = new Map<string, string>();
  for (const one of found) {
    const isList = !isText(one.value);
    if (!isList) report.note(one.at, "was not a list and is kept as one");
    const list = isText(one.value) ? namesIn(one.value) : listOf(one, report);
    if (isText(one.value) && one.value.trim() === "") report.refuse(one.at, "is empty", "leave it out");
    for (const [index, written] of list.entries()) {
      const at = isList ? `${one.at}[${index}]` : one.at;
      const read = isText(written) ? readPath(written) : { problem: `${shown(written)} is not a path` };
      if ("problem" in read) report.refuse(at, read.problem, "name files of the repository, from its top");
      else if (read.path.endsWith("/")) paths.set(read.path.slice(0, -1), read.path);
      else if (!paths.has(read.path)) paths.set(read.path, read.path);
    }
  }
  return [...paths.values()];
}

/** What a person approves of must look like what runs: no line ends, nothing invisible. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const MAX_COMMAND_CHARS = 10_000;

/** Several commands pass when each does. */
export function commandOf(found: readonly Found[], report: Report): string | undefined {
  const commands = found.flatMap(({ at, value }) => {
    const list = isText(value) ? [value] : listOf({ at, value }, report);
    return list.flatMap((one, index) =>
      oneCommand({ at: isText(value) ? at : `${at}[${index}]`, value: one }, report),
    );
  });
  const all = commands.length > 1 ? commands.map((one) => `(${one})`).join(" && ") : commands[0];
  if (all === undefined || all.length <= MAX_COMMAND_CHARS) return all;
  report.refuse(found[0]!.at, `is longer than ${MAX_COMMAND_CHARS} characters`, "put it into a script");
  return undefined;
}

function oneCommand({ at, value }: Found, report: Report): readonly string[] {
  const command = isText(value) ? value.trim() : "";
  if (!isText(value)) report.refuse(at, "must be a command");
  else if (command === "") report.refuse(at, "is empty", "leave it out, or write a command");
  else if (HIDDEN.test(command))
    report.refuse(at, "holds line ends, or invisible or control characters", "write one line, or a script");
  else return [command];
  return [];
}

/** A whole number in a range; a numeral is one, too. */
export function wholeOf(found: Found, range: readonly [number, number], report: Report): number | undefined {
  const { at, value } = found;
  const number = isText(value) && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
  if (isWhole(number, range)) return number;
  report.refuse(at, `must be a whole number from ${range[0]} to ${range[1]}`);
  return undefined;
}

const isWhole = (value: unknown, [from, to]: readonly [number, number]): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= from && value <= to;
