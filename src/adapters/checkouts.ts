/** Detects whether a program changed the user's checkout: its HEAD, index, files and branches; writes nothing. */
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { type Checkout, differences, type Look } from "../ports/checkout.ts";
import type { Program, ProgramEnd, Programs } from "../ports/programs.ts";
import { type GitAnswer, git } from "./git/git.ts";
import { refsInFiles } from "./git/refs-in-files.ts";
import { broken } from "./repositories/store.ts";

/** Looks at a checkout. A bare repository has none: its look is empty. */
export class GitCheckout implements Checkout {
  readonly #folder: string;
  readonly #own: string;
  readonly #maxFiles: number;
  #places: Places | undefined;

  /** `own`: the prefix of Skein's own branches, which come and go. */
  constructor(options: { readonly folder: string; readonly own: string; readonly maxFiles?: number }) {
    this.#folder = options.folder;
    this.#own = options.own;
    this.#maxFiles = options.maxFiles ?? MAX_FILES;
  }

  async look(signal: AbortSignal): Promise<Look | Failed> {
    const folder = this.#folder;
    const ask = (args: readonly string[]) => git({ folder, args, maxBytes: MAX_BYTES, cut: true }, signal);
    try {
      const places = this.#places ?? (await placesOf(ask));
      if ("failure" in places) return hasNoCheckout(places.failure.message) ? new Map() : places;
      this.#places = places;
      const [status, refs] = await Promise.all([ask(STATUS), refsOf(places.gitDir, this.#own, ask)]);
      if (!status.ok) return status;
      if (hasFailed(refs)) return refs;
      const files = await lookOf(places.top, status, this.#maxFiles);
      return new Map([...files, ...refs]);
    } catch (error) {
      return broken(`the checkout ${folder} cannot be inspected: ${messageOf(error)}`);
    }
  }
}

/** Callers that ask while a look is under way share the next one, which has a time limit instead of their signals. */
export function sharedLooks(checkout: Checkout): Checkout {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<Look | Failed> | undefined;
  return {
    look: () => {
      next ??= current.then(() => {
        const look = checkout.look(AbortSignal.timeout(MAX_SHARED_MS));
        next = undefined; // The look has begun: it may miss changes that later callers want to see.
        current = look;
        return look;
      });
      return next;
    },
  };
}

const MAX_SHARED_MS = 60_000;

export type WatchedProgramsOptions = {
  readonly programs: Programs;
  readonly checkout: Checkout;
  /** The program is not necessarily the cause: people edit while a run goes on. */
  readonly tell: (job: JobId, places: readonly string[]) => void;
};

/** Compares the checkout before and after each gate, set-up or criterion command. */
export class WatchedPrograms implements Programs {
  readonly #options: WatchedProgramsOptions;
  /** The last look, reused for the next command of the same gate. */
  #last: { readonly job: JobId; readonly look: Look; readonly at: number } | undefined;

  constructor(options: WatchedProgramsOptions) {
    this.#options = options;
  }

  async run(program: Program, signal: AbortSignal): Promise<ProgramEnd> {
    const { programs, checkout, tell } = this.#options;
    const { job } = program;
    const last = this.#last;
    const isFresh = last?.job === job && performance.now() - last.at < MAX_AGE_MS;
    const before = isFresh ? last.look : await checkout.look(signal);
    const end = await programs.run(program, signal);
    const after = await checkout.look(signal);
    if (hasFailed(before) || hasFailed(after)) return end;
    this.#last = { job, look: after, at: performance.now() };
    const places = differences(before, after);
    if (places.length > 0) tell(job, places);
    return end;
  }

  endLeftovers: Programs["endLeftovers"] = (job) => this.#options.programs.endLeftovers(job);
}

const MAX_AGE_MS = 250;

type Ask = (args: readonly string[]) => Promise<GitAnswer>;

/** `gitDir`: the folder of the branches and tags. */
type Places = { readonly top: string; readonly gitDir: string };

async function placesOf(ask: Ask): Promise<Places | Failed> {
  const [top, gitDir] = await Promise.all(
    ["--show-toplevel", "--git-common-dir"].map((what) => ask(["rev-parse", "--path-format=absolute", what])),
  );
  if (!top?.ok) return { failure: top!.failure };
  if (!gitDir?.ok) return { failure: gitDir!.failure };
  return { top: top.out.replace(/\n$/, ""), gitDir: gitDir.out.replace(/\n$/, "") };
}

const hasNoCheckout = (said: string) => /must be run in a work tree/.test(said);

/** Lists what differs from HEAD, so that a mere refresh of the index does not show. */
const STATUS = [
  ...["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"],
  ...["--no-renames", "--no-ahead-behind", "--ignore-submodules=dirty"],
];

/** Remote branches are not listed, because a fetch moves them. */
const REF_FOLDERS = ["refs/heads", "refs/tags"];
const MAX_REFS = 10_000;

async function refsOf(gitDir: string, own: string, ask: Ask): Promise<ReadonlyMap<string, string> | Failed> {
  const except = `refs/heads/${own}`;
  const read = await refsInFiles({ gitDir, folders: REF_FOLDERS, except, max: MAX_REFS });
  if (read) return read;
  const listed = await ask([
    "for-each-ref",
    `--count=${MAX_REFS}`,
    "--format=%(refname) %(objectname)",
    ...REF_FOLDERS,
  ]);
  if (!listed.ok) return { failure: listed.failure };
  const refs = [...listed.out.matchAll(/^(\S+) ([0-9a-f]+)$/gm)].map(
    ([, ref = "", id = ""]) => [ref, id] as const,
  );
  return new Map(refs.filter(([ref]) => !ref.startsWith(except)));
}

/** More files than this are build results in a folder that is not ignored. */
const MAX_FILES = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

async function lookOf(
  top: string,
  { out, isCut }: { readonly out: string; readonly isCut: boolean },
  maxFiles: number,
): Promise<Look> {
  const fields = out.split("\0");
  const whole = isCut ? fields.slice(0, -1) : fields; // The last field was cut in its middle.
  const head = whole.filter((field) => /^# branch\.(?:oid|head) /.test(field));
  const entries = whole.map(entryOf).filter((entry) => entry !== undefined);
  const listed = entries.slice(0, maxFiles);
  const states = await Promise.all(listed.map(({ path }) => stateOf(join(top, path))));
  const left = entries.length - listed.length;
  return new Map([
    ["HEAD", head.map((field) => field.slice("# branch.".length)).join(", ")],
    ["index", digest(entries.map(({ staged }) => staged).filter((text) => text !== ""))],
    ...listed.map(({ path, kind }, at) => [path, `${kind} ${states[at]}`] as const),
    ...(left > 0 || isCut ? [["further files", `${left}${isCut ? " or more" : ""}`] as const] : []),
  ]);
}

type Entry = {
  readonly path: string;
  readonly kind: string;
  /** How the index differs from HEAD; "" if it does not. */
  readonly staged: string;
};

/** Parses "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3 mW h1 h2 h3 path" or "? path". */
function entryOf(field: string): Entry | undefined {
  if (field.startsWith("? ")) return { path: field.slice(2), kind: "untracked", staged: "" };
  const [, kind, xy = "", values = "", path = ""] = PLAIN.exec(field) ?? UNMERGED.exec(field) ?? [];
  if (kind === undefined) return undefined;
  const isStaged = kind === "u" || !xy.startsWith(".");
  return { path, kind: xy, staged: isStaged ? `${kind} ${xy[0]} ${indexPart(kind, values)} ${path}` : "" };
}

const PLAIN = /^(1) (\S\S) ((?:\S+ ){6})(.+)$/s;
const UNMERGED = /^(u) (\S\S) ((?:\S+ ){8})(.+)$/s;

/** Modes and ids in the index, without those of the work tree. */
function indexPart(kind: string, values: string): string {
  const parts = values.trim().split(" ");
  return (kind === "1" ? [parts[2], parts[5]] : [...parts.slice(1, 4), ...parts.slice(5)]).join(" ");
}

const digest = (lines: readonly string[]) => createHash("sha256").update(lines.join("\0")).digest("hex");

/** A file's size, time, inode and mode: a second edit of a file that was changed before shows only in these. */
async function stateOf(file: string): Promise<string> {
  try {
    const { size, mtimeNs, ino, mode } = await lstat(file, { bigint: true });
    return `${size} bytes, ${mtimeNs}, ${ino}, ${mode.toString(8)}`;
  } catch {
    return "not there"; // The file was deleted, which is how it differs.
  }
}
