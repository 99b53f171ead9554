/** What is the goal? A sentence, or the text of a file that was named. */
import { isUtf8 } from "node:buffer";
import { stat } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../../core/failure.ts";
import { type Context, usage } from "../context.ts";
import { readBytes } from "./configuration.ts";
import type { Exit } from "./project.ts";

/** More than a model reads at once. */
export const MAX_GOAL_BYTES = 1_000_000;

export async function readGoal(context: Context, given: string): Promise<{ readonly text: string } | Exit> {
  const file = path.resolve(context.folder, given);
  const info = given === "" || given.includes("\0") ? undefined : await stat(file).catch(() => undefined);
  if (info?.isDirectory())
    return {
      exit: usage(context, `${given} is a folder, not a goal`, "name a file such as SPEC.md, or say it"),
    };
  if (!info && looksLikeFile(given))
    return {
      exit: usage(
        context,
        `there is no file ${given}`,
        "name a file that is there, or say the goal in words",
      ),
    };
  try {
    const bytes = info ? await readBytes(file, MAX_GOAL_BYTES) : Buffer.from(given);
    if (bytes.length > MAX_GOAL_BYTES)
      return {
        exit: usage(
          context,
          `the goal in ${given} is longer than 1 MB`,
          "say the most important, and name files",
        ),
      };
    if (!isUtf8(bytes) || bytes.includes(0))
      return { exit: usage(context, `${given} is no text`, "name a text in UTF-8, such as SPEC.md") };
    const text = bytes.toString("utf8");
    if (text.trim() === "")
      return {
        exit: usage(context, info ? `${given} is empty` : "the goal is empty", "say what is to be done"),
      };
    return { text };
  } catch (error) {
    return { exit: usage(context, `the goal ${given} cannot be read: ${messageOf(error)}`) };
  }
}

/** One word with an ending that texts have: nobody says a goal like that. */
const looksLikeFile = (given: string) => /^\S+\.(?:md|txt|markdown|rst|adoc)$/i.test(given);
