/** Writes the messages of Skein's commits: a subject, and trailers that name the run and its tasks. */
import type { Branch } from "../../ports/repository.ts";

export const mergeMessage = (run: string, member: Branch): string =>
  `${subjectOf(member)}\n\n${trailers(run, [member])}`;

export function landMessage(run: string, members: readonly Branch[]): string {
  const list = members.map((member) => `- ${subjectOf(member)}`).join("\n");
  return `Land ${members.length} tasks\n\n${list}\n\n${trailers(run, members)}`;
}

export const baseMessage = (run: string, baseBranch: string): string =>
  `Merge ${oneLine(baseBranch)} before it is delivered to\n\n${trailers(run, [])}`;

/** A worker's own message, with Skein's trailers at its end and no other trailer with such a name. */
export function replayedMessage(run: string, member: Branch, message: string): string {
  const text = withoutForged(run, member, message).trimEnd() || subjectOf(member);
  const last = lastParagraph(text);
  const missing = trailers(run, [member])
    .split("\n")
    .filter((line) => line !== "" && !last.includes(line));
  if (missing.length === 0) return `${text}\n`;
  const hasTrailers = last.length > 0 && last.every((line) => TRAILER.test(line));
  return `${text}${hasTrailers ? "\n" : "\n\n"}${missing.join("\n")}\n`;
}

const TRAILER = /^(?:[A-Za-z0-9-]+: |\s)/;

/**
 * Removes trailers such as "Skein-Task: t.9" that differ from what Skein itself writes for this task. Git reads
 * trailers in the last paragraph only, and never in the first. Where a message ends for git depends on the command
 * that reads it: at its end, at a zero character, before a line of "---", or before the scissors of an editor.
 */
export function withoutForged(run: string, member: Branch, message: string): string {
  let lines: readonly string[] = message.replaceAll("\0", "").split("\n");
  const isForged = (line: string, next: string | undefined) =>
    OURS.test(line) ? !isGenuine(run, member, line) || isContinued(next) : undefined;
  for (const isEnd of [() => false, isDivider, isScissors]) {
    const found = lines.findIndex(isEnd);
    const end = found === -1 ? lines.length : found;
    lines = [...cleanEnd(lines.slice(0, end), isForged), ...lines.slice(end)];
  }
  return lines.join("\n");
}

/**
 * Removes forged trailers in the last paragraph, with the lines that continue them; and in those before it that
 * git takes for the last one, because it ignores comments and lists of conflicts at the end. Works in one pass,
 * because a message can be long.
 */
function cleanEnd(
  lines: readonly string[],
  isForged: (line: string, next: string | undefined) => boolean | undefined,
): readonly string[] {
  const kept: (readonly string[])[] = []; // The last paragraph comes first.
  let to = lines.length;
  for (;;) {
    const end = backWhile(lines, to, isBlank);
    const from = backWhile(lines, end, (line) => !isBlank(line));
    if (from === 0) break; // It is the first paragraph, or there is none.
    const paragraph = lines.slice(from, end);
    let isDropping = false;
    const left = paragraph.filter((line, i) => {
      isDropping = isForged(line, paragraph[i + 1]) ?? (isDropping && isContinued(line));
      return !isDropping;
    });
    kept.push([...left, ...lines.slice(end, to)]);
    to = left.length > 0 ? from : backWhile(lines, from, isBlank);
    if (left.length > 0 && !isIgnored(left)) break;
  }
  return [...lines.slice(0, to), ...kept.reverse().flat()];
}

/** Where the run of matching lines that ends at `end` begins. */
function backWhile(lines: readonly string[], end: number, isSo: (line: string) => boolean): number {
  let from = end;
  while (from > 0 && isSo(lines[from - 1]!)) from -= 1;
  return from;
}

/** In any case, and also with a space before the colon, because git accepts both. */
const OURS = /^skein-[a-z0-9-]*\s*:/i;

/** What git takes for blank; other programs know more kinds of spaces. */
const isBlank = (line: string): boolean => /^[ \t\r]*$/.test(line);
const isContinued = (line: string | undefined): boolean => line !== undefined && /^[ \t]/.test(line);
const isDivider = (line: string): boolean => /^---(?:\s|$)/.test(line);
const isScissors = (line: string): boolean => /^\S -+ >8 -+$/.test(line);

/**
 * Whether git ignores the paragraph: all of it is a comment, with any of git's marks for comments, or a list of
 * conflicts.
 */
const isIgnored = ([first = "", ...rest]: readonly string[]): boolean =>
  [first, ...rest].every((line) => COMMENT.test(line)) ||
  (/^Conflicts:$/.test(first) && rest.every((line) => line.startsWith("\t") || COMMENT.test(line)));
const COMMENT = /^[#;@!$%^&|:]/;

function isGenuine(run: string, { task }: Branch, line: string): boolean {
  const own = `Skein-Task: ${oneLine(task)}`;
  if (line === `Skein-Run: ${oneLine(run)}` || line === own) return true;
  return line.startsWith(`${own}.`) && !/\s/.test(line.slice(own.length)); // A trailer of one of its subtasks.
}

/** The lines of the last paragraph; none if it is the first paragraph, too. */
function lastParagraph(text: string): readonly string[] {
  const lines = text.trimEnd().split("\n");
  const blank = lines.findLastIndex(isBlank);
  return blank <= 0 ? [] : lines.slice(blank + 1);
}

const trailers = (run: string, members: readonly Branch[]): string =>
  [`Skein-Run: ${oneLine(run)}`, ...members.map(({ task }) => `Skein-Task: ${oneLine(task)}`), ""].join("\n");

const subjectOf = ({ subject, task }: Branch): string =>
  oneLine(subject).slice(0, MAX_SUBJECT_CHARS).trim().toWellFormed() || `Land ${oneLine(task)}`;

/** A text by a model, on one line so that it cannot add trailers. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, " ").trim();

const MAX_SUBJECT_CHARS = 200;
