/** Reads the filter programs of the user's git settings, and decides which may run on workers' files. */
import { type Failure, failure } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { type GitSetting, readSettings } from "./settings.ts";
import { attributesOf } from "./trees.ts";

/** The git-lfs filter. Its address is pinned (see `lfsSettings`), so it needs no permission. */
export const LFS = "lfs";

export const FILTER_SETTINGS = "filter\\..*\\.(clean|smudge|process|required)";

const PARTS = /^filter\.(.+)\.(clean|smudge|process|required)$/s;

/** The names of all filters that would start a program. */
export function filtersIn(settings: readonly GitSetting[]): readonly string[] {
  const inForce = new Map(settings);
  const started = [...inForce].flatMap(([key, value]) => {
    const [, name, part] = PARTS.exec(key) ?? [];
    return name !== undefined && part !== "required" && value.trim() !== "" ? [name] : [];
  });
  return [...new Set(started)];
}

/** Keeps the allowed filters, and switches off all others, even where git reads the user's other settings. */
export function filterSettings(
  settings: readonly GitSetting[],
  allowed: readonly string[],
): readonly GitSetting[] {
  const isAllowed = (name: string) => name === LFS || allowed.includes(name);
  const kept = settings.filter(([key]) => isAllowed(PARTS.exec(key)?.[1] ?? ""));
  const others = filtersIn(settings).filter((name) => !isAllowed(name));
  return [...kept.filter(([key]) => PARTS.test(key)), ...others.flatMap(switchedOff)];
}

/** Git ignores an empty command. */
const switchedOff = (name: string): readonly GitSetting[] => [
  [`filter.${name}.clean`, ""],
  [`filter.${name}.smudge`, ""],
  [`filter.${name}.process`, ""],
  [`filter.${name}.required`, "false"],
];

type FilterQuestion = {
  readonly top: string;
  readonly gitDir: string;
  readonly commit: string;
  readonly allowed: readonly string[];
};

/**
 * A failure if files of the commit go through a filter that is not allowed, because workspaces could not have them
 * as the user does. In most repositories this is one question to git.
 */
export async function forbiddenFilter(
  wanted: FilterQuestion,
  signal: AbortSignal,
): Promise<Failure | undefined> {
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
    `to let it run on what workers write, outside the sandbox, add to skein.yaml: ${allowingLine([...allowed, ...names])}`,
  );
}

const allowingLine = (names: readonly string[]): string =>
  `workspace.filters: [${names.map((name) => (/^[A-Za-z][\w-]*$/.test(name) ? name : JSON.stringify(name))).join(", ")}]`;

/** The files of a commit by their filter, according to the commit's attributes and the user's. */
async function filteredFiles(
  { gitDir, commit }: FilterQuestion,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]> | Failed> {
  const attributes = await attributesOf({ gitDir, commit, names: ["filter"] }, signal);
  if (hasFailed(attributes)) return attributes;
  const byFilter = Map.groupBy(attributes, ({ value }) => value);
  return new Map([...byFilter].map(([name, files]) => [name, files.map(({ file }) => file)]));
}
