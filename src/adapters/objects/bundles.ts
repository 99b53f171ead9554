/** Moves commits from a worker that may not push: as a thin bundle, which is unpacked aside and checked first. */
import { mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith } from "../../core/result.ts";
import { syncFolder } from "../files/write-whole.ts";
import { git, inGitDir } from "../git/git.ts";
import { isCommit } from "../repositories/names.ts";

type WantedBundle = {
  readonly gitDir: string;
  /** The full name of a ref that leads to the commits. */
  readonly ref: string;
  /** Commits that the other side has. */
  readonly known: readonly string[];
  readonly maxBytes: number;
};

export async function makeBundle(
  { gitDir, ref, known, maxBytes }: WantedBundle,
  signal: AbortSignal,
): Promise<Uint8Array | Failed> {
  const folder = await mkdtemp(path.join(tmpdir(), "skein-bundle-"));
  try {
    const file = path.join(folder, "made.bundle");
    const args = ["bundle", "create", "--quiet", file, ref, ...known.map((commit) => `^${commit}`)];
    const made = await git({ ...inGitDir(gitDir), args }, signal);
    if (!made.ok) return { failure: made.failure };
    const bytes = await readFile(file);
    if (bytes.length <= maxBytes) return bytes;
    const size = `${Math.ceil(bytes.length / 1e6)} MB`;
    return failedWith(
      "repository",
      `what was made takes ${size}, which is more than a bundle may have`,
      "let workers push to the remote (fleet.push), or raise fleet.maxBundle",
    );
  } catch (error) {
    return failedWith("repository", `no bundle could be made: ${messageOf(error)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type TakenBundle = {
  readonly gitDir: string;
  readonly commit: string;
  readonly bundle: Uint8Array;
  readonly known: readonly string[];
};

/**
 * Unpacks a bundle into a folder of its own, as `git receive-pack` does. The objects become part of the repository
 * only if they are sound, and are exactly what the commit needs.
 */
export async function takeBundle(
  { gitDir, commit, bundle, known }: TakenBundle,
  signal: AbortSignal,
): Promise<Failed | undefined> {
  const pack = packIn(bundle);
  if (!pack || !isCommit(commit)) return evil("it is not a bundle of git");
  const objects = path.join(gitDir, "objects");
  const aside = await mkdtemp(path.join(objects, "tmp_skein-"));
  try {
    const environment = {
      ...inGitDir(gitDir).environment,
      GIT_OBJECT_DIRECTORY: aside,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    };
    const call = { folder: gitDir, environment };
    const args = ["index-pack", "--stdin", "--fix-thin", "--strict"];
    const indexed = await git({ ...call, args, input: pack }, signal);
    if (!indexed.ok) return evil(indexed.failure.message);
    const range = [commit, ...known.map((one) => `^${one}`)];
    const walk = ["rev-list", "--objects", "--no-object-names", "--end-of-options", ...range];
    const reached = await git({ ...call, args: walk }, signal);
    if (!reached.ok) return evil(`${commit} is not whole in it: ${reached.failure.message}`);
    const list = ["cat-file", "--batch-check=%(objectname)", "--batch-all-objects", "--unordered"];
    const local = { ...environment, GIT_ALTERNATE_OBJECT_DIRECTORIES: "" };
    const brought = await git({ ...call, environment: local, args: list }, signal);
    if (!brought.ok) return { failure: brought.failure };
    const needed = new Set(reached.out.split("\n"));
    const strange = await notHere(
      gitDir,
      brought.out.split("\n").filter((id) => id !== "" && !needed.has(id)),
      signal,
    );
    if (strange > 0) return evil(`it has ${strange} objects that ${commit} does not need`);
    await migrate(aside, objects);
    return undefined;
  } catch (error) {
    return failedWith("repository", `a bundle could not be taken: ${messageOf(error)}`);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** How many of these objects are missing here. Thin packs are completed by objects that are here already. */
async function notHere(gitDir: string, ids: readonly string[], signal: AbortSignal): Promise<number> {
  if (ids.length === 0) return 0;
  const input = ids.map((id) => `${id}\n`).join("");
  const looked = await git({ ...inGitDir(gitDir), args: ["cat-file", "--batch-check"], input }, signal);
  return looked.ok ? looked.out.split("\n").filter((line) => line.endsWith(" missing")).length : ids.length;
}

/** Moves the pack files; the index comes last, because a pack counts once that is there. */
async function migrate(aside: string, objects: string): Promise<void> {
  const names = (await readdir(path.join(aside, "pack"))).sort((a, b) => rankOf(a) - rankOf(b));
  for (const name of names) await rename(path.join(aside, "pack", name), path.join(objects, "pack", name));
  await syncFolder(path.join(objects, "pack"));
}

const rankOf = (name: string): number => (name.endsWith(".pack") ? 0 : name.endsWith(".idx") ? 2 : 1);

/** The pack in a bundle, after the header, which ends with an empty line. */
function packIn(bundle: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(bundle.buffer, bundle.byteOffset, bundle.byteLength);
  const end = bytes.subarray(0, MAX_HEADER_BYTES).indexOf("\n\n");
  return bytes.subarray(0, 5).toString() === "# v2 " && end > 0 ? bytes.subarray(end + 2) : undefined;
}

const MAX_HEADER_BYTES = 64 * 1024;

const evil = (why: string): Failed =>
  failedWith("agent-failed", `what a worker handed back was not taken: ${why}`);
