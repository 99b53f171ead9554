/** Reads the configuration file, the repository's own or one that the user names, and what it asks for. */
import { realpath } from "node:fs/promises";
import path from "node:path";
import type { Misconfigured } from "../../app/inspect/facts.ts";
import { askGit } from "../../compose/project.ts";
import { type ReadSettings, readConfig } from "../../config/index.ts";
import { messageOf } from "../../core/failure.ts";
import type { Project } from "../../ports/project.ts";
import type { Agrees, TrustAsk, Untrusted } from "../../ports/trust.ts";
import type { RepoOption, SettingOptions, TrustOption } from "./commands/options.ts";
import type { Context } from "./context.ts";
import { CONFIG_NAMES, configNamesIn, isMissing, readBounded } from "./files.ts";
import { flagsOf } from "./flags.ts";

/** Options that say how a command is configured. */
export type Given = SettingOptions & TrustOptions & Pick<RepoOption, "fleet">;

/** Options that say which repository to use, which of its files count, and what is agreed to for this command. */
export type TrustOptions = TrustOption & {
  readonly repo?: string;
  readonly config?: string;
  readonly base?: string;
  /** What a plan file in the repository asks for. */
  readonly planAsks?: readonly TrustAsk[];
};

/** Larger than any handwritten file; the reader has a limit of its own. */
const MAX_BYTES = 2_000_000;

/** `isTheirs`: the file belongs to the repository, and is not the user's own file from elsewhere. */
type ConfigFile = { readonly name: string; readonly text: string; readonly isTheirs: boolean };

/** `isOffline`: objects that a partial clone lacks are not fetched. */
export async function configFile(
  context: Context,
  located: Project["located"] | undefined,
  given: Given,
  isOffline = false,
): Promise<ConfigFile | Misconfigured | undefined> {
  const { folder } = context;
  const { config: named } = given;
  if (named === undefined && located && located.top === located.gitDir)
    return committedFile(context, located, given, isOffline);
  const { top = folder } = located ?? {};
  const found = located ? configNamesIn(top) : [];
  const wrong = (message: string, next?: string): Misconfigured =>
    next === undefined ? { kind: "configuration", message } : { kind: "configuration", message, next };
  if (named === undefined && found.length > 1)
    return wrong(`there are both ${found.join(" and ")} in ${top}`, "keep one of them");
  const name = named ?? found[0];
  if (name === undefined) return undefined;
  const file = named === undefined ? path.join(top, name) : path.resolve(folder, named);
  try {
    const text = await readBounded(file, MAX_BYTES);
    return { name, text, isTheirs: named === undefined || (await isInside(file, located)) };
  } catch (error) {
    if (!isMissing(error)) return wrong(`the configuration ${name} cannot be read: ${messageOf(error)}`);
    return named === undefined
      ? wrong(`${name} is a link that leads nowhere`, "fix the link, or remove it")
      : wrong(`there is no file ${name}`, "name an existing file, or leave out --config");
  }
}

/**
 * Checks the real path and each folder on the way, so that a repository's link to a file outside counts as the
 * repository's own.
 */
export async function isInside(file: string, located: Project["located"] | undefined): Promise<boolean> {
  if (located === undefined) return false;
  const places = [located.top, located.gitDir];
  for (let way = path.resolve(file); way !== path.dirname(way); way = path.dirname(way)) {
    const real = await realpath(way).catch(() => way); // A part of the path does not exist yet.
    if (places.some((place) => real === place || real.startsWith(`${place}${path.sep}`))) return true;
  }
  return false;
}

/** Without a work tree, the committed file counts: at the named base, else at HEAD. */
async function committedFile(
  context: Context,
  { top, head }: Project["located"],
  given: Given,
  isOffline: boolean,
): Promise<ConfigFile | Misconfigured | undefined> {
  const ask = (args: readonly string[]) => askGit(top, args, isOffline);
  const read = readConfig(withoutFile(context, given));
  const base = "config" in read ? read.config.base : "HEAD"; // Problems are reported when everything is read.
  const commit =
    base === "HEAD"
      ? head
      : await ask(["rev-parse", "--verify", "--quiet", "--end-of-options", `${base}^{commit}`]);
  if (commit === undefined) return undefined; // The base does not exist; the run reports that.
  const listed = await ask(["ls-tree", "--name-only", commit, "--", ...CONFIG_NAMES]);
  const found = listed?.split("\n").filter((name) => name !== "") ?? [];
  const [name] = found;
  if (name === undefined) return undefined;
  if (found.length > 1)
    return {
      ...{ kind: "configuration", message: `there are both ${found.join(" and ")} in ${base}` },
      next: "keep one of them",
    };
  const text = await ask(["cat-file", "blob", `${commit}:${name}`]);
  return text === undefined
    ? { kind: "configuration", message: `the configuration ${name} in ${base} is not a file` }
    : { name: `${base}:${name}`, text, isTheirs: true };
}

/** What the repository's configuration asks for, before any of it is agreed to. */
export async function settingsAsked(
  context: Context,
  { project: { located }, gitAsks }: Pick<Untrusted, "project" | "gitAsks">,
  given: Given,
): Promise<Pick<ReadSettings, "asks"> & { readonly prompts?: string | undefined }> {
  const file = await configFile(context, located, given, gitAsks.length > 0);
  if (!file || !("text" in file) || !file.isTheirs) return { asks: [] };
  const read = readConfig({ file, agrees: NOTHING, env: {}, sets: [], flags: {} });
  if ("problems" in read) return { asks: [] }; // The file is refused when it is read.
  return {
    asks: read.asks,
    prompts: isRepositorys(read.origins["prompts"]) ? read.config.prompts : undefined,
  };
}

/** True for a line of a file; the file's name may be that of a branch, and begin like a variable's. */
export const isRepositorys = (origin = "default") => /:\d+$/.test(origin);

/** Agrees to nothing: for a file that no person has agreed to yet. */
export const NOTHING: Agrees = () => false;

/** The configuration sources without the file. */
export function withoutFile(context: Context, given: Given): Omit<Parameters<typeof readConfig>[0], "file"> {
  const { set = [], base } = given;
  const flags = { ...flagsOf(context, given), ...(base === undefined ? {} : { base }) };
  return { env: context.env, sets: set, flags };
}
