/** Which of the user's settings reach a git of ours? Those that are asked for by name, and handed on in its variables. */
import type { Failed } from "../../ports/repository.ts";
import { git } from "./git.ts";

export type Setting = readonly [key: string, value: string];

/** As they are in force in a folder, in the order in which git reads them: of two with one key, the last counts. */
export async function readSettings(
  folder: string,
  pattern: string,
  signal?: AbortSignal,
): Promise<readonly Setting[] | Failed> {
  const listed = await git({ folder, args: ["config", "-z", "--get-regexp", pattern] }, signal);
  if (!listed.ok) return listed.code === 1 ? [] : { failure: listed.failure }; // 1: none of them is set.
  return listed.out
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const end = entry.indexOf("\n");
      return end === -1 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)]; // A key alone means "true".
    });
}

export const settingOf = (settings: readonly Setting[], key: string): string | undefined =>
  settings.findLast(([name]) => name === key)?.[1];

/** Neither the user's own configuration nor the machine's is read. */
export const UNCONFIGURED = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" } as const;

/** For git and for whatever it starts; no file has to be written, and other users cannot read them. */
export function settingVariables(settings: readonly Setting[]): Record<string, string> {
  if (settings.length === 0) return {};
  const each = settings.flatMap(([key, value], number) => [
    [`GIT_CONFIG_KEY_${number}`, key],
    [`GIT_CONFIG_VALUE_${number}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(each) };
}
