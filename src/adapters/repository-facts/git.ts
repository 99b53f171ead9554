/** What can be seen of a repository with one question to git and a few small files? For plans, which must be quick. */
import { existsSync, lstatSync } from "node:fs";
import path from "node:path";
import type { Failed } from "../../ports/repository.ts";
import { readShort } from "../files/read-bounded.ts";
import { type GitAnswer, git } from "../git/git.ts";

export type Sample = {
  /** Files of HEAD; links and other repositories within it are left out. Of some the size on the disk. */
  readonly entries: readonly { readonly path: string; readonly bytes?: number }[];
  /** There are more than could be listed. */
  readonly isCut: boolean;
  /** The texts of those that were asked for and are there, by name. */
  readonly texts: ReadonlyMap<string, string>;
};

/** Some 10,000 files; who has more gets a plan from these. */
const MAX_LIST_BYTES = 1024 * 1024;
const MAX_LIST_MS = 5_000;
const MAX_TEXT_BYTES = 256 * 1024;

/** `names`: files at the top that are worth reading. */
export async function sampleOf(
  folder: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Sample | Failed> {
  const list = await listed(folder, signal);
  if (!list.ok) return { failure: list.failure };
  const rows = list.out.split("\0").slice(0, -1); // After the last NUL comes nothing, or what was cut.
  const paths = rows.flatMap((row) => pathIn(row) ?? []);
  const top = topOf(folder);
  const there = names.filter((name) => paths.includes(name));
  return { entries: sized(top, paths), isCut: list.isCut, texts: new Map(await textsIn(top, there)) };
}

/** The work tree around a folder; undefined in a bare repository, and where there is none. */
export function topOf(folder: string): string | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (existsSync(path.join(at, ".git"))) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

const listed = (folder: string, signal: AbortSignal): Promise<GitAnswer> =>
  git(
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
