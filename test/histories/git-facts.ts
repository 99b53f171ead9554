/** Reads what happened from git itself, by plain git commands, and with no code that is under test. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Place, PROOFS, TARGET } from "./repository.ts";
import type { Files } from "./tree.ts";

export type Move = { readonly from: string; readonly to: string; readonly isOurs: boolean };

/** Every commit that the target had, from git's reflog. */
export async function movesOf({ folder }: Place): Promise<readonly Move[]> {
  const text = await readFile(join(folder, ".git/logs", TARGET), "utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.slice(1).map((line) => {
    const [names = "", message = ""] = line.split("\t");
    const [from = "", to = ""] = names.split(" ");
    return { from, to, isOurs: message !== "outside" };
  });
}

/** The parents of every commit in the history of `tips`. */
export async function parentsOf({ git }: Place, tips: readonly string[]) {
  const listed = await git("rev-list", "--parents", ...new Set(tips));
  return new Map(
    listed.split("\n").map((line) => {
      const [commit = "", ...parents] = line.split(" ");
      return [commit, parents] as const;
    }),
  );
}

export type Note = {
  readonly members: readonly { readonly task: string; readonly attempt: number }[];
  readonly proof: string;
  readonly onto: string;
};

/** The proofs in the notes, by commit. */
export async function notesOf(place: Place): Promise<ReadonlyMap<string, Note>> {
  const listed = (await place.git("notes", `--ref=${PROOFS}`, "list"))
    .split("\n")
    .filter((line) => line !== "");
  const pairs = listed.map((line) => line.split(" ") as [string, string]);
  const texts = await contents(
    place,
    pairs.map(([blob]) => blob),
  );
  return new Map(pairs.map(([, commit], i) => [commit, JSON.parse(texts[i]!.toString()) as Note]));
}

/** The tree of a merge; undefined if the two commits conflict. */
export async function mergeOf({ git }: Place, ours: string, theirs: string): Promise<string | undefined> {
  try {
    return await git("merge-tree", "--write-tree", ours, theirs);
  } catch (error) {
    // On a conflict git exits with 1 and an empty standard error; any other error is thrown.
    if (/fatal|error:/.test((error as Error).message)) throw error;
    return undefined;
  }
}

/** The files of many commits or trees, with one process for each level of folders. */
export async function filesOf(place: Place, names: readonly string[]): Promise<ReadonlyMap<string, Files>> {
  const all = [...new Set(names)];
  const roots = (
    await contents(
      place,
      all.map((name) => `${name}^{tree}`),
    )
  ).map(entriesIn);
  const folderIds = [...new Set(roots.flatMap((root) => [...root.values()]))];
  const folders = (await contents(place, folderIds)).map(entriesIn);
  const blobIds = [...new Set(folders.flatMap((folder) => [...folder.values()]))];
  const blobs = await contents(place, blobIds);
  const insides = new Map(folderIds.map((id, i) => [id, folders[i]!]));
  const texts = new Map(blobIds.map((id, i) => [id, blobs[i]!.toString()]));
  return new Map(
    all.map((name, i) => {
      const files = [...roots[i]!].flatMap(([folder, id]) =>
        [...insides.get(id)!].map(([file, blob]) => [`${folder}/${file}`, texts.get(blob)!] as const),
      );
      return [name, new Map(files)];
    }),
  );
}

/** Names and ids of the entries of one tree. */
function entriesIn(tree: Buffer): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (let at = 0; at < tree.length; ) {
    const end = tree.indexOf(0, at);
    const name = tree.toString("utf8", tree.indexOf(0x20, at) + 1, end);
    entries.set(name, tree.toString("hex", end + 1, end + 21));
    at = end + 21;
  }
  return entries;
}

async function contents({ gitWith }: Place, names: readonly string[]): Promise<readonly Buffer[]> {
  if (names.length === 0) return [];
  const out = await gitWith(`${names.join("\n")}\n`, "cat-file", "--batch");
  let at = 0;
  return names.map((name) => {
    const end = out.indexOf(0x0a, at);
    const header = out.toString("utf8", at, end);
    const bytes = Number(header.split(" ")[2]);
    if (!Number.isInteger(bytes)) throw new Error(`git has no ${name}: ${header}`);
    at = end + 1 + bytes + 1;
    return out.subarray(end + 1, end + 1 + bytes);
  });
}
