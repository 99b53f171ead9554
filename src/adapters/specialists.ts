/** Reads the specialists that the user has written as Markdown in two folders, and reports unusable files. */
import { readdir, realpath } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../core/failure.ts";
import type { Specialist } from "../core/specialist.ts";
import { AGREES_TO_ALL, type Agrees, type TrustAsk } from "../ports/trust.ts";
import { readText } from "./files/read-bounded.ts";

type ReadSpecialists = {
  /** Sorted by name. */
  readonly specialists: readonly Specialist[];
  readonly problems: readonly string[];
};

/** The second folder overrides the first. */
const FOLDERS = [".claude/agents", ".skein/agents"];
const MAX_FILES = 100; // In one folder: more than a planner can choose from.
const MAX_BYTES = 64 * 1024; // About 16,000 tokens, which each of its turns pays for.

/** The files are untrusted: nothing is read from outside of `top`, and nothing without a limit. */
export async function readSpecialists(top: string, agrees: Agrees = AGREES_TO_ALL): Promise<ReadSpecialists> {
  const byName = new Map<string, Specialist>();
  const problems: string[] = [];
  for (const folder of FOLDERS) {
    const found = await specialistsIn(top, folder, problems);
    for (const [key, specialist] of found) byName.set(key, specialist);
  }
  const all = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const specialists = all.filter((one) => agrees(roleAsk(one)));
  for (const one of all.filter((other) => !specialists.includes(other)))
    problems.push(`${one.source} is left out: nobody has agreed to it as it is now (skein trust)`);
  return { specialists, problems };
}

/** The trust ask of a specialist: to give agents its prompt, its tools and its model. */
export function roleAsk({ source, ...role }: Specialist): TrustAsk {
  const { name, tools, model } = role;
  const narrows = [tools && `tools ${tools.join(", ")}`, model && `model ${model}`]
    .filter(Boolean)
    .join(", ");
  const words = `the role ${name} instructs agents${narrows === "" ? "" : ` (${narrows})`}`;
  return { is: "role", from: source, name, value: role, words };
}

async function specialistsIn(
  top: string,
  folder: string,
  problems: string[],
): Promise<ReadonlyMap<string, Specialist>> {
  const found = new Map<string, Specialist>();
  for (const name of await filesIn(top, folder, problems)) {
    const source = `${folder}/${name}`;
    const text = (await readText(path.join(top, source), MAX_BYTES)) ?? { problem: "is not a plain file" };
    const { specialistOf } = await import("./specialist-file.ts"); // Loads the YAML parser.
    const read = "problem" in text ? text : specialistOf(source, text.text);
    if ("problem" in read) {
      problems.push(`${source} ${read.problem}; it is left out`);
      continue;
    }
    problems.push(...read.remarks.map((remark) => `${source} ${remark}`));
    const key = read.specialist.name.toLowerCase();
    const other = found.get(key);
    if (other === undefined) found.set(key, read.specialist);
    else problems.push(`${source} has the name of ${other.source}; it is left out`);
  }
  return found;
}

async function filesIn(top: string, folder: string, problems: string[]): Promise<readonly string[]> {
  try {
    const [real, realTop] = await Promise.all([realpath(path.join(top, folder)), realpath(top)]);
    if (!real.startsWith(realTop + path.sep)) {
      problems.push(`${folder} leads out of the repository; nothing in it is read`);
      return [];
    }
    const names = (await readdir(real)).filter((name) => name.endsWith(".md")).sort();
    if (names.length > MAX_FILES) {
      problems.push(`${folder} holds ${names.length} files; the first ${MAX_FILES} are read`);
    }
    return names.slice(0, MAX_FILES);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR")
      problems.push(`${folder} cannot be read: ${messageOf(error)}`);
    return [];
  }
}
