/** Samples a repository with one question to git and a few small files, for making plans. */
import { existsSync, lstatSync } from "node:fs";
import path from "node:path";
import { type Failed, hasFailed } from "../core/result.ts";
import type { RepositorySample } from "../ports/planning-files.ts";
import { readShort } from "./files/read-bounded.ts";
import { detectGate, GATE_FILES, isLockFile } from "./gates/detect.ts";
import { testCommands } from "./gates/gate-command.ts";
import { listFiles } from "./git/trees.ts";

const MAX_LIST_BYTES = 1024 * 1024;
const MAX_LIST_MS = 5_000;
const MAX_TEXT_BYTES = 256 * 1024;

export async function sampleOf(folder: string, signal: AbortSignal): Promise<RepositorySample | Failed> {
  const limits = { maxBytes: MAX_LIST_BYTES, maxMs: MAX_LIST_MS, environment: { GIT_NO_LAZY_FETCH: "1" } };
  const listed = await listFiles({ folder, commit: "HEAD", ...limits }, signal);
  if (hasFailed(listed)) return listed;
  const paths = listed.files.map((file) => file.path);
  const top = topOf(folder);
  const testCommand = top === undefined ? undefined : await testCommandIn(top, new Set(paths));
  return {
    entries: paths.map((file) => ({ path: file, ...sizeOf(top, file) })),
    isCut: listed.isCut,
    ...(testCommand !== undefined && { testCommand }),
  };
}

/** The command that runs the tests, as the gate of a run would be detected. */
async function testCommandIn(top: string, files: ReadonlySet<string>): Promise<string | undefined> {
  const read = GATE_FILES.filter((name) => files.has(name)).map(
    async (name) =>
      [name, isLockFile(name) ? "" : await readShort(path.join(top, name), MAX_TEXT_BYTES)] as const,
  );
  const texts: ReadonlyMap<string, string> = new Map(await Promise.all(read));
  const tests = testCommands(detectGate((name) => texts.get(name)).commands);
  return tests.at(-1)?.command.join(" ");
}

/** The work tree around a folder; undefined in a bare repository, and outside of any. */
export function topOf(folder: string): string | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (isRepository(path.join(at, ".git"))) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

/**
 * Whether git would see a repository: a file that names another place, or a folder with a HEAD. Some programs
 * leave an empty `.git`.
 */
function isRepository(entry: string): boolean {
  return lstatSync(entry, { throwIfNoEntry: false })?.isFile() || existsSync(path.join(entry, "HEAD"));
}

/** The size on disk: git would open each object to tell its size, which takes 40 ms for a thousand files. */
function sizeOf(top: string | undefined, file: string): { readonly bytes?: number } {
  try {
    const found = top === undefined ? undefined : lstatSync(`${top}/${file}`, { throwIfNoEntry: false });
    return found?.isFile() ? { bytes: found.size } : {};
  } catch {
    return {}; // The path does not exist: a part of it may be a file, for example.
  }
}
