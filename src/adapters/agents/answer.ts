/** Finds a program's answer: in the file that it was told to write, else at the end of its output. */
import { unreachable } from "../../core/unreachable.ts";
import { parseJson } from "../../text/json.ts";
import { readBounded } from "../files/read-bounded.ts";

export type AnswerFile =
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "none" }
  /** Something is there that must not be read, such as a folder or a file that is too large. */
  | { readonly is: "odd"; readonly why: string };

/** More than any plan or report, even at four bytes a character. */
const MAX_BYTES = 8_000_000;
const MAX_OUTPUT_CHARS = 2_000_000;

export async function readAnswerFile(file: string): Promise<AnswerFile> {
  const read = await readBounded(file, MAX_BYTES);
  const odd = (why: string): AnswerFile => ({ is: "odd", why });
  switch (read.is) {
    case "bytes": {
      const text = read.bytes.toString();
      return text.trim() === "" ? { is: "none" } : { is: "text", text };
    }
    case "none":
      return read;
    case "link":
      return odd("left a link where its answer belongs");
    case "no-file":
      return odd("left something other than a file where its answer belongs");
    case "too-large":
      return odd(`left an answer of ${read.size} bytes; ${MAX_BYTES} are read`);
    case "unreadable":
      return odd(`left an answer that cannot be read: ${read.why}`);
    default:
      return unreachable(read);
  }
}

/**
 * Returns the last line that is an answer of this kind; else all the output, because an answer may span several
 * lines. Other JSON objects do not count: the last task of a plan that is printed line by line is not the plan.
 */
export function answerIn(output: string, kind: "plan" | "work"): string {
  const key = kind === "plan" ? "tasks" : "status";
  for (let to = output.length; to > 0; ) {
    const from = output.lastIndexOf("\n", to - 1) + 1;
    const line = output.slice(from, to).trim();
    const answer = answerLine(line);
    if (answer && Object.hasOwn(answer, key)) return line;
    to = from - 1;
  }
  return output.trim();
}

/** For agents that must answer in one exact line: all of the output is the answer, with any other printed text. */
export const wholeOutput = (output: string): string => output.slice(-MAX_OUTPUT_CHARS).trim();

/** Whether the text is a `DONE` line, whichever file it names. */
export const isDone = (text: string): boolean => /^DONE\|[^\n]+$/.test(text.trim());

/** The object, if the text is one JSON object and nothing else. */
export function answerLine(line: string): object | undefined {
  return line.startsWith("{") && line.endsWith("}") ? (parseJson(line) as object | undefined) : undefined;
}
