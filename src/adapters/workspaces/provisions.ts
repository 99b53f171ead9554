/** What does a workspace get besides the commit? Ignored files that the user named, and a set-up command. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import { type Failed, failedWith } from "../../core/result.ts";
import type { ProgramLimits, Programs } from "../../ports/programs.ts";
import { redactCommand, redactor } from "../../text/redact.ts";
import { readBounded, readShort } from "../files/read-bounded.ts";
import { git } from "../git/git.ts";
import { isReachedInside } from "./folders.ts";
import type { Slot } from "./slot.ts";
import type { Source } from "./source.ts";

export type ProvisionOptions = {
  readonly programs: Programs;
  /** Runs the set-up command; confined unless told otherwise. */
  readonly setupPrograms?: Programs;
  /** Prepares an agent's workspace each time, and a gate's when it is new or a lock file changed. */
  readonly setup?: string;
  /** Names of ignored folders that each workspace gets a copy of. */
  readonly copy?: readonly string[];
  /** Names of ignored folders that all workspaces share with the user's checkout. */
  readonly share?: readonly string[];
  /** Of the set-up command. */
  readonly limits: ProgramLimits;
};

/** Paths in the user's checkout, without a slash at the end. */
type Provided = {
  readonly copied: readonly string[];
  readonly shared: readonly string[];
  readonly included: readonly string[];
  readonly notices: readonly string[];
};

type Provision = {
  readonly slot: Slot;
  readonly job: JobId;
  readonly environment: Readonly<Record<string, string>>;
  readonly provided: Provided;
  /** For a job that only reads: no set-up. */
  readonly isRead?: boolean;
  readonly isFresh: boolean;
  readonly isUnconfined: boolean;
};

export class Provisions {
  readonly #source: Source;
  readonly #options: ProvisionOptions;
  #found: Promise<Provided> | undefined;

  constructor(source: Source, options: ProvisionOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** Found once, by at most three git processes. A job that only reads gets no copies. */
  async find(isRead = false): Promise<Provided> {
    this.#found ??= find(this.#source, this.#options);
    const found = await this.#found;
    return isRead ? { ...found, copied: [] } : found;
  }

  /** What could not be provided. Only a stop or a failing set-up command is a failure. */
  async provide(provision: Provision, signal: AbortSignal): Promise<readonly string[] | Failed> {
    const { provided, isFresh } = provision;
    const top = this.#source.top;
    const notices = [...provided.notices];
    if (top !== undefined) {
      for (const path of provided.included) notices.push(...(await include(top, provision.slot.tree, path)));
      for (const path of provided.shared) notices.push(...(await share(top, provision.slot.tree, path)));
      if (isFresh && provided.copied.length > 0) notices.push(...(await this.#copy(top, provision, signal)));
      if (signal.aborted) return STOPPED; // Half of a folder must not pass for the whole.
    }
    const failed = provision.isRead ? undefined : await this.#setUp(provision, signal);
    return failed ?? notices;
  }

  async #copy(
    top: string,
    { slot, job, environment, provided }: Provision,
    signal: AbortSignal,
  ): Promise<string[]> {
    const notices: string[] = [];
    const paths: string[] = [];
    for (const path of provided.copied) {
      if (await isReachedInside(slot.tree, path)) paths.push(path);
      else notices.push(`${path} was not copied: a link is in its place`);
    }
    for (const command of copyCommands(top, slot.tree, paths)) {
      const limits = { ...this.#options.limits, maxFileBytes: Number.POSITIVE_INFINITY };
      const end = await this.#options.programs.run(
        { job, command, folder: top, environment, limits },
        signal,
      );
      if (end.is === "exited" && end.code === 0) continue;
      const said = end.is === "unstartable" ? end.failure.message : end.tail.trim();
      notices.push(`not all of ${paths.join(", ")} could be copied: ${said}`);
    }
    return notices;
  }

  async #setUp(
    { slot, job, environment, isFresh, isUnconfined }: Provision,
    signal: AbortSignal,
  ): Promise<Failed | undefined> {
    const { setup, limits, setupPrograms } = this.#options;
    const programs = (isUnconfined ? undefined : setupPrograms) ?? this.#options.programs;
    if (setup === undefined || setup.trim() === "") return undefined;
    const record = join(slot.folder, "setup.txt");
    const wanted = await fingerprint(setup, slot.tree);
    if (!isFresh && (await readShort(record)) === wanted) return undefined;
    await rm(record, { recursive: true, force: true }); // A worker may have put anything there.
    const command = ["/bin/sh", "-c", setup] as const;
    const end = await programs.run({ job, command, folder: slot.tree, environment, limits }, signal);
    if (end.is === "exited" && end.code === 0) {
      await writeFile(record, wanted);
      return undefined;
    }
    if (end.is === "stopped") return STOPPED;
    if (end.is === "unstartable") return { failure: end.failure };
    const how =
      end.is === "exited"
        ? `ended with ${end.code}`
        : end.is === "killed"
          ? `got ${end.signal}`
          : "took too long";
    const last = end.tail.trim().split("\n").slice(-MAX_SAID_LINES).join("\n");
    const said = last === "" ? "" : `: ${last}`;
    return failedWith(
      "setup",
      `the set-up command workspace.setup (${redactCommand(setup, redactor([]))}) ${how} in ${slot.tree}${said}`,
      "run it in a fresh clone to see it, and mend it, or workspace.setup in skein.yaml",
    );
  }
}

/** Tools print the reason last. */
const MAX_SAID_LINES = 12;
const STOPPED: Failed = failedWith("cancelled", "stopped while the workspace was set up");

/** GNU cp copies all in one process, with reflinks; elsewhere one folder at a time. */
function copyCommands(top: string, tree: string, paths: readonly string[]): [string, ...string[]][] {
  if (paths.length === 0) return [];
  if (process.platform === "linux")
    return [["cp", "-a", "--reflink=auto", "--parents", "--", ...paths, tree]];
  return paths.map((path) => ["cp", "-Rpc", join(top, path), join(tree, path)]);
}

/** If one of these changes, what is installed may be wrong. */
const LOCK_FILES = [
  ...["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"],
  ...["Cargo.lock", "go.sum", "poetry.lock", "uv.lock", "Pipfile.lock", "requirements.txt", "Gemfile.lock"],
  ...["composer.lock", "mix.lock", "package.json", "pyproject.toml", "Cargo.toml", "go.mod"],
];

async function fingerprint(setup: string, tree: string): Promise<string> {
  const hash = createHash("sha256").update(setup);
  for (const name of LOCK_FILES) {
    hash.update(`\0${name}\0`).update(await lockFile(join(tree, name)));
  }
  return hash.digest("hex");
}

/** A commit may have a link here that leads anywhere: its target counts as text, and is not read. */
async function lockFile(file: string): Promise<string | Buffer> {
  const read = await readBounded(file, MAX_LOCK_BYTES);
  if (read.is === "bytes") return read.bytes;
  if (read.is === "link") return readlink(file).catch(() => "");
  return read.is === "too-large" ? String(read.size) : "";
}

/** The largest in practice have a few megabytes. */
const MAX_LOCK_BYTES = 64 * 1024 * 1024;

const NOTHING: Provided = { copied: [], shared: [], included: [], notices: [] };

async function find(source: Source, options: ProvisionOptions): Promise<Provided> {
  const { copy = [], share: shareNames = [] } = options;
  const top = source.top;
  if (top === undefined) return NOTHING;
  const notices: string[] = [];
  const list = async (args: string[], input?: string): Promise<string[]> => {
    const environment = { GIT_LITERAL_PATHSPECS: "0" }; // check-ignore refuses to be asked with it.
    const call = { folder: top, args, environment, ...(input !== undefined && { input }) };
    const listed = await git(call);
    if (!listed.ok && listed.code !== 1)
      notices.push(`ignored files could not be listed: ${listed.failure.message}`);
    return listed.out.split("\0").filter((path) => path !== "");
  };
  const isAsked = copy.length + shareNames.length > 0;
  const ignored = ["ls-files", "-z", "--others", "--ignored"];
  const folders = isAsked ? await list([...ignored, "--exclude-standard", "--directory"]) : [];
  const named = (names: readonly string[]) =>
    folders
      .filter((path) => path.endsWith("/") && names.includes(basename(path)))
      .map((path) => path.slice(0, -1));
  const shared = named(shareNames);
  const copied = named(copy).filter((path) => !shared.includes(path));
  for (const path of shared) notices.push(`${path} is shared with your checkout: workers can change it`);
  const included = await listIncluded(top, (args, input) => list([...args], input), ignored);
  const isCovered = (path: string) => [...shared, ...copied].some((folder) => path.startsWith(`${folder}/`));
  const apart = included.filter((path) => !isCovered(path));
  if (apart.length > MAX_INCLUDED)
    notices.push(`${INCLUDE} matches ${apart.length} files: ${MAX_INCLUDED} were copied`);
  return { copied, shared, included: apart.slice(0, MAX_INCLUDED), notices };
}

const INCLUDE = ".worktreeinclude";
const MAX_INCLUDED = 1_000;

/** What the file names and git ignores. Tracked files come with the commit. */
async function listIncluded(
  top: string,
  list: (args: readonly string[], input?: string) => Promise<string[]>,
  ignored: readonly string[],
): Promise<string[]> {
  const file = join(top, INCLUDE);
  if (!(await lstat(file).catch(() => undefined))?.isFile()) return [];
  const matching = await list([...ignored, `--exclude-from=${file}`]);
  return matching.length === 0
    ? []
    : list(["check-ignore", "-z", "--stdin"], matching.map((path) => `${path}\0`).join(""));
}

async function include(top: string, tree: string, path: string): Promise<string[]> {
  const from = join(top, path);
  const to = join(tree, path);
  try {
    const found = await lstat(from);
    if (!(await isReachedInside(tree, path))) return [`${path} was not copied: a link is in its place`];
    await mkdir(dirname(to), { recursive: true });
    if (found.isSymbolicLink()) await symlink(await readlink(from), to);
    else if (found.isFile()) await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return [];
  } catch (thrown) {
    const isThere = (thrown as NodeJS.ErrnoException).code === "EEXIST";
    return [`${path} was not copied: ${isThere ? "the commit has a file of that name" : messageOf(thrown)}`];
  }
}

async function share(top: string, tree: string, path: string): Promise<string[]> {
  const to = join(tree, path);
  try {
    if (!(await isReachedInside(tree, path))) return [`${path} is not shared: a link is in its place`];
    await mkdir(dirname(to), { recursive: true });
    await symlink(join(top, path), to);
    return [];
  } catch (thrown) {
    const isThere = (thrown as NodeJS.ErrnoException).code === "EEXIST";
    return [
      `${path} is not shared: ${isThere ? "the commit has something of that name" : messageOf(thrown)}`,
    ];
  }
}
