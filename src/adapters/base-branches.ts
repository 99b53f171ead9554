/** Watches when a branch moves: its files are watched, and git is asked when one of them changes. */
import { statSync } from "node:fs";
import path from "node:path";
import type { BaseBranch } from "../ports/base-branch.ts";
import { Wakes } from "./files/wakes.ts";
import { git } from "./git/git.ts";
import { refOf, wrongNames } from "./repositories/names.ts";

/** `gitDir` is git's common folder, which also holds the branches of linked work trees. */
export class GitBaseBranch implements BaseBranch {
  readonly #gitDir: string;
  readonly #branch: string;
  readonly #ref: string;

  constructor({ gitDir, branch }: { readonly gitDir: string; readonly branch: string }) {
    this.#gitDir = gitDir;
    this.#branch = branch;
    this.#ref = refOf(branch);
  }

  async *moves(known: string, signal: AbortSignal): AsyncIterable<string> {
    if (wrongNames({ branches: [this.#branch] })) return;
    const files = [this.#ref, "packed-refs", "reftable/tables.list"].map((name) =>
      path.join(this.#gitDir, name),
    );
    const wakes = files.map((file) => new Wakes(file));
    let [at, seen] = [known, ""];
    try {
      while (!signal.aborted) {
        const now = files.map(stateOf).join("\n"); // Before asking git, so that no later change is missed.
        const commit = now === seen ? at : await this.#look(signal);
        if (commit !== undefined) seen = now;
        if (commit !== undefined && commit !== GONE && commit !== at) {
          at = commit;
          yield commit;
        }
        await oneOf(wakes, signal);
      }
    } finally {
      for (const wake of wakes) wake.close();
    }
  }

  /** Asks git for the branch's commit; undefined if git fails, then it is asked again. */
  async #look(signal: AbortSignal): Promise<string | undefined> {
    const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${this.#ref}^{commit}`];
    const answer = await git({ folder: this.#gitDir, args }, signal);
    if (answer.ok) return answer.out.trim();
    return answer.code === 1 ? GONE : undefined;
  }
}

const GONE = "";

/** A file's state, read without a process, because most wake-ups are about other files or the timer. */
function stateOf(file: string): string {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    return found ? `${found.mtimeNs} ${found.ino} ${found.size}` : "";
  } catch {
    return ""; // A part of the path is a file instead of a folder.
  }
}

/** Waits for one of the wakes and ends the others; what woke is handled in the same round. */
async function oneOf(wakes: readonly Wakes[], signal: AbortSignal): Promise<void> {
  const round = new AbortController();
  const either = AbortSignal.any([signal, round.signal]);
  const waits = wakes.map((wake) => wake.next(either));
  await Promise.race(waits);
  round.abort();
  await Promise.all(waits);
}
