/** Loads the prompts of the roles: those of this package, each replaced by the last folder that has it. */
import { stat } from "node:fs/promises";
import path from "node:path";
import { type Failed, failedWith, hasFailed } from "../core/result.ts";
import type { PromptName, Prompts } from "../ports/prompts.ts";
import { AGREES_TO_ALL, type Agrees, OWN_PROMPTS, type TrustAsk } from "../ports/trust.ts";
import { readText } from "./files/read-bounded.ts";
import { ownFile } from "./own-files.ts";

const OWN_FOLDER = ownFile("prompts");

const NAMES: readonly PromptName[] = ["root-planner", "subplanner", "worker", "execution-planner", "subtask"];

/** A prompt of older versions, now ignored. A folder that has only this file still counts as a folder of prompts. */
const GONE = "reconciler.md";

/** A folder holds any of these files; other files are ignored. */
export async function loadPrompts(
  folders: readonly string[],
  agrees: Agrees = AGREES_TO_ALL,
): Promise<Prompts | Failed> {
  let prompts: Partial<Record<PromptName, string>> = {};
  for (const folder of [OWN_FOLDER, ...folders]) {
    const found = await promptsIn(folder);
    if (hasFailed(found)) return found;
    const asks = folder === OWN_FOLDER || agrees(OWN_PROMPTS) ? [] : asksOf(found, folder);
    const other = asks.find((ask) => !agrees(ask));
    if (other)
      return refused(
        `nobody has agreed to the prompt ${other.from} as it is now`,
        "read it, then: skein trust",
      );
    prompts = { ...prompts, ...found };
  }
  return isComplete(prompts)
    ? prompts
    : refused(`the prompts of this installation are not complete: ${OWN_FOLDER}`, "install it again");
}

/** The trust asks of a folder: each prompt that it replaces. Empty if it cannot be read. */
export async function promptAsks(folder: string): Promise<readonly TrustAsk[]> {
  const found = await promptsIn(folder);
  return hasFailed(found) ? [] : asksOf(found, folder);
}

const asksOf = (found: Partial<Prompts>, folder: string): readonly TrustAsk[] =>
  Object.entries(found).map(([name, text]) => promptAsk(path.join(folder, `${name}.md`), text));

export function promptAsk(from: string, text: string): TrustAsk {
  const name = path.basename(from, ".md");
  return { is: "prompt", from, name, value: text, words: `replaces the instructions of the ${name}` };
}

const isComplete = (prompts: Partial<Prompts>): prompts is Prompts =>
  NAMES.every((name) => prompts[name] !== undefined);

async function promptsIn(folder: string): Promise<Partial<Record<PromptName, string>> | Failed> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false, // It is missing or not readable.
  );
  if (!isFolder) return refused(`there is no folder of prompts at ${folder}`, "name a folder that exists");
  const found: Partial<Record<PromptName, string>> = {};
  for (const name of NAMES) {
    const text = await promptIn(path.join(folder, `${name}.md`));
    if (typeof text === "object") return text;
    if (text !== undefined) found[name] = text;
  }
  if (Object.keys(found).length > 0 || (await isThere(path.join(folder, GONE)))) return found;
  const names = NAMES.map((name) => `${name}.md`).join(", ");
  return refused(
    `the folder of prompts ${folder} contains none of ${names}`,
    "give a file one of these names",
  );
}

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/** About 25,000 tokens, which every turn pays for. */
const MAX_BYTES = 100_000;

async function promptIn(file: string): Promise<string | undefined | Failed> {
  const read = await readText(file, MAX_BYTES);
  if (read && "problem" in read)
    return refused(`the prompt ${file} ${read.problem}`, "put the text there itself, in UTF-8");
  if (read?.text.trim() === "")
    return refused(`the prompt ${file} is empty`, "write something, or remove the file");
  return read?.text;
}

const refused = (message: string, next?: string): Failed => failedWith("policy", message, next);
