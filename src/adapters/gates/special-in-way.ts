/** Names a socket, pipe or device over which a command of the gate failed: a command of the same run left it in its tree. */
import { lstat } from "node:fs/promises";
import path from "node:path";
import { leftSpecials } from "../workspaces/special-files.ts";

type Failing = {
  readonly folder: string;
  /** All that it wrote. */
  readonly text: string;
  /** It did not end: opening a pipe waits until another program opens its other end. */
  readonly isTimedOut?: boolean;
};

/** A sentence. Runs begin without such files, so what is there was left by this run's own commands. */
export async function specialInTheWay(failing: Failing): Promise<string | undefined> {
  const found = (await leftSpecials(failing.folder, true))
    .map(String)
    .toSorted((a, b) => b.length - a.length);
  for (const file of found) {
    const kind = await kindOf(path.join(failing.folder, file));
    const isInTheWay = isNamed(file, failing.text) || (failing.isTimedOut === true && kind === "pipe");
    if (!isInTheWay) continue;
    const shown = /\p{Cc}/u.test(file) ? JSON.stringify(file) : file;
    return `the ${kind} ${shown} is in its way, which this run of the gate left there: what makes it must remove it at its end`;
  }
  return undefined;
}

/** By its path, or by its name as a word of its own. */
function isNamed(file: string, text: string): boolean {
  if (text.includes(file)) return true;
  const name = path.basename(file).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w.-])${name}(?![\\w-])`).test(text);
}

async function kindOf(file: string): Promise<string> {
  const found = await lstat(file).catch(() => undefined); // Gone meanwhile.
  return found?.isSocket() ? "socket" : found?.isFIFO() ? "pipe" : "special file";
}
