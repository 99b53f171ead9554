/** Which programs does git start on the content of files, and which of them may it start on what workers wrote? */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Failure, failure } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../ports/repository.ts";
import { type GitCall, git } from "./git.ts";
import { readSettings, type Setting } from "./settings.ts";

/** Its address is pinned (see `lfsSettings`), so that it needs no permission. */
export const LFS = "lfs";

/** For `readSettings`. */
export const FILTER_SETTINGS = "filter\\..*\\.(clean|smudge|process|required)";

const PARTS = /^filter\.(.+)\.(clean|smudge|process|required)$/s;

/** The names of all filters that would start a program. */
export function filtersIn(settings: readonly Setting[]): readonly string[] {
  const inForce = new Map(settings);
  const started = [...inForce].flatMap(([key, value]) => {
    const [, name, part] = PARTS.exec(key) ?? [];
    return name !== undefined && part !== "required" && value.trim() !== "" ? [name] : [];
  });
  return [...new Set(started)];
}

/** Those that are allowed as they are; all others start nothing, also where other settings of the user's are read. */
export function filterSettings(settings: readonly Setting[], allowed: readonly string[]): readonly Setting[] {
  const isAllowed = (name: string) => name === LFS || allowed.includes(name);
  const kept = settings.filter(([key]) => isAllowed(PARTS.exec(key)?.[1] ?? ""));
  const others = filtersIn(settings).filter((name) => !isAllowed(name));
  return [...kept.filter(([key]) => PARTS.test(key)), ...others.flatMap(switchedOff)];
}

/** An empty command is none. */
const switchedOff = (name: string): readonly Setting[] => [
  [`filter.${name}.clean`, ""],
  [`filter.${name}.smudge`, ""],
  [`filter.${name}.process`, ""],
  [`filter.${name}.required`, "false"],
];

export type Wanted = {
  readonly top: string;
  readonly gitDir: string;
  readonly commit: string;
  readonly allowed: readonly string[];
};

/**
 * Why workspaces cannot have the files of a commit as the user has them: these go through a filter that is not allowed.
 * What is configured nowhere is nothing to git, nor here. In most repositories this is one question to git.
 */
export async function forbiddenFilter(wanted: Wanted, signal: AbortSignal): Promise<Failure | undefined> {
  const { top, allowed } = wanted;
  const settings = await readSettings(top, `^${FILTER_SETTINGS}$`, signal);
  if (hasFailed(settings)) return settings.failure;
  const forbidden = filtersIn(settings).filter((name) => name !== LFS && !allowed.includes(name));
  if (forbidden.length === 0) return undefined;
  const used = await filteredFiles(wanted, signal);
  if (hasFailed(used)) return used.failure;
  const names = forbidden.filter((name) => used.has(name));
  const [first] = names;
  if (first === undefined) return undefined;
  const [file = "", ...others] = used.get(first) ?? [];
  const many = others.length === 0 ? file : `${file} and ${others.length} more`;
  return failure(
    "policy",
    `git puts ${many} through the filter ${names.join(", ")}: a program of your settings, which Skein starts on ` +
      "workers' files only if you allow it",
    `if it may run on what workers write, outside of the sandbox, put into skein.yaml: ${allowingLine([...allowed, ...names])}`,
  );
}

const allowingLine = (names: readonly string[]): string =>
  `workspace.filters: [${names.map((name) => (/^[A-Za-z][\w-]*$/.test(name) ? name : JSON.stringify(name))).join(", ")}]`;

/** The files of a commit by their filter. The attributes are the commit's, from an index of our own; and the user's. */
async function filteredFiles(
  { gitDir, commit }: Wanted,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]> | Failed> {
  const folder = await mkdtemp(join(tmpdir(), "skein-attributes-"));
  const environment = { GIT_DIR: gitDir, GIT_INDEX_FILE: join(folder, "index") };
  const ask = (args: readonly string[], more: Pick<GitCall, "input"> = {}) =>
    git({ folder: gitDir, args, environment, maxBytes: MAX_BYTES, ...more }, signal);
  try {
    const read = await ask(["read-tree", commit]);
    if (!read.ok) return { failure: read.failure };
    const files = await ask(["ls-files", "-z"]);
    if (!files.ok) return { failure: files.failure };
    const answer = await ask(["check-attr", "--cached", "-z", "--stdin", "filter"], { input: files.out });
    if (!answer.ok) return { failure: answer.failure };
    const fields = answer.out.split("\0"); // Path, attribute, value, and so on.
    const found = new Map<string, string[]>();
    for (let at = 0; at + 2 < fields.length; at += 3) {
      const [file = "", , value = ""] = fields.slice(at, at + 3);
      const others = found.get(value);
      if (others) others.push(file);
      else found.set(value, [file]);
    }
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Of some million files. */
const MAX_BYTES = 400 * 1024 * 1024;
