/** Does a task hide several things behind one word? Ranges, sums, wildcards and counts, where each should be named. */

import type { PlanTask } from "../plan.ts";
import { type Finding, warning } from "./finding.ts";

/** Advice only: what looks like a range of tasks may be one of pages. */
export function compressedWords(task: PlanTask, path: string): readonly Finding[] {
  return [
    ...shortForms(task.subject, `${path}.subject`),
    ...shortForms(task.description, `${path}.description`),
    ...bareCount(task, `${path}.subject`),
  ];
}

/** Long texts say it at the beginning, if at all. */
const MAX_READ_CHARS = 10_000;

const RANGE =
  /\b(?:sub)?(?:task|step|phase|item|wave)s?\s{1,4}#?\d{1,6}\s?(?:-|–|—|\.\.|\bto\b|\bthrough\b)\s?#?\d{1,6}\b/i;
const ONLY_RANGE = /^#?\d{1,6}\s?[-–—]\s?#?\d{1,6}$/;
const SUM = /\b(?:task|step|phase)[ _-]?#?\d{1,6}\s?\+\s?(?:(?:task|step|phase)[ _-]?)?#?\d{1,6}\b/i;
const WILDCARD = /\broot(?:\.\d{1,6}){0,20}\.\*/i;
const FORMS = [
  ["a range", RANGE],
  ["a range", ONLY_RANGE],
  ["a sum", SUM],
  ["a wildcard", WILDCARD],
] as const;

function shortForms(text: string, place: string): readonly Finding[] {
  const read = text.slice(0, MAX_READ_CHARS);
  const found = FORMS.flatMap(([name, pattern]) => {
    const match = pattern.exec(read)?.[0];
    return match === undefined ? [] : [warning(place, `"${match}" is ${name}`, "name each one by itself")];
  });
  return found.slice(0, 1);
}

/** Right behind the verb, and all that there is: "Write 4 test files", "16 agent files in agents/". */
const COUNT =
  /^(?:\p{L}{1,20} )?(?:all |the )?(\d{1,4}) (?:[\p{L}-]{1,30} ){0,2}files(?= (?:in|from|of|under) |$)/iu;
const FILE_NAME = /[\w-]{1,60}\.[A-Za-z]\w{0,7}\b/g;

function bareCount({ subject, description, scope, reads }: PlanTask, place: string): readonly Finding[] {
  const count = COUNT.exec(subject);
  if (count === null) return [];
  const named = [...scope, ...reads];
  if (named.some((path) => path.endsWith("/"))) return [];
  const inText = new Set(description.slice(0, MAX_READ_CHARS).match(FILE_NAME));
  const isNamed = Math.max(named.length, inText.size) >= Number(count[1]);
  const message = `"${count[0]}" does not say which`;
  return isNamed ? [] : [warning(place, message, "name each file in the description, in scope or in reads")];
}
