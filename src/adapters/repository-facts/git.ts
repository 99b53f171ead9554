/** What can be seen of a repository by its index, or one question to git, and a few small files? Plans must be quick. */
import { existsSync, lstatSync } from "node:fs";
import path from "node:path";
import { type Failed, hasFailed } from "../../ports/repository.ts";
import { readBytesSync, readShort } from "../files/read-bounded.ts";
import { readIndex } from "./git-index.ts";

export type Sample = {
  /** Files that git tracks; links and other repositories are left out. Of some the size on the disk. */
  readonly entries: readonly { readonly path: string; readonly bytes?: number }[];
  /** There are more than could be listed. */
  readonly isCut: boolean;
  /** The texts of those that were asked for and are there, by name. */
  readonly texts: ReadonlyMap<string, string>;
};

/** Who has more files gets a plan from these. */
const MAX_FILES = 10_000;
const MAX_LIST_BYTES = 1024 * 1024;
/** Of 300,000 files. */
const MAX_INDEX_BYTES = 32 * 1024 * 1024;
const MAX_LIST_MS = 5_000;
const MAX_TEXT_BYTES = 256 * 1024;

/** `names`: files at the top that are worth reading. */
export async function sampleOf(
  folder: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Sample | Failed> {
  const top = topOf(folder);
  const list = trackedIn(top) ?? (await listed(folder, top, signal));
  if (hasFailed(list)) return list;
  const known = new Set(list.entries.map(({ path: file }) => file));
  const there = names.filter((name) => known.has(name));
  return { ...list, texts: new Map(await textsIn(top, there)) };
}

type List = Omit<Sample, "texts">;

/** Undefined: git has to be asked. */
function trackedIn(top: string | undefined): List | undefined {
  if (top === undefined || process.env["GIT_DIR"] || process.env["GIT_INDEX_FILE"]) return undefined;
  try {
    const file = path.join(top, ".git", "index");
    const index = readBytesSync(file, MAX_INDEX_BYTES);
    const tracked = index && readIndex(index, MAX_FILES);
    return tracked && tracked.entries.length > 0 ? tracked : undefined;
  } catch {
    return undefined; // A work tree of another repository, or one that is being written: git knows.
  }
}

/** The work tree around a folder; undefined in a bare repository, and where there is none. */
export function topOf(folder: string): string | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (isRepository(path.join(at, ".git"))) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

/** As git sees it: a file that names another place, or a folder with a HEAD. Some programs leave an empty `.git`. */
function isRepository(entry: string): boolean {
  return lstatSync(entry, { throwIfNoEntry: false })?.isFile() || existsSync(path.join(entry, "HEAD"));
}

async function listed(folder: string, top: string | undefined, signal: AbortSignal): Promise<List | Failed> {
  const { git } = await import("../git/git.ts");
  const answer = await git(
    {
      folder,
      args: ["ls-tree", "-r", "-z", "--full-tree", "HEAD"],
      environment: { GIT_NO_LAZY_FETCH: "1" },
      maxBytes: MAX_LIST_BYTES,
      maxMs: MAX_LIST_MS,
      cut: true,
    },
    signal,
  );
  if (!answer.ok) return { failure: answer.failure };
  const rows = answer.out.split("\0").slice(0, -1); // After the last NUL comes nothing, or what was cut.
  return {
    entries: sized(
      top,
      rows.flatMap((row) => pathIn(row) ?? []),
    ),
    isCut: answer.isCut,
  };
}

/** "100644 blob <id>\t<path>". */
function pathIn(row: string): string | undefined {
  const tab = row.indexOf("\t");
  return row.startsWith("100") && tab > 0 ? row.slice(tab + 1) : undefined;
}

/**
 * As they are on the disk: to look them up, git opens each object, which takes 40 ms for a thousand. Some are enough to
 * know what is too much to read.
 */
function sized(top: string | undefined, paths: readonly string[]): Sample["entries"] {
  return paths.map((file, i) => {
    if (top === undefined || i >= MAX_SIZED) return { path: file };
    try {
      const info = lstatSync(`${top}/${file}`, { throwIfNoEntry: false }); // To join them well takes longer than to look.
      return info?.isFile() ? { path: file, bytes: info.size } : { path: file };
    } catch {
      return { path: file }; // Something else is there now.
    }
  });
}

const MAX_SIZED = 300;

async function textsIn(top: string | undefined, names: readonly string[]) {
  if (top === undefined) return [];
  return Promise.all(
    names.map(async (name) => [name, await readShort(path.join(top, name), MAX_TEXT_BYTES)] as const),
  );
}
