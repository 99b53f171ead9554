/** Checks that commits are complete: git reads their new folders, and their new files are looked for. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import { type GitAnswer, git } from "./git.ts";
import { looseFile } from "./objects.ts";

/** `ids`: the new commits, folders and files, if git listed them. */
export type Whole = { readonly is: "whole"; readonly ids: readonly string[] } | Missing;
export type Missing = { readonly is: "missing"; readonly what: string };

export const WHOLE: Whole = { is: "whole", ids: [] };

type WholenessQuestion = {
  /** The git folder, with the objects in it. */
  readonly folder: string;
  readonly commits: readonly string[];
  /** Commits that are taken to be complete. */
  readonly known: readonly string[];
  /** Looks for the contents of files, if the caller can do so without a process. */
  readonly find?: (ids: readonly string[]) => Promise<Whole | Failed>;
};

/**
 * Uses one process. `rev-list --objects` would also read every folder of the known commits: three times as long
 * with 20,000 files. A long-lived process must not be used, because it still sees objects in removed packs.
 */
export async function wholeness(
  { folder, commits, known, find }: WholenessQuestion,
  signal: AbortSignal,
): Promise<Whole | Failed> {
  const environment = { GIT_DIR: folder };
  const range = ["--end-of-options", ...commits, ...known.map((commit) => `^${commit}`)];
  const ask = (args: readonly string[]) => git({ folder, args, environment }, signal);
  const read = await ask([...NEW_ENTRIES, ...range]);
  if (!read.ok && read.code === undefined) {
    return signal.aborted ? { failure: read.failure } : verdict(await ask([...ALL_OBJECTS, ...range])); // Too many entries.
  }
  if (!read.ok) return verdict(read);
  const idsIn = (lines: RegExp) => [...new Set([...read.out.matchAll(lines)].flatMap(([, ...ids]) => ids))];
  const files = idsIn(/^:\d+ (?:100|120)\d+ [0-9a-f]+ ([0-9a-f]+) /gm);
  const found = await (find ? find(files) : findFiles(files, folder, signal));
  if (hasFailed(found) || found.is === "missing") return found;
  const folders = idsIn(/^:\d+ 040000 [0-9a-f]+ ([0-9a-f]+) /gm);
  return { is: "whole", ids: [...idsIn(/^commit ([0-9a-f]+) ([0-9a-f]+)$/gm), ...folders, ...files] };
}

async function findFiles(
  ids: readonly string[],
  folder: string,
  signal: AbortSignal,
): Promise<Whole | Failed> {
  const unseen = ids.length > MAX_LOOKS ? ids : await notLoose(join(folder, "objects"), ids);
  if (unseen.length === 0) return WHOLE;
  const call = { folder, args: ["cat-file", "--batch-check"], environment: { GIT_DIR: folder } };
  const found = await git({ ...call, input: `${unseen.join("\n")}\n` }, signal);
  const missing = found.ok ? /^([0-9a-f]+) missing$/m.exec(found.out)?.[1] : undefined;
  return missing === undefined ? verdict(found) : { is: "missing", what: `${missing} is missing` };
}

/** With more files than this, one process is faster. */
const MAX_LOOKS = 100;

/** Compares with the first parent: what a merge took from the others is in their own entries, or known. */
const NEW_ENTRIES = [
  ...["-c", "core.commitGraph=false", "-c", "log.showRoot=true"],
  ...[
    "log",
    "-O/dev/null",
    "--no-show-signature",
    "--format=commit %H %T",
    "--raw",
    "-r",
    "-t",
    "--no-abbrev",
    "--no-renames",
    "--diff-merges=first-parent",
  ],
];
const ALL_OBJECTS = ["-c", "core.commitGraph=false", "rev-list", "--objects", "--quiet"];

function verdict(answer: GitAnswer): Whole | Failed {
  if (answer.ok) return WHOLE;
  const { code, failure } = answer;
  const what = failure.message.replace(/^git \S+: (?:error: |fatal: )?/, "");
  return code === undefined || !LACKING.test(what) ? { failure } : { is: "missing", what };
}

/** Git's words for missing objects, for which work counts as lost; any other error says nothing. */
const LACKING =
  /missing|bad (?:object|revision)|unknown revision|not a valid object|nonexistent object|invalid object|unable to read|could not read|unable to find|is empty|corrupt/i;

/** Objects without a file of their own: in a pack, in another repository's objects, or missing. */
export async function notLoose(objects: string, ids: readonly string[]): Promise<readonly string[]> {
  const unseen: string[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const look = async (id: string) => {
      const found = await stat(looseFile(objects, id)).catch(() => undefined);
      if (!found?.size) unseen.push(id);
    };
    await Promise.all(ids.slice(at, at + AT_ONCE).map(look));
  }
  return unseen;
}

const AT_ONCE = 64;
