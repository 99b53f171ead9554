/** Reads the goal: a sentence, or the text of a named file. Refuses a path that does not exist. */
import { isUtf8 } from "node:buffer";
import { existsSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import { messageOf } from "../../../core/failure.ts";
import { closest } from "../../../text/closest.ts";
import { harmless } from "../../../text/words.ts";
import { type Context, usage } from "../context.ts";
import { readBytes } from "../files.ts";
import type { Exit } from "./project.ts";

/** More than a model reads in one turn. */
export const MAX_GOAL_BYTES = 1_000_000;

/** `what`: the word for messages: a run has a goal, a plan is made of a request. */
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
  if (!info && looksLikeFile(given, context.folder))
    return no(`there is no file ${given}`, nextTo(given, context.folder, what));
  try {
    const outside = info && leadsOutOfRepository(file);
    if (outside !== undefined)
      return no(
        `${given} is reached by a link that leads out of the repository, to ${harmless(outside)}`,
        "read it, and if you mean it, name that file itself",
      );
    const bytes = info ? await readBytes(file, MAX_GOAL_BYTES) : Buffer.from(given);
    return textIn(context, bytes, info ? { what, file: given } : { what });
  } catch (error) {
    return no(`the ${what} ${given} cannot be read: ${messageOf(error)}`);
  }
}

/** A clone's SPEC.md may link to a secret key, whose text would go to agents and into the log. */
function leadsOutOfRepository(file: string): string | undefined {
  const real = realpathSync(file);
  for (let at = path.dirname(file); at !== path.dirname(at); at = path.dirname(at))
    if (existsSync(path.join(at, ".git")) && !real.startsWith(realpathSync(at) + path.sep)) return real;
  return undefined;
}

/** Synchronous, because passing the call to another thread takes longer than the disk does. */
function infoOf(given: string, file: string): Stats | undefined {
  try {
    return given === "" ? undefined : statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined; // The sentence is not a possible path: too long, or with a zero byte.
  }
}

/** The text of the bytes, refused if it is not text or is empty. */
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

/**
 * True for a single word that begins like a path, has the ending of a text file, or leads through an existing folder or
 * to a name with an ending: goals are not written like that. A sentence that mentions a file has more words, and is a
 * goal; a few words that begin like a path and end like a text file are a file name with blanks.
 */
function looksLikeFile(given: string, folder: string): boolean {
  const words = given.trim().split(/\s+/).length;
  const isText = /\.(?:md|txt|markdown|rst|adoc|json|ya?ml|html?|pdf|docx?)$/i.test(given);
  const isPath = /^(?:(?:\.{1,2}|~)?[/\\]|[a-z]:\\)/i.test(given);
  if (words > 1) return isPath && isText && words <= MAX_NAME_WORDS;
  if (isText || isPath || /^[^\s/\\]+[/\\]\S*\.\w{1,5}$/.test(given)) return true;
  return (
    /^[^\s/]+\/\S+$/.test(given) &&
    namesIn(path.resolve(folder, given.slice(0, given.indexOf("/")))).length > 0
  );
}

/** "./my first spec.md" */
const MAX_NAME_WORDS = 3;

/** Suggestions: a similar name in the same folder, or the same name in the folders beside it. */
function nextTo(typed: string, folder: string, what: string): string {
  const given = typed.replaceAll("\\", "/"); // Backslashes as typed on Windows; elsewhere no file has such a name.
  const [wanted, above] = [path.basename(given), path.dirname(given)];
  const places = [...new Set([above, ...FOLDERS.map((name) => path.join(above, name))])];
  const near = places.flatMap((place) => {
    const names = namesIn(path.resolve(folder, place));
    return nearNames(wanted, names).map((name) => path.join(place, name));
  });
  const sentence = `say the ${what} in a sentence`;
  if (near.length > 0) return `did you mean ${near.slice(0, MAX_NEAR).join(" or ")}? Name it, or ${sentence}`;
  return `name an existing file, or ${sentence}`;
}

/** Folders where people keep specifications. */
const FOLDERS = ["..", "docs", "doc", "specs", "plans"];
const MAX_NEAR = 3;

/** First the same name with another ending, without regard to upper and lower case. */
function nearNames(wanted: string, names: readonly string[]): readonly string[] {
  const stem = (name: string) => path.parse(name).name.toLowerCase();
  const same = names.filter((name) => stem(name) === stem(wanted));
  return same.length > 0 ? same : closest(wanted, names);
}

/** A hint is not worth reading more names. */
const MAX_NAMES = 2_000;

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, MAX_NAMES);
  } catch {
    return []; // The folder does not exist or cannot be read, so there is nothing to suggest.
  }
}
