/** Where do the tasks of a run that follows a plan leave their results? One folder for all of its life. */
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
  /** The run is over: the next one may have the folder. */
  readonly leave: () => void;
};

/**
 * The folder that CLAUDE_SCRATCHPAD_DIR names, if it is set when the run first follows its plan; a link in the run's
 * own folder keeps it, because the person who resumes a run may have another. Two runs with tasks of one name would take each
 * other's results for their own: while one is not over, the next gets a folder of its own in there.
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

/** Agents read all that is in a scratchpad, and its path stands in what they answer. */
function wrongWith(folder: string, guarded: readonly string[]): string | undefined {
  if (/[\p{Cc}|]/u.test(folder)) return "contains characters that a path in an answer cannot have";
  const above = folder.endsWith("/") ? folder : `${folder}/`;
  const held = guarded.find((one) => one !== "" && `${realOr(one)}/`.startsWith(above));
  return held === undefined ? undefined : `is ${folder}, which holds ${held}: agents would read that`;
}

/** One after the other: Node's own `recursive` never ends in a folder such as /proc, which takes no new name. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(folder)) throw error; // Else another run was faster.
  }
}

function realOr(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return path.resolve(folder); // It is not there yet.
  }
}

/** Names the run that has the folder, by its own place. No output file is called so: none starts with a dot. */
const TAKEN = ".skein-run";

/** Takes it, unless a run has it that is not over. One that was removed has nothing any more. */
function isTaken(folder: string, own: string): boolean {
  const file = path.join(folder, TAKEN);
  const holder = holderIn(file);
  if (holder !== undefined && existsSync(holder)) return true;
  if (holder !== undefined) rmSync(file, { force: true });
  try {
    writeFileSync(file, own, { flag: "wx", mode: 0o600 });
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return true; // Another was faster.
    throw error;
  }
}

function leave(folder: string, own: string): void {
  const file = path.join(folder, TAKEN);
  try {
    if (holderIn(file) === own) rmSync(file);
  } catch {
    // Then the next run there has a folder in it until this one is removed.
  }
}

/** Anybody may have put anything there: a pipe would never end. */
function holderIn(file: string): string | undefined {
  return readShortSync(file, MAX_PATH_BYTES) || undefined;
}

const MAX_PATH_BYTES = 4_096;
