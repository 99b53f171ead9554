/** Gives a workspace what it needs besides the commit: ignored files that the user named, and a set-up command. */
import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import { type Failed, failedWith } from "../../core/result.ts";
import type { Program, ProgramLimits, Programs } from "../../ports/programs.ts";
import type { Agrees } from "../../ports/trust.ts";
import { redactCommand, redactor } from "../../text/redact.ts";
import { readShort } from "../files/read-bounded.ts";
import { whySaid } from "../gates/tool-output/what-failed.ts";
import { git } from "../git/git.ts";
import { Copies } from "./copies.ts";
import { isReachedInside, removeAll } from "./folders.ts";
import { INCLUDE, includeAsk, includedIn } from "./included.ts";
import { fingerprint, staleCopies } from "./manifests.ts";
import type { Slot } from "./slot.ts";
import type { Source } from "./source.ts";

export type ProvisionOptions = {
  readonly programs: Programs;
  /** Runs the set-up command; in a sandbox unless told otherwise. */
  readonly setupPrograms?: Programs;
  /** The command that prepares an agent's workspace each time, and a gate's when it is new or a lock file changed. */
  readonly setup?: string;
  /** Names of ignored folders that each workspace gets a copy of. */
  readonly copy?: readonly string[];
  /** Names of ignored folders that all workspaces share with the user's checkout. */
  readonly share?: readonly string[];
  /** Decides what `.worktreeinclude` may ask for; everything unless given. */
  readonly agrees?: Agrees;
  /** The limits of the set-up command. */
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
  /** Set for a job that only reads: no set-up. */
  readonly isRead?: boolean;
  readonly isFresh: boolean;
  readonly isUnconfined: boolean;
  /** Called with words for what is begun. */
  readonly onStep: (doing: string) => void;
};

/** `notices`: what could not be provided. `stale`: installed packages that do not fit the tree, and what to do. */
type Provisioned = { readonly notices: readonly string[]; readonly stale?: string };

export class Provisions {
  readonly #source: Source;
  readonly #options: ProvisionOptions;
  readonly #copies: Copies | undefined;
  #found: Promise<Provided> | undefined;

  constructor(source: Source, options: ProvisionOptions) {
    this.#source = source;
    this.#options = options;
    this.#copies = source.top === undefined ? undefined : new Copies(options.programs, source.top);
  }

  /** Copies of an earlier job that need not be removed: `provide` corrects them. */
  copiesIn({ tree }: Slot, { copied }: Provided): readonly string[] {
    return this.#copies?.known(tree, copied) ?? [];
  }

  /** Finds the paths once, by at most three git processes. A job that only reads gets no copies. */
  async find(isRead = false): Promise<Provided> {
    this.#found ??= find(this.#source, this.#options);
    const found = await this.#found;
    return isRead ? { ...found, copied: [] } : found;
  }

  /** Only a stop or a failing set-up command is a failure; other problems are notices. */
  async provide(provision: Provision, signal: AbortSignal): Promise<Provisioned | Failed> {
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
    return failed ?? { notices, ...(await this.#stale(provision, signal)) };
  }

  /** Without a set-up, copies and shared folders are the user's, whatever the tree asks for. */
  async #stale(
    { slot, provided, isRead }: Provision,
    signal: AbortSignal,
  ): Promise<Pick<Provisioned, "stale">> {
    const { top } = this.#source;
    const folders = [...provided.copied, ...provided.shared];
    const isSetUp = (this.#options.setup ?? "").trim() !== "";
    if (isRead || isSetUp || top === undefined || folders.length === 0) return {};
    const stale = await staleCopies({ slot, source: this.#source, top }, folders, signal);
    return stale === undefined ? {} : { stale };
  }

  /**
   * Copies folders. What an earlier job left exact stays; of the rest, the entries that differ are copied again,
   * or all of it.
   */
  async #copy(top: string, provision: Provision, signal: AbortSignal): Promise<string[]> {
    const { slot, provided, onStep } = provision;
    const notices: string[] = [];
    const wanted: string[] = [];
    const watched: (() => Promise<void>)[] = [];
    const by = { ...this.#byOf(provision), limits: this.#options.limits };
    for (const path of provided.copied) {
      if (!(await isReachedInside(slot.tree, path))) {
        notices.push(`${path} was not copied: a link is in its place`);
        continue;
      }
      const inexact = await this.#copies?.inexact(slot.tree, path, by, signal);
      if (inexact?.length === 0) continue;
      const parts = await partsInside(slot.tree, path, inexact ?? []);
      for (const part of parts ?? [path]) await removeAll(join(slot.tree, part));
      const there = await Promise.all((parts ?? [path]).map((part) => isThere(join(top, part))));
      wanted.push(...(parts ?? [path]).filter((_, i) => there[i]));
      const done = await this.#copies?.watch(slot.tree, path, by, signal);
      if (done) watched.push(done);
    }
    if (wanted.length > 0) onStep(`copying ${listOf(provided.copied)}`);
    const limits = { ...this.#options.limits, maxFileBytes: Number.POSITIVE_INFINITY };
    let isWhole = true;
    for (const command of copyCommands(top, slot.tree, wanted)) {
      const end = await this.#options.programs.run(
        { ...this.#byOf(provision), command, folder: top, limits },
        signal,
      );
      if (end.is === "exited" && end.code === 0) continue;
      isWhole = false;
      const said = end.is === "unstartable" ? end.failure.message : end.tail.trim();
      notices.push(`not all of ${listOf(wanted)} could be copied: ${said}`);
    }
    if (isWhole && !signal.aborted) for (const done of watched) await done();
    return notices;
  }

  #byOf({ job, environment }: Provision): Pick<Program, "job" | "environment"> {
    return { job, environment };
  }

  async #setUp(
    { slot, job, environment, isFresh, isUnconfined, onStep }: Provision,
    signal: AbortSignal,
  ): Promise<Failed | undefined> {
    const { setup, limits, setupPrograms } = this.#options;
    const programs = (isUnconfined ? undefined : setupPrograms) ?? this.#options.programs;
    if (setup === undefined || setup.trim() === "") return undefined;
    const record = join(slot.folder, "setup.txt");
    const wanted = await fingerprint(setup, slot, this.#source, signal);
    if (!isFresh && (await readShort(record)) === wanted) return undefined;
    await rm(record, { recursive: true, force: true }); // A worker may have put anything there.
    onStep("running workspace.setup");
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
    const tail = end.tail.trim().split("\n").slice(-MAX_SAID_LINES).join("\n");
    const text = `${end.output}\n${end.errors}`.slice(-MAX_READ_CHARS);
    const why = whySaid({ text, folder: slot.tree, maxLines: MAX_SAID_LINES }).trim() || tail;
    const said = why === "" ? "" : `: ${why}`;
    return failedWith(
      "setup",
      `the set-up command workspace.setup (${redactCommand(setup, redactor([]))}) ${how} in ${slot.tree}${said}`,
      "run it in a fresh clone to see it, and mend it, or workspace.setup in skein.yaml",
    );
  }
}

const MAX_SAID_LINES = 12;
/** The reason may be far before the end: npm prints all its options after it. */
const MAX_READ_CHARS = 256 * 1024;
const STOPPED: Failed = failedWith("cancelled", "stopped while the workspace was set up");

/**
 * The parts to copy again; undefined if all of it is to be copied, because a link of a worker on the way to a part
 * leads outside.
 */
async function partsInside(
  tree: string,
  path: string,
  names: readonly string[],
): Promise<readonly string[] | undefined> {
  const parts = names.map((name) => join(path, name));
  if (parts.length === 0 || parts.length > MAX_PARTS) return undefined;
  for (const part of parts) if (!(await isReachedInside(tree, part))) return undefined;
  return parts;
}

/** They are written in one command line. */
const MAX_PARTS = 500;

const isThere = (file: string): Promise<boolean> =>
  lstat(file).then(
    () => true,
    () => false,
  );

/** More names would not help. */
const MAX_LISTED = 3;

function listOf(paths: readonly string[]): string {
  const more = paths.length - MAX_LISTED;
  return paths.slice(0, MAX_LISTED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** GNU cp copies all in one process, with reflinks; elsewhere one folder at a time. */
function copyCommands(top: string, tree: string, paths: readonly string[]): [string, ...string[]][] {
  if (paths.length === 0) return [];
  if (process.platform === "linux")
    return [["cp", "-a", "--reflink=auto", "--parents", "--", ...paths, tree]];
  return paths.map((path) => ["cp", "-Rpc", join(top, path), join(tree, path)]);
}

const NOTHING: Provided = { copied: [], shared: [], included: [], notices: [] };

async function find(source: Source, options: ProvisionOptions): Promise<Provided> {
  const { copy = [], share: shareNames = [] } = options;
  const top = source.top;
  if (top === undefined) return NOTHING;
  const notices: string[] = [];
  const list = async (args: string[], input?: string): Promise<string[]> => {
    const environment = { GIT_LITERAL_PATHSPECS: "0" }; // check-ignore refuses literal pathspecs.
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
  const patterns = await includedIn(top);
  const isAgreed = patterns.length === 0 || (options.agrees?.(includeAsk(patterns)) ?? true);
  if (!isAgreed) notices.push(`${INCLUDE} is left out: nobody has agreed to it as it is now (skein trust)`);
  const included = isAgreed
    ? await listIncluded(patterns, (args, input) => list([...args], input), ignored)
    : [];
  const isCovered = (path: string) => [...shared, ...copied].some((folder) => path.startsWith(`${folder}/`));
  const apart = included.filter((path) => !isCovered(path));
  if (apart.length > MAX_INCLUDED)
    notices.push(`${INCLUDE} matches ${apart.length} files: ${MAX_INCLUDED} were copied`);
  return { copied, shared, included: apart.slice(0, MAX_INCLUDED), notices };
}

const MAX_INCLUDED = 1_000;

/** The paths that the patterns name and git ignores. Tracked files come with the commit. */
async function listIncluded(
  patterns: readonly string[],
  list: (args: readonly string[], input?: string) => Promise<string[]>,
  ignored: readonly string[],
): Promise<string[]> {
  if (patterns.length === 0) return [];
  const matching = await list([...ignored, ...patterns.map((pattern) => `--exclude=${pattern}`)]);
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
