/** Lists the files of a commit, reads their contents, and finds their git attributes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Failed } from "../../core/result.ts";
import { fieldsIn, type GitCall, git } from "./git.ts";

export type TreeFile = {
  readonly path: string;
  readonly id: string;
  readonly isExecutable: boolean;
  /** 0 unless sizes were asked for. */
  readonly bytes: number;
};

type TreeQuestion = Omit<GitCall, "args" | "input" | "cut"> & {
  readonly commit: string;
  /** Only these files; without it all of them. */
  readonly paths?: readonly string[];
  /** If true, every object is opened: 40 ms for a thousand files. */
  readonly withSizes?: boolean;
};

/** Lists plain files only: a link may lead anywhere, and a submodule is another repository. */
export async function listFiles(
  { commit, paths = [], withSizes = false, ...call }: TreeQuestion,
  signal: AbortSignal,
): Promise<{ readonly files: readonly TreeFile[]; readonly isCut: boolean } | Failed> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", ...(withSizes ? ["-l"] : []), commit, "--", ...paths];
  const listed = await git({ ...call, args, cut: true }, signal);
  if (!listed.ok) return listed;
  const rows = listed.out.split("\0").slice(0, -1); // The last row is empty, or was cut off in its middle.
  const files = rows.flatMap((row): readonly TreeFile[] => {
    const [, mode, id, bytes, path] = /^(100\d+) blob ([0-9a-f]+)(?: +(\d+))?\t(.+)$/s.exec(row) ?? [];
    return id && path ? [{ path, id, isExecutable: mode === "100755", bytes: Number(bytes ?? 0) }] : [];
  });
  return { files, isCut: listed.isCut };
}

/** The content of a file; only its beginning, if it is longer than `maxBytes`. */
export async function readBlob(
  { folder, id, maxBytes }: { readonly folder: string; readonly id: string; readonly maxBytes: number },
  signal: AbortSignal,
): Promise<string | Failed> {
  const read = await git({ folder, args: ["cat-file", "blob", id], maxBytes, cut: true }, signal);
  return read.ok ? read.out : read;
}

type AttributeQuestion = Pick<GitCall, "environment"> & {
  readonly gitDir: string;
  readonly commit: string;
  readonly names: readonly string[];
  readonly files?: readonly string[];
};

/**
 * The attributes that the commit's own `.gitattributes` and the settings give to its files. They are read into a
 * temporary index, because git can read them from a commit only from 2.40 on.
 */
export async function attributesOf(
  { gitDir, commit, names, files, environment }: AttributeQuestion,
  signal: AbortSignal,
): Promise<readonly { readonly file: string; readonly name: string; readonly value: string }[] | Failed> {
  const folder = await mkdtemp(join(tmpdir(), "skein-attributes-"));
  const call = {
    folder: gitDir,
    environment: { ...environment, GIT_DIR: gitDir, GIT_INDEX_FILE: join(folder, "index") },
    maxBytes: MAX_BYTES,
  };
  try {
    const read = await git({ ...call, args: ["read-tree", commit] }, signal);
    if (!read.ok) return read;
    const listed = files ? undefined : await git({ ...call, args: ["ls-files", "-z"] }, signal);
    if (listed && !listed.ok) return listed;
    const input = files ? files.map((file) => `${file}\0`).join("") : listed!.out;
    const args = ["check-attr", "--cached", "-z", "--stdin", ...names];
    const answer = await git({ ...call, args, input }, signal);
    if (!answer.ok) return answer;
    const fields = fieldsIn(answer.out);
    return Array.from({ length: Math.floor(fields.length / 3) }, (_, i) => {
      const [file = "", name = "", value = ""] = fields.slice(3 * i, 3 * i + 3);
      return { file, name, value };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const MAX_BYTES = 400 * 1024 * 1024;
