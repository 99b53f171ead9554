/** What do our commits say? A subject, and trailers that name the run and its tasks. */
import type { Branch } from "../../ports/repository.ts";

export const mergeMessage = (run: string, member: Branch): string =>
  `${subjectOf(member)}\n\n${trailers(run, [member])}`;

export function landMessage(run: string, members: readonly Branch[]): string {
  const list = members.map((member) => `- ${subjectOf(member)}`).join("\n");
  return `Land ${members.length} tasks\n\n${list}\n\n${trailers(run, members)}`;
}

export const baseMessage = (run: string, baseBranch: string): string =>
  `Merge ${oneLine(baseBranch)} before it is delivered to\n\n${trailers(run, [])}`;

/** A worker's own message, with the trailers at its end and no other that is called as ours are. */
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
 * Without trailers such as "Skein-Task: t.9" that say something else than what Skein itself writes for this task. Git
 * reads trailers in the last paragraph only, and never in the first.
 */
export function withoutForged(run: string, member: Branch, message: string): string {
  for (let text = message; ; ) {
    const last = lastParagraph(text);
    let isForged = false;
    const kept = last.filter((line) => {
      isForged = OURS.test(line) ? !isGenuine(run, member, line) : isForged && /^\s/.test(line);
      return !isForged;
    });
    if (kept.length === last.length) return text;
    const before = text.trimEnd().split("\n").slice(0, -last.length);
    text = `${[...before, ...kept].join("\n").trimEnd()}\n`;
    if (kept.length > 0) return text;
  }
}

/** Also with a space before the colon, and in any case: so git finds it. */
const OURS = /^skein-[a-z0-9-]*\s*:/i;

function isGenuine(run: string, { task }: Branch, line: string): boolean {
  const own = `Skein-Task: ${oneLine(task)}`;
  return line === `Skein-Run: ${oneLine(run)}` || line === own || line.startsWith(`${own}.`); // Of its subtasks.
}

/** Its lines; none if it is the first paragraph, too. */
function lastParagraph(text: string): readonly string[] {
  const lines = text.trimEnd().split("\n");
  const blank = lines.findLastIndex((line) => line.trim() === "");
  return blank <= 0 ? [] : lines.slice(blank + 1);
}

const trailers = (run: string, members: readonly Branch[]): string =>
  [`Skein-Run: ${oneLine(run)}`, ...members.map(({ task }) => `Skein-Task: ${oneLine(task)}`), ""].join("\n");

const subjectOf = ({ subject, task }: Branch): string =>
  oneLine(subject).slice(0, MAX_SUBJECT_CHARS).trim().toWellFormed() || `Land ${oneLine(task)}`;

/** A model wrote it: on one line, so that it cannot add trailers. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, " ").trim();

const MAX_SUBJECT_CHARS = 200;
