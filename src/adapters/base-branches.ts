/** When does a branch move? Its files are watched, and git is asked when one of them changes. */
import { statSync } from "node:fs";
import path from "node:path";
import type { BaseBranch } from "../ports/base-branch.ts";
import { Wakes } from "./files/wakes.ts";
import { git } from "./git/git.ts";
import { refOf, wrongNames } from "./repositories/names.ts";

/** `gitDir` is git's common folder: linked work trees have their branches there as well. */
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
        const now = files.map(stateOf).join("\n"); // Before asking git, so that a later change is seen the next time.
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

  /** Undefined if git fails: it is asked again. */
  async #look(signal: AbortSignal): Promise<string | undefined> {
    const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${this.#ref}^{commit}`];
    const answer = await git({ folder: this.#gitDir, args }, signal);
    if (answer.ok) return answer.out.trim();
    return answer.code === 1 ? GONE : undefined;
  }
}

const GONE = "";

/** Without a process, because most wake-ups are about other files or the timer. */
function stateOf(file: string): string {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    return found ? `${found.mtimeNs} ${found.ino} ${found.size}` : "";
  } catch {
    return ""; // A file where a folder should be.
  }
}

/** The other waits are ended as well; what woke them is looked at in the same round. */
async function oneOf(wakes: readonly Wakes[], signal: AbortSignal): Promise<void> {
  const round = new AbortController();
  const either = AbortSignal.any([signal, round.signal]);
  const waits = wakes.map((wake) => wake.next(either));
  await Promise.race(waits);
  round.abort();
  await Promise.all(waits);
}
