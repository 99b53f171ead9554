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

/** A worker's own message, with the trailers at its end. */
export function replayedMessage(run: string, member: Branch, message: string): string {
  const text = message.trimEnd() || subjectOf(member);
  const missing = trailers(run, [member])
    .split("\n")
    .filter((line) => line !== "" && !text.split("\n").includes(line));
  if (missing.length === 0) return `${text}\n`;
  const last = text.slice(text.lastIndexOf("\n\n") + 1).trim();
  const hasTrailers = text.includes("\n\n") && last.split("\n").every((line) => TRAILER.test(line));
  return `${text}${hasTrailers ? "\n" : "\n\n"}${missing.join("\n")}\n`;
}

const TRAILER = /^(?:[A-Za-z0-9-]+: |\s)/;

const trailers = (run: string, members: readonly Branch[]): string =>
  [`Skein-Run: ${oneLine(run)}`, ...members.map(({ task }) => `Skein-Task: ${oneLine(task)}`), ""].join("\n");

const subjectOf = ({ subject, task }: Branch): string =>
  oneLine(subject).slice(0, MAX_SUBJECT_CHARS).trim().toWellFormed() || `Land ${oneLine(task)}`;

/** A model wrote it: on one line, so that it cannot add trailers. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, " ").trim();

const MAX_SUBJECT_CHARS = 200;
