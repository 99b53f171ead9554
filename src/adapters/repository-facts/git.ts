/** What can be seen of a repository with one question to git and a few small files? For plans, which must be quick. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Failed } from "../../ports/repository.ts";
import { readShort } from "../files/read-bounded.ts";
import { type GitAnswer, git } from "../git/git.ts";

export type Sample = {
  /** Files of HEAD; links and other repositories within it are left out. */
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
  const entries = rows.flatMap((row) => entryOf(row) ?? []);
  const wanted = new Set(names);
  const there = entries.flatMap(({ path: name }) => (wanted.has(name) ? [name] : []));
  return { entries, isCut: list.isCut, texts: new Map(await textsIn(topOf(folder), there)) };
}

/** The work tree around a folder; undefined in a bare repository, and where there is none. */
export function topOf(folder: string): string | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (existsSync(path.join(at, ".git"))) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

/** Sizes may have to be fetched first, where a clone has no contents: then it goes without them. */
async function listed(folder: string, signal: AbortSignal): Promise<GitAnswer> {
  const ask = (...more: readonly string[]) =>
    git(
      {
        folder,
        args: ["ls-tree", "-r", "-z", "--full-tree", ...more, "HEAD"],
        environment: { GIT_NO_LAZY_FETCH: "1" },
        maxBytes: MAX_LIST_BYTES,
        maxMs: MAX_LIST_MS,
        cut: true,
      },
      signal,
    );
  const list = await ask("-l");
  return list.ok || list.code !== undefined || signal.aborted ? list : ask();
}

function entryOf(row: string): { readonly path: string; readonly bytes?: number } | undefined {
  const [, bytes, file] = /^100\d{3} blob [0-9a-f]+(?: +(\S+))?\t(.+)$/s.exec(row) ?? [];
  if (file === undefined) return undefined;
  const size = Number(bytes ?? Number.NaN);
  return Number.isFinite(size) ? { path: file, bytes: size } : { path: file };
}

async function textsIn(top: string | undefined, names: readonly string[]) {
  if (top === undefined) return [];
  return Promise.all(
    names.map(async (name) => [name, await readShort(path.join(top, name), MAX_TEXT_BYTES)] as const),
  );
}
