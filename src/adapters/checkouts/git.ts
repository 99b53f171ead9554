/** The tripwire: what do HEAD, the index, the files and the branches of the user look like? Nothing is written. */
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../core/failure.ts";
import type { Checkout, Look } from "../../ports/checkout.ts";
import type { Failed } from "../../ports/repository.ts";
import { git } from "../git/git.ts";
import { broken } from "../repositories/store.ts";
import { refsOf } from "./refs.ts";

/** One process a look, and one more for the first. A bare repository has no checkout: its look is empty. */
export class GitCheckout implements Checkout {
  readonly #folder: string;
  readonly #own: string;
  readonly #maxFiles: number;
  #places: Places | undefined;

  /** `own`: what the names of Skein's own branches begin with, which come and go. */
  constructor(options: { readonly folder: string; readonly own: string; readonly maxFiles?: number }) {
    this.#folder = options.folder;
    this.#own = options.own;
    this.#maxFiles = options.maxFiles ?? MAX_FILES;
  }

  async look(signal: AbortSignal): Promise<Look | Failed> {
    try {
      const answer = await git(
        { folder: this.#folder, args: STATUS, maxBytes: MAX_BYTES, cut: true },
        signal,
      );
      if (!answer.ok) return hasNoCheckout(answer.failure.message) ? new Map() : { failure: answer.failure };
      const places = await this.#placesOf(signal);
      if ("failure" in places) return places;
      const look = await lookOf(places.top, answer, this.#maxFiles);
      return new Map([...look, ...(await refsOf(places.gitDir, this.#own))]);
    } catch (error) {
      return broken(`the checkout ${this.#folder} cannot be looked at: ${messageOf(error)}`);
    }
  }

  /** Paths in a status are from the top, wherever it was asked. */
  async #placesOf(signal: AbortSignal): Promise<Places | Failed> {
    if (this.#places !== undefined) return this.#places;
    const args = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel"];
    const answer = await git({ folder: this.#folder, args }, signal);
    if (!answer.ok) return { failure: answer.failure };
    const [gitDir = "", ...top] = answer.out.replace(/\n$/, "").split("\n");
    this.#places = { gitDir, top: top.join("\n") };
    return this.#places;
  }
}

type Places = { readonly top: string; readonly gitDir: string };

const hasNoCheckout = (said: string) => /must be run in a work tree/.test(said);

/** What differs from HEAD, and nothing else: a mere refresh of the index does not show. */
const STATUS = [
  ...["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"],
  ...["--no-renames", "--no-ahead-behind", "--ignore-submodules=dirty"],
];

/** Whoever has more changes than this has not ignored a folder of build results. */
const MAX_FILES = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

async function lookOf(
  top: string,
  { out, isCut }: { readonly out: string; readonly isCut: boolean },
  maxFiles: number,
): Promise<Look> {
  const fields = out.split("\0");
  const whole = isCut ? fields.slice(0, -1) : fields; // The last one is cut in its middle.
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
  /** How the file differs from the index. */
  readonly kind: string;
  /** How the index differs from HEAD; "" if it does not. */
  readonly staged: string;
};

/** "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3 mW h1 h2 h3 path" or "? path". */
function entryOf(field: string): Entry | undefined {
  if (field.startsWith("? ")) return { path: field.slice(2), kind: "untracked", staged: "" };
  const [, kind, xy = "", values = "", path = ""] = PLAIN.exec(field) ?? UNMERGED.exec(field) ?? [];
  if (kind === undefined) return undefined;
  const isStaged = kind === "u" || !xy.startsWith(".");
  return { path, kind: xy, staged: isStaged ? `${kind} ${xy[0]} ${indexPart(kind, values)} ${path}` : "" };
}

const PLAIN = /^(1) (\S\S) ((?:\S+ ){6})(.+)$/s;
const UNMERGED = /^(u) (\S\S) ((?:\S+ ){8})(.+)$/s;

/** Modes and ids in the index, without what is in the work tree. */
function indexPart(kind: string, values: string): string {
  const parts = values.trim().split(" ");
  return (kind === "1" ? [parts[2], parts[5]] : [...parts.slice(1, 4), ...parts.slice(5)]).join(" ");
}

const digest = (lines: readonly string[]) => createHash("sha256").update(lines.join("\0")).digest("hex");

/** A second edit of a file that was changed before shows in these. */
async function stateOf(file: string): Promise<string> {
  try {
    const { size, mtimeNs, ino, mode } = await lstat(file, { bigint: true });
    return `${size} bytes, ${mtimeNs}, ${ino}, ${mode.toString(8)}`;
  } catch {
    return "not there"; // Deleted, which is how it differs.
  }
}
