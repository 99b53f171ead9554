/** Loads the word lists and limits of planning: those of this package, or the repository's own. */
import { existsSync, readFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../core/failure.ts";
import { type Failed, failedWith, hasFailed } from "../core/result.ts";
import type { PlanningFile, PlanningFiles } from "../ports/planning-files.ts";
import { readText } from "./files/read-bounded.ts";
import { ownFile } from "./own-files.ts";

const PLANNING_FOLDER = ".skein/planning";

/** Missing files are fine; invalid ones are a failure. */
export async function loadPlanningFiles(top: string | undefined): Promise<PlanningFiles | Failed> {
  const folder = top === undefined ? undefined : await ownFolderOf(top);
  if (typeof folder === "object") return folder;
  const words = await fileOf("words.json", folder);
  if (hasFailed(words)) return words;
  const limits = await fileOf("limits.json", folder);
  if (hasFailed(limits)) return limits;
  return { words, limits };
}

/** The repository's folder of planning files. It may be a link that stays inside of the repository. */
async function ownFolderOf(top: string): Promise<string | undefined | Failed> {
  if (!existsSync(path.join(top, PLANNING_FOLDER))) return undefined; // Most repositories have none.
  try {
    const [home, folder] = await Promise.all([realpath(top), realpath(path.join(top, PLANNING_FOLDER))]);
    if (folder.startsWith(home + path.sep)) return folder;
    return refused(
      `${PLANNING_FOLDER} leads out of the repository, to ${folder}`,
      "put the files there themselves",
    );
  } catch {
    return undefined; // It is missing or unreadable, so the package's own files are used.
  }
}

async function fileOf(name: string, folder: string | undefined): Promise<PlanningFile | Failed> {
  const theirs = folder === undefined ? undefined : await readText(path.join(folder, name), MAX_BYTES);
  if (theirs && "problem" in theirs)
    return refused(`${path.join(folder!, name)} ${theirs.problem}`, "put the text there itself, in UTF-8");
  if (theirs) return { file: `${PLANNING_FOLDER}/${name}`, text: theirs.text };
  const file = ownFile(path.join("planning", name));
  try {
    return { file, text: readFileSync(file, "utf8"), isShipped: true };
  } catch (error) {
    return refused(`this installation is not complete: ${messageOf(error)}`, "install it again");
  }
}

/** About 50 times the size of the package's own files. */
const MAX_BYTES = 1_000_000;

const refused = (message: string, next?: string): Failed => failedWith("policy", message, next);
