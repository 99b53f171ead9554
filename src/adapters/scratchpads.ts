/** Finds the folder where tasks of a run that follows a plan leave their results: the same for the run's whole life. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { type Failure, failure, messageOf } from "../core/failure.ts";
import type { Environment, Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import { readShortSync } from "./files/read-bounded.ts";

type RunScratchpad = {
  readonly folder: string;
  readonly problem?: Failure;
  /** Frees the folder for another run, when this one is over. */
  readonly leave: () => void;
};

/**
 * The folder that CLAUDE_SCRATCHPAD_DIR names, if it is set when the run first follows its plan; a link in the
 * run's own folder keeps it, because a person who resumes the run may have another value. Two runs with tasks of
 * one name would take each other's results for their own: while one is not over, the next gets a folder of its own
 * inside of that folder.
 */
export function scratchpadOf(
  project: Pick<Project, "located" | "stateFolder">,
  home: Pick<RunHome, "record" | "folder">,
  env: Environment,
): RunScratchpad {
  const own = path.join(home.folder, "scratchpad");
  const wanted = env[VARIABLE];
  if (home.record.plan === undefined) return at(own, own);
  try {
    const kept = lstatSync(own, { throwIfNoEntry: false });
    if (kept) return at(kept.isSymbolicLink() ? readlinkSync(own) : own, own);
    if (!wanted) {
      mkdirSync(own, { mode: 0o700 });
      return at(own, own);
    }
    if (!path.isAbsolute(wanted))
      return unfit(own, `is ${JSON.stringify(wanted)}, which is not an absolute path`);
    makeFolder(wanted);
    const real = realpathSync(wanted);
    const why = wrongWith(real, [env["HOME"] ?? "", project.located.top, project.stateFolder]);
    if (why !== undefined) return unfit(own, why);
    const folder = isTaken(real, own) ? path.join(real, home.record.run) : real;
    makeFolder(folder);
    symlinkSync(folder, own);
    return at(folder, own);
  } catch (error) {
    const why = `the scratchpad ${wanted ?? own} cannot be used: ${messageOf(error)}`;
    return { ...at(own, own), problem: failure("policy", why, NEXT) };
  }
}

const at = (folder: string, own: string): RunScratchpad => ({ folder, leave: () => leave(folder, own) });

const VARIABLE = "CLAUDE_SCRATCHPAD_DIR";
const NEXT = `set ${VARIABLE} to an empty folder, or unset it: then the run uses its own`;

const unfit = (folder: string, why: string): RunScratchpad => ({
  ...at(folder, folder),
  problem: failure("policy", `${VARIABLE} ${why}`, NEXT),
});

/** Why a folder must not be a scratchpad: agents read everything in it, and its path is part of their answers. */
function wrongWith(folder: string, guarded: readonly string[]): string | undefined {
  if (/[\p{Cc}|]/u.test(folder)) return "contains characters that a path in an answer cannot have";
  const above = folder.endsWith("/") ? folder : `${folder}/`;
  const held = guarded.find((one) => one !== "" && `${realOr(one)}/`.startsWith(above));
  return held === undefined ? undefined : `is ${folder}, which holds ${held}: agents would read that`;
}

/**
 * Makes one folder after the other: Node's own `recursive` never ends in a folder such as /proc, in which no
 * folder can be made.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(folder)) throw error; // Otherwise another run was faster.
  }
}

function realOr(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return path.resolve(folder); // The folder does not exist yet.
  }
}

/**
 * A file that names the run that uses the folder, by the run's own path. No output file has this name: none starts
 * with a dot.
 */
const TAKEN = ".skein-run";

/** Takes the folder, unless a run uses it that is not over. A run that was removed no longer uses it. */
function isTaken(folder: string, own: string): boolean {
  const file = path.join(folder, TAKEN);
  const holder = holderIn(file);
  if (holder !== undefined && existsSync(holder)) return true;
  if (holder !== undefined) rmSync(file, { force: true });
  try {
    writeFileSync(file, own, { flag: "wx", mode: 0o600 });
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return true; // Another run was faster.
    throw error;
  }
}

function leave(folder: string, own: string): void {
  const file = path.join(folder, TAKEN);
  try {
    if (holderIn(file) === own) rmSync(file);
  } catch {
    // Then the next run there uses a folder inside of it, until this run is removed.
  }
}

/** Read with a limit, because any program may have put anything there: a pipe would never end. */
function holderIn(file: string): string | undefined {
  return readShortSync(file, MAX_PATH_BYTES) || undefined;
}

const MAX_PATH_BYTES = 4_096;
