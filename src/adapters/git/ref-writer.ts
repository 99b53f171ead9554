/** Moves refs through one long-lived `git update-ref --stdin` process, instead of a process each time. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import { keepAlive, startGit } from "./git.ts";

/** `code`: git's exit code; undefined if it gave none. */
export type RefsMoved =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: number | undefined; readonly failure: Failure };

/**
 * Runs one transaction after the other. The process is started by the first one, and again after a refused one,
 * which ends it. While idle it holds no lock, and does not keep this program from exiting.
 */
export class RefWriter {
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #maxMs: number;
  #child: ChildProcessWithoutNullStreams | undefined;
  /** The process that was asked, and its waiting caller, who gets an answer even if the process is closed meanwhile. */
  #asked: { readonly of: unknown; readonly answer: (moved: RefsMoved) => void } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string, environment: Readonly<Record<string, string>> = {}, maxMs = MAX_MS) {
    this.#folder = folder;
    this.#environment = environment;
    this.#maxMs = maxMs;
  }

  /** Executes all of these lines of `git update-ref --stdin`, or none; every name in them was checked. */
  move(lines: readonly string[]): Promise<RefsMoved> {
    const moved = this.#last.then(() => this.#move(lines));
    this.#last = moved;
    return moved;
  }

  close(): void {
    this.#child?.stdin.end();
    this.#child = undefined;
  }

  async #move(lines: readonly string[]): Promise<RefsMoved> {
    const isReused = this.#child !== undefined;
    const moved = await this.#ask(lines);
    // The process may have died while idle. If it moved the refs after all, the old values in the lines show it.
    return isReused && !moved.ok && moved.code === undefined ? this.#ask(lines) : moved;
  }

  async #ask(lines: readonly string[]): Promise<RefsMoved> {
    const { promise, resolve } = Promise.withResolvers<RefsMoved>();
    try {
      this.#child ??= this.#start();
    } catch (thrown) {
      return broken(`could not be started: ${messageOf(thrown)}`); // The machine has no process or file left.
    }
    const child = this.#child;
    this.#asked = { of: child, answer: resolve };
    keepAlive(child, true);
    const timer = setTimeout(() => child.kill("SIGKILL"), this.#maxMs);
    child.stdin.write(["start", ...lines, "commit", ""].join("\n"));
    const moved = await promise;
    clearTimeout(timer);
    this.#asked = undefined;
    if (moved.ok) keepAlive(child, false);
    else if (this.#child === child) this.#child = undefined;
    return moved;
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = startGit(this.#folder, ["update-ref", "--stdin"], this.#environment);
    let [out, err] = ["", ""];
    const answer = (moved: RefsMoved) => {
      if (this.#asked?.of === child) this.#asked.answer(moved);
    };
    const end = (moved: RefsMoved) => {
      if (this.#child === child) this.#child = undefined;
      answer(moved);
    };
    child.stdout.on("data", (chunk: Buffer) => {
      out = (out + chunk.toString()).slice(-DONE.length);
      if (out !== DONE) return;
      out = "";
      answer({ ok: true });
    });
    child.stderr.on("data", (chunk: Buffer) => {
      err = (err + chunk.toString()).slice(-MAX_ERROR_CHARS);
    });
    child.stdin.on("error", () => {}); // Git ended before it had read everything: its "close" event says why.
    child.on("error", (error) => end(broken(`could not be started: ${error.message}`)));
    child.on("close", (code) =>
      end(err === "" ? broken("it was ended") : broken(err.trim(), code ?? undefined)),
    );
    return child;
  }
}

const broken = (why: string, code?: number): RefsMoved => ({
  ok: false,
  code,
  failure: failure("repository", `git update-ref: ${why}`),
});

const DONE = "commit: ok\n";
/** Long enough to wait for a lock of another git. */
const MAX_MS = 60_000;
const MAX_ERROR_CHARS = 2_000;
