/** When does a ref outlive a power cut? Git syncs the file that it writes; its name is on the disk once its folder is. */
import path from "node:path";
import { ignoreMissing, syncFolder } from "../files/write-whole.ts";

/**
 * After git has moved the refs, before anything that may be on another disk says so. Every folder above them may be
 * new. On a file system with a journal this also covers what was renamed before: the objects that git wrote.
 */
export async function syncRefs(gitDir: string, refs: readonly string[]): Promise<void> {
  const folders = new Set(["reftable", ...refs.flatMap(foldersOf)]); // The form that a repository has is there.
  await Promise.all([...folders].map((folder) => syncFolder(path.join(gitDir, folder)).catch(ignoreMissing)));
}

/** "refs/heads/skein/x/target": "refs/heads/skein/x", "refs/heads/skein", "refs/heads". */
function foldersOf(ref: string): readonly string[] {
  const parts = ref.split("/").slice(0, -1);
  return parts.slice(1).map((_, i) => parts.slice(0, i + 2).join("/"));
}
