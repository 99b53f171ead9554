/** Where do the user's branches and tags point? Read as files, because a process for it would cost each worker's turn. */
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readShortSync } from "../files/read-bounded.ts";

/** By name in full. Remote branches move by a fetch, and those that begin with `own` are Skein's: neither is listed. */
export async function refsOf(gitDir: string, own: string): Promise<ReadonlyMap<string, string>> {
  const isWanted = (ref: string) =>
    /^refs\/(?:heads|tags)\//.test(ref) && !ref.startsWith(`refs/heads/${own}`);
  const found = new Map(packed(join(gitDir, "packed-refs")).filter(([ref]) => isWanted(ref)));
  const folders = ["refs/heads", "refs/tags"];
  for (let at = folders.pop(); at !== undefined && found.size < MAX_REFS; at = folders.pop()) {
    for (const entry of await entriesIn(join(gitDir, at))) {
      const ref = `${at}/${entry.name}`;
      if (entry.isDirectory() && isWanted(`${ref}/`)) folders.push(ref);
      if (entry.isFile() && isWanted(ref) && !ref.endsWith(".lock"))
        found.set(ref, readShortSync(join(gitDir, ref), MAX_REF_BYTES).trim()); // None: deleted just now.
    }
  }
  return found;
}

/** Whoever has more is told of the first ones. */
const MAX_REFS = 10_000;
const MAX_PACKED_BYTES = 4 * 1024 * 1024;
const MAX_REF_BYTES = 4_096;

const entriesIn = (folder: string): Promise<readonly Dirent[]> =>
  readdir(folder, { withFileTypes: true }).catch(() => []); // A repository may keep its refs in another form.

function packed(file: string): readonly (readonly [string, string])[] {
  const text = readShortSync(file, MAX_PACKED_BYTES);
  return [...text.matchAll(/^([0-9a-f]{40,64}) (.+)$/gm)].map(([, id = "", ref = ""]) => [ref, id]);
}
