/** Reads where refs point from git's own files, without a process: the loose ones and `packed-refs`. */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { readBounded } from "../files/read-bounded.ts";
import { ignoreMissing } from "../files/write-whole.ts";

type RefFiles = {
  /** The folder of the refs; for a linked work tree, that of the repository. */
  readonly gitDir: string;
  /** Such as "refs/heads". */
  readonly folders: readonly string[];
  /** Refs with this prefix are left out. */
  readonly except: string;
  readonly max: number;
};

/**
 * Refs by full name: an id, "ref: …" for a symbolic ref, or "" for a file that cannot be read. Undefined if git
 * has to be asked: its refs are elsewhere (reftable), or too many. Loose refs are read first: git packs a ref
 * before it removes its file, so none is missed.
 */
export async function refsInFiles(from: RefFiles): Promise<ReadonlyMap<string, string> | undefined> {
  if (await stat(path.join(from.gitDir, "reftable")).catch(ignoreMissing)) return undefined;
  const names = (await Promise.all(from.folders.map((folder) => namesIn(folder, from)))).flat();
  if (names.length > from.max) return undefined;
  const refs = new Map<string, string>();
  for (const name of names) {
    const read = await readBounded(path.join(from.gitDir, name), MAX_LOOSE_BYTES);
    if (read.is !== "none") refs.set(name, read.is === "bytes" ? read.bytes.toString().trimEnd() : "");
  }
  const packed = await readBounded(path.join(from.gitDir, "packed-refs"), MAX_PACKED_BYTES);
  if (packed.is !== "none" && packed.is !== "bytes") return undefined;
  const text = packed.is === "bytes" ? packed.bytes.toString() : "";
  for (const [, id = "", name = ""] of text.matchAll(/^([0-9a-f]+) (\S+)$/gm)) {
    const isWanted = from.folders.some((folder) => name.startsWith(`${folder}/`));
    if (isWanted && !name.startsWith(from.except) && !refs.has(name)) refs.set(name, id);
  }
  return refs.size > from.max ? undefined : refs;
}

const MAX_LOOSE_BYTES = 1_000;
const MAX_PACKED_BYTES = 16_000_000;

async function namesIn(folder: string, from: RefFiles): Promise<readonly string[]> {
  if (`${folder}/`.startsWith(from.except)) return [];
  const entries =
    (await readdir(path.join(from.gitDir, folder), { withFileTypes: true }).catch(ignoreMissing)) ?? [];
  const names = entries.map(async (entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return namesIn(name, from);
    return name.endsWith(".lock") || name.startsWith(from.except) ? [] : [name];
  });
  return (await Promise.all(names)).flat();
}
