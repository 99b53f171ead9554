/** Reads the project's history as test cases: each commit's subject, the tree before it, and the files it changed. */
import { execFileSync, spawnSync } from "node:child_process";
import type { FileChange } from "../src/ports/subtasks.ts";
import { type IndexedFile, indexFile } from "../src/subtasks/file-index.ts";

/** One commit as a test case. */
export type Case = {
  readonly subject: string;
  /** The tree before it; objects are shared between cases. */
  readonly files: readonly IndexedFile[];
  /** The blob of each file, from which its text is read. */
  readonly blobs: readonly string[];
  /** The changes before it, newest first. */
  readonly changes: readonly FileChange[];
  /** The files of that tree that the commit changed. */
  readonly answer: ReadonlySet<string>;
};

export type History = { readonly cases: readonly Case[]; readonly texts: ReadonlyMap<string, string> };

/** Undefined if there is too little history: a shallow clone, or a tarball. */
export function readHistory(folder: string, maxChanges: number): History | undefined {
  const log = logOf(folder);
  if (log === undefined || log.length < MIN_COMMITS) return undefined;
  const texts = readBlobs(folder, new Set(log.flatMap(({ files }) => files.map(({ blob }) => blob))));
  const indexed = new Map<string, IndexedFile>();
  const tree = new Map<string, string>();
  const past: FileChange[] = [];
  const cases: Case[] = [];
  for (const { subject, files } of log) {
    const answer = new Set(files.map(({ path }) => path).filter((path) => tree.has(path)));
    if (answer.size > 0) {
      const entries = [...tree];
      cases.push({
        subject,
        answer,
        blobs: entries.map(([, blob]) => blob),
        files: entries.map(([path, blob]) => indexOnce(indexed, path, blob, texts)),
        changes: past.slice(-maxChanges).reverse(),
      });
    }
    for (const { path, blob } of files) blob === GONE ? tree.delete(path) : tree.set(path, blob);
    past.push({ subject, paths: files.map(({ path }) => path) });
  }
  return { cases, texts };
}

const MIN_COMMITS = 100;
const GONE = "0".repeat(40);

type Commit = {
  readonly subject: string;
  readonly files: readonly { readonly path: string; readonly blob: string }[];
};

/** The commits along the first parents, oldest first. Undefined if there is no history, or only a part of it. */
function logOf(folder: string): readonly Commit[] | undefined {
  const git = (...args: readonly string[]) =>
    spawnSync("git", args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
  if (git("rev-parse", "--is-shallow-repository").stdout?.trim() !== "false") return undefined;
  const { stdout, status } = git(
    ...[
      "log",
      "--first-parent",
      "-m",
      "--reverse",
      "--raw",
      "--no-abbrev",
      "--no-renames",
      "-z",
      "--format=%x01%s",
    ],
  );
  if (status !== 0) return undefined;
  return stdout
    .split("\x01")
    .slice(1)
    .map((entry) => {
      const [subject = "", ...rest] = entry.split("\0").map((part) => part.trim());
      const files = [];
      for (let i = 0; i + 1 < rest.length; i += 1) {
        const raw = /^:(\d+) (\d+) \w+ (\w+) \w/.exec(rest[i]!);
        if (raw === null) continue;
        const isFile = raw[2]!.startsWith("100");
        files.push({ path: rest[i + 1]!, blob: isFile ? raw[3]! : GONE });
        i += 1;
      }
      return { subject, files };
    });
}

/** Reads all blobs with one process: a process for each would take minutes. */
function readBlobs(folder: string, blobs: Set<string>): ReadonlyMap<string, string> {
  blobs.delete(GONE);
  const out = execFileSync("git", ["cat-file", "--batch"], {
    cwd: folder,
    input: [...blobs].join("\n"),
    maxBuffer: 1 << 30,
  });
  const texts = new Map<string, string>();
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(10, at);
    const [blob, , bytes] = out.toString("utf8", at, end).split(" ");
    const size = Number(bytes);
    texts.set(blob!, size > MAX_BYTES ? "" : out.toString("utf8", end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return texts;
}

const MAX_BYTES = 256 * 1024;

function indexOnce(
  indexed: Map<string, IndexedFile>,
  path: string,
  blob: string,
  texts: ReadonlyMap<string, string>,
): IndexedFile {
  const key = `${blob} ${path}`;
  const known = indexed.get(key);
  if (known !== undefined) return known;
  const made = indexFile(path, texts.get(blob) ?? "");
  indexed.set(key, made);
  return made;
}
