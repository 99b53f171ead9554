/** Picks what a failing command wrote about what failed, with paths as they are in the tree. */
import { failingText } from "../../../text/failing-part.ts";
import type { ToolProblem } from "./found.ts";

type Written = {
  readonly text: string;
  /** The end of it, which is taken where nothing in it says what failed. */
  readonly tail: string;
  readonly folder: string;
  readonly maxLines?: number;
};

/** Agents and people read it: the end of an output is often a list of tests that passed. */
export function whatFailed(
  { text, tail, folder, maxLines = MAX_LINES }: Written,
  failures: readonly ToolProblem[] = [],
): string {
  const found = failingText(text.replaceAll(`${folder}/`, ""), {
    failures: failures.map(({ name }) => name),
    maxLines,
  });
  if (found.trim() === "") return tail;
  const lines = found.split("\n").map((line) => line.slice(0, MAX_LINE_CHARS));
  return lines.join("\n").slice(0, MAX_CHARS).toWellFormed();
}

const MAX_LINES = 40;
const MAX_LINE_CHARS = 500;
/** As much as the end of an output has that a program hands on. */
const MAX_CHARS = 4_096;
