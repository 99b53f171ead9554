/** Names the socket, pipe or device over which a gate command failed, and which the same run of the gate left there. */
import { lstat } from "node:fs/promises";
import path from "node:path";
import { leftSpecials } from "../workspaces/special-files.ts";

type Failing = {
  readonly folder: string;
  /** All output of the command. */
  readonly text: string;
  /** Whether it timed out: opening a pipe waits until another program opens its other end. */
  readonly isTimedOut?: boolean;
};

/** Returns a sentence for people. Runs begin without such files, so this run's own commands left them. */
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

/** Whether the output names the file: by its path, or by its name as a word of its own. */
function isNamed(file: string, text: string): boolean {
  if (text.includes(file)) return true;
  const name = path.basename(file).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w.-])${name}(?![\\w-])`).test(text);
}

async function kindOf(file: string): Promise<string> {
  const found = await lstat(file).catch(() => undefined); // It was removed meanwhile.
  return found?.isSocket() ? "socket" : found?.isFIFO() ? "pipe" : "special file";
}
