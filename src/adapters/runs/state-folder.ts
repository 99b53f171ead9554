/** Finds the folder of a repository's runs: one folder per repository, outside of it. */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { type Failed, failedWith } from "../../core/result.ts";
import type { Environment } from "../../ports/project.ts";
import { slugOf } from "../../text/slug.ts";

/**
 * `gitDir` is git's common folder, so that all work trees of a repository share their runs. `workTree` is the one
 * in use; by default the folder around `.git`. Creates nothing.
 */
export function stateFolderFor(
  gitDir: string,
  env: Environment,
  workTree?: string,
): { readonly folder: string } | Failed {
  const root = stateRoot(env);
  if (typeof root !== "string") return root;
  const git = real(gitDir);
  const around = path.basename(git) === ".git" ? path.dirname(git) : git;
  const within = [git, around, ...(workTree === undefined ? [] : [real(workTree)])].find((place) =>
    isInside(real(root), place),
  );
  if (within !== undefined)
    return failedWith(
      "repository",
      `Skein's state folder ${root} is inside the repository ${within}`,
      "set SKEIN_STATE_DIR to a folder outside of it: Skein keeps nothing in your work tree",
    );
  const hash = createHash("sha256").update(git).digest("hex").slice(0, HASH_CHARS);
  return { folder: path.join(root, `${slugOf(path.basename(around).replace(/\.git$/, ""))}-${hash}`) };
}

const HASH_CHARS = 12;

/**
 * The folder of all this user's runs, and of the workers that this user starts. An empty variable counts as unset,
 * and so does a relative XDG_STATE_HOME, as its standard says.
 */
export function stateRoot(env: Environment): string | Failed {
  const { SKEIN_STATE_DIR: own, XDG_STATE_HOME: xdg, HOME: home } = env as Readonly<Record<string, string>>;
  if (own) {
    if (path.isAbsolute(own)) return path.normalize(own);
    return failedWith(
      "repository",
      `SKEIN_STATE_DIR is not absolute: ${JSON.stringify(own)}`,
      "give it from the root on: a relative one would name another folder wherever the command is started",
    );
  }
  if (xdg && path.isAbsolute(xdg)) return path.join(xdg, "skein");
  return path.join(home && path.isAbsolute(home) ? home : homedir(), ".local", "state", "skein");
}

/** Resolves links as far as the path exists. */
function real(place: string): string {
  const whole = path.resolve(place);
  try {
    return realpathSync(whole);
  } catch {
    const parent = path.dirname(whole);
    return parent === whole ? whole : path.join(real(parent), path.basename(whole));
  }
}

function isInside(place: string, folder: string): boolean {
  const way = path.relative(folder, place);
  return way === "" || (way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
}
