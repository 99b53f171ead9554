/** Lists what workspaces need of the hidden repository: its objects, borrowed ones too, and shared folders. */
import { basename, join, resolve } from "node:path";
import { readShort } from "../files/read-bounded.ts";
import { git } from "../git/git.ts";

type RepositoryParts = {
  readonly top: string;
  /** The git folder that all work trees share. */
  readonly gitDir: string;
  /** Names of ignored folders that workspaces have as links to the checkout. */
  readonly share?: readonly string[];
};

/** Reads the user's own repository, never a workspace, which a worker can change. */
export async function readableOf(parts: RepositoryParts, signal: AbortSignal): Promise<string[]> {
  const objects = await withBorrowed(join(parts.gitDir, "objects"), MAX_DEPTH);
  return [...new Set([...objects, join(parts.gitDir, "lfs"), ...(await sharedFolders(parts, signal))])];
}

/** Git's own limit. */
const MAX_DEPTH = 5;

async function withBorrowed(objects: string, depth: number): Promise<string[]> {
  const lines = depth === 0 ? [] : (await readShort(join(objects, "info", "alternates"))).split("\n");
  const others = lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => resolve(objects, line));
  const further = await Promise.all(others.map((folder) => withBorrowed(folder, depth - 1)));
  return [objects, ...further.flat()];
}

async function sharedFolders({ top, share = [] }: RepositoryParts, signal: AbortSignal): Promise<string[]> {
  if (share.length === 0) return [];
  const args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  const listed = await git({ folder: top, args }, signal);
  if (!listed.ok) return []; // Then workspaces have no links either.
  const folders = listed.out.split("\0").filter((path) => path.endsWith("/"));
  return folders.filter((path) => share.includes(basename(path))).map((path) => join(top, path));
}
