/** Picks the lines of a failing command's output that say what failed, with paths as they are in the tree. */
import { failingText } from "../../../text/failing-part.ts";
import { plainLines } from "../../../text/plain-lines.ts";
import type { ToolProblem } from "./found.ts";

type Written = { readonly text: string; readonly folder: string; readonly maxLines?: number };

type Ended = Written & {
  /** How the command ended, in words. */
  readonly how: string;
  /** Whether it was stopped or killed: its last output then shows where it was. */
  readonly isHalted?: true;
};

/**
 * Agents and people read this. The end of an output is often a list of tests that passed, which say nothing about
 * the failure. If no line says why, the way in which the command ended does.
 */
export function whatFailed(ended: Ended, failures: readonly ToolProblem[]): string {
  const { text, how, isHalted } = ended;
  const why = whySaid(ended, failures);
  if (!isHalted) return why === "" ? unsaid(text, how) : why;
  return bounded([how, ...(why === "" ? [] : [why]), ...lastOf(text)].join("\n"));
}

/** Empty if no line says why. */
export function whySaid(
  { text, folder, maxLines = MAX_LINES }: Written,
  failures: readonly ToolProblem[] = [],
): string {
  const found = failingText(text.replaceAll(`${folder}/`, ""), {
    failures: failures.map(({ name }) => name),
    maxLines,
  });
  return found.trim() === "" ? "" : bounded(found);
}

const bounded = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.slice(0, MAX_LINE_CHARS))
    .join("\n")
    .slice(0, MAX_CHARS)
    .toWellFormed();

const unsaid = (text: string, how: string): string =>
  `${how}, and ${text.trim() === "" ? "it wrote nothing" : "no line of its output says why"}`;

function lastOf(text: string): readonly string[] {
  const last = plainLines(text)
    .filter((line) => line.trim() !== "")
    .slice(-MAX_LAST_LINES);
  return last.length === 0 ? ["it wrote nothing"] : ["what it wrote last:", ...last];
}

const MAX_LINES = 40;
const MAX_LAST_LINES = 5;
const MAX_LINE_CHARS = 500;
/** As much as a program passes on of the end of its output. */
const MAX_CHARS = 4_096;
