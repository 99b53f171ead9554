/** Reads once what workspaces need to know of the user's repository, and changes nothing there. */
import { type Failed, hasFailed } from "../../core/result.ts";
import { FILTER_SETTINGS, filterSettings } from "../git/filters.ts";
import { git } from "../git/git.ts";
import { LFS_SETTINGS, lfsSettings } from "../git/lfs.ts";
import { RefWriter } from "../git/ref-writer.ts";
import { type GitSetting, readSettings, settingOf, settingVariables, UNCONFIGURED } from "../git/settings.ts";

export type Source = {
  /** The user's checkout; undefined if the repository is bare. */
  readonly top: string | undefined;
  /** The git folder that all its worktrees share. */
  readonly git: string;
  readonly objects: string;
  readonly format: string;
  /** How files become objects and back: line ends, modes, links. Part of every workspace's settings. */
  readonly settings: readonly GitSetting[];
  /** The filters that run in workspaces, and the user's filters that are switched off. */
  readonly filters: readonly GitSetting[];
  /** The environment of Skein's own git calls in workspaces: they read no other settings of the user's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly person: { readonly name: string; readonly email: string };
  readonly refs: RefWriter;
};

/** `allowed`: the names of filters that may run on workers' files. */
export async function openSource(
  repository: string,
  allowed: readonly string[],
  signal: AbortSignal,
): Promise<Source | Failed> {
  const asked = await git({ folder: repository, args: ["rev-parse", ...QUESTIONS] }, signal);
  if (!asked.ok) return { failure: asked.failure };
  const [folder = "", objects = "", format = "sha1", isBare = "false"] = asked.out.split("\n");
  const top = isBare === "true" ? undefined : await topOf(repository, signal);
  if (typeof top === "object") return top;
  const all = await readSettings(repository, `^(${WANTED}|${FILTER_SETTINGS}|${LFS_SETTINGS})$`, signal);
  if (hasFailed(all)) return all;
  const lfs = await lfsSettings(repository, all, signal);
  const filters = filterSettings(all, allowed);
  const settings = [...all.filter(([key]) => TAKEN_OVER.test(key)), ...lfs.shown];
  return {
    top,
    git: folder,
    objects,
    format,
    settings,
    filters,
    environment: {
      ...UNCONFIGURED,
      ...settingVariables([...settings, ...filters, ...lfs.access, ...lfs.address]),
    },
    person: {
      name: settingOf(all, "user.name") || SKEIN.name,
      email: settingOf(all, "user.email") || SKEIN.email,
    },
    refs: new RefWriter(folder, { GIT_DIR: folder }),
  };
}

const QUESTIONS = [
  "--path-format=absolute",
  "--git-common-dir",
  "--git-path",
  "objects",
  "--show-object-format",
  "--is-bare-repository",
];

const TAKEN =
  "core\\.(autocrlf|eol|symlinks|ignorecase|filemode|precomposeunicode|sharedrepository|trustctime|checkstat" +
  "|excludesfile|attributesfile)|safe\\.directory";
const TAKEN_OVER = new RegExp(`^(?:${TAKEN})$`);
const WANTED = `user\\.(name|email)|${TAKEN}`;

/** The author of commits if the user has no name, and of commits of uncommitted work. */
export const SKEIN = { name: "Skein", email: "skein@localhost" };

async function topOf(repository: string, signal: AbortSignal): Promise<string | Failed> {
  const asked = await git({ folder: repository, args: ["rev-parse", "--show-toplevel"] }, signal);
  return asked.ok ? asked.out.replace(/\n$/, "") : { failure: asked.failure };
}
