/** Reads chosen git settings of the user by name, and passes settings to git calls as variables. */
import type { Failed } from "../../core/result.ts";
import { fieldsIn, git } from "./git.ts";

export type GitSetting = readonly [key: string, value: string];

/** The settings in force in a folder, in git's order: of two with the same key, the last one counts. */
export async function readSettings(
  folder: string,
  pattern: string,
  signal?: AbortSignal,
): Promise<readonly GitSetting[] | Failed> {
  const listed = await git({ folder, args: ["config", "-z", "--get-regexp", pattern] }, signal);
  if (!listed.ok) return listed.code === 1 ? [] : { failure: listed.failure }; // Exit code 1: none of them is set.
  return fieldsIn(listed.out).map((entry) => {
    const end = entry.indexOf("\n");
    return end === -1 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)]; // A key alone means "true".
  });
}

export const settingOf = (settings: readonly GitSetting[], key: string): string | undefined =>
  settings.findLast(([name]) => name === key)?.[1];

/** Makes git read neither the user's own configuration nor the machine's. */
export const UNCONFIGURED = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" } as const;

/** Settings for git and its children; no file is written, and other users cannot read them. */
export function settingVariables(settings: readonly GitSetting[]): Record<string, string> {
  if (settings.length === 0) return {};
  const each = settings.flatMap(([key, value], number) => [
    [`GIT_CONFIG_KEY_${number}`, key],
    [`GIT_CONFIG_VALUE_${number}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(each) };
}
