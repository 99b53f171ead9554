/** What is the goal? A sentence, or the text of a file that was named. */
import { isUtf8 } from "node:buffer";
import { type Stats, statSync } from "node:fs";
import path from "node:path";
import { messageOf } from "../../../core/failure.ts";
import { type Context, usage } from "../context.ts";
import { readBytes } from "../files.ts";
import type { Exit } from "./project.ts";

/** More than a model reads at once. */
export const MAX_GOAL_BYTES = 1_000_000;

/** `what` it is called: a run has a goal, a plan is made of a request. */
export async function readGoal(
  context: Context,
  given: string,
  what: "goal" | "request" = "goal",
): Promise<{ readonly text: string } | Exit> {
  const no = (message: string, next?: string): Exit => ({ exit: usage(context, message, next) });
  const file = path.resolve(context.folder, given);
  const info = infoOf(given, file);
  if (info?.isDirectory())
    return no(`${given} is a folder, not a ${what}`, "name a file such as SPEC.md, or write it in quotes");
  if (!info && looksLikeFile(given))
    return no(`there is no file ${given}`, `name an existing file, or write the ${what} in quotes`);
  try {
    const bytes = info ? await readBytes(file, MAX_GOAL_BYTES) : Buffer.from(given);
    return textIn(context, bytes, info ? { what, file: given } : { what });
  } catch (error) {
    return no(`the ${what} ${given} cannot be read: ${messageOf(error)}`);
  }
}

/** At once: to ask another thread for it takes longer than the disk does. */
function infoOf(given: string, file: string): Stats | undefined {
  try {
    return given === "" ? undefined : statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined; // A sentence is no path: it is too long, or contains a zero byte.
  }
}

/** What was read, if it is a text and says something. */
export function textIn(
  context: Context,
  bytes: Buffer,
  { what, file }: { readonly what: "goal" | "request"; readonly file?: string },
): { readonly text: string } | Exit {
  const no = (message: string, next: string): Exit => ({ exit: usage(context, message, next) });
  const named = file ?? `the ${what}`;
  if (bytes.length > MAX_GOAL_BYTES)
    return no(
      `the ${what}${file === undefined ? "" : ` in ${file}`} is longer than 1 MB`,
      "shorten it, and name files for the rest",
    );
  if (!isUtf8(bytes) || bytes.includes(0))
    return no(`${named} is not text`, "name a text in UTF-8, such as SPEC.md");
  const text = bytes.toString("utf8");
  return text.trim() === "" ? no(`${named} is empty`, "say what should be done") : { text };
}

/** One word with an ending that texts have: nobody says a goal like that. */
const looksLikeFile = (given: string) => /^\S+\.(?:md|txt|markdown|rst|adoc|json)$/i.test(given);
