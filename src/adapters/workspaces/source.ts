/** What must be known of the user's repository to work beside it? Asked once; nothing there is changed. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { failure } from "../../core/failure.ts";
import type { Failed } from "../../ports/repository.ts";
import { git } from "../git/git.ts";

export type Source = {
  /** The user's checkout; undefined if the repository is bare. */
  readonly top: string | undefined;
  /** The git folder that all its worktrees share. */
  readonly git: string;
  readonly objects: string;
  readonly format: string;
  /** How files are turned into objects and back there: line ends, modes, links. */
  readonly settings: ReadonlyMap<string, string>;
  readonly person: { readonly name: string; readonly email: string };
};

export async function openSource(repository: string, signal: AbortSignal): Promise<Source | Failed> {
  const asked = await git({ folder: repository, args: ["rev-parse", ...QUESTIONS] }, signal);
  if (!asked.ok) return { failure: asked.failure };
  const [folder = "", objects = "", format = "sha1", isBare = "false"] = asked.out.split("\n");
  const top = isBare === "true" ? undefined : await topOf(repository, signal);
  if (typeof top === "object") return top;
  const listed = await git({ folder: repository, args: ["config", "-z", "--get-regexp", WANTED] }, signal);
  if (!listed.ok && listed.code !== 1) return { failure: listed.failure }; // 1: none of them is set.
  const settings = new Map(
    listed.out
      .split("\0")
      .filter((entry) => entry.includes("\n"))
      .map((entry) => [entry.slice(0, entry.indexOf("\n")), entry.slice(entry.indexOf("\n") + 1)] as const),
  );
  const person = {
    name: settings.get("user.name") || SKEIN.name,
    email: settings.get("user.email") || SKEIN.email,
  };
  settings.delete("user.name");
  settings.delete("user.email");
  return { top, git: folder, objects, format, settings, person };
}

const QUESTIONS = [
  "--path-format=absolute",
  "--git-common-dir",
  "--git-path",
  "objects",
  "--show-object-format",
  "--is-bare-repository",
];

const WANTED =
  "^(user\\.(name|email)|core\\.(autocrlf|eol|symlinks|ignorecase|filemode|precomposeunicode|sharedrepository))$";

/** Who makes commits where the user has no name, and who keeps what was left uncommitted. */
export const SKEIN = { name: "Skein", email: "skein@localhost" };

async function topOf(repository: string, signal: AbortSignal): Promise<string | Failed> {
  const asked = await git({ folder: repository, args: ["rev-parse", "--show-toplevel"] }, signal);
  return asked.ok ? asked.out.replace(/\n$/, "") : { failure: asked.failure };
}

/** Moving a branch under a checkout would make everything in it look changed. */
export async function checkedOutBy(source: Source, ref: string): Promise<Failed | undefined> {
  const others = await readdir(join(source.git, "worktrees")).catch(() => []);
  const folders = [source.git, ...others.map((name) => join(source.git, "worktrees", name))];
  const heads = await Promise.all(
    folders.map((folder) => readFile(join(folder, "HEAD"), "utf8").catch(() => "")),
  );
  if (!heads.some((head) => head.trim() === `ref: ${ref}`)) return undefined;
  return {
    failure: failure(
      "repository",
      `${ref} is checked out, so that it was not moved`,
      "check out another branch, and resume",
    ),
  };
}
