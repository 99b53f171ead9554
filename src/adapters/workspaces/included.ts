/** Reads `.worktreeinclude`, which lists the ignored files that a repository wants in its workspaces. */
import { join } from "node:path";
import type { TrustAsk } from "../../ports/trust.ts";
import { wordsToAgree } from "../../text/asked-words.ts";
import { readShort } from "../files/read-bounded.ts";

export const INCLUDE = ".worktreeinclude";

/** Its lines in their order, without comments: later lines may take back what earlier ones included. */
export async function includedIn(top: string): Promise<readonly string[]> {
  const text = await readShort(join(top, INCLUDE), MAX_INCLUDE_BYTES);
  return text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

const MAX_INCLUDE_BYTES = 100_000;

/** The trust ask for the patterns, because ignored files are often keys. */
export const includeAsk = (patterns: readonly string[]): TrustAsk => ({
  ...{ is: "ignored", from: INCLUDE, name: INCLUDE, value: patterns },
  words: `agents get copies of files that git ignores: ${wordsToAgree(patterns.join(" "))}`,
});
