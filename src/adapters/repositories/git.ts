/** Implements the repository port over git: each question goes to the file that answers it; errors are returned. */

import { messageOf } from "../../core/failure.ts";
import type { Moved } from "../../core/job.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Evidence } from "../../core/rules/evidence.ts";
import type { Candidate, Gone, Landed, Landing, Repository, Wanted } from "../../ports/repository.ts";
import type { SharedTarget } from "../../ports/shared-target.ts";
import type { Shelf } from "../git/shelf.ts";
import { blocked, candidate, wrongWanted } from "./candidate.ts";
import { evidence } from "./evidence.ts";
import { goneOf, hold, isWhole, PRUNED } from "./held.ts";
import { land, look, tipAt } from "./landing.ts";
import { proofsOf } from "./names.ts";
import { broken, closeStore, openStore, readCommit, type Store } from "./store.ts";

type RepositoryOptions = {
  readonly folder: string;
  readonly shelf?: Shelf;
  /** Set in a fleet: the target on the remote, which moves first. */
  readonly shared?: SharedTarget;
};

/** Works on the user's repository: a work tree, a folder in it, or a git folder. Close it when done. */
export class GitRepository implements Repository, Disposable {
  readonly #options: RepositoryOptions;
  readonly #candidates = new Map<string, Remembered>();
  #made = 0;
  /** Where each target was before the first landing of this process. */
  readonly #landedOn = new Map<string, { readonly from: string; readonly run: string }>();
  #store: Promise<Store | Failed> | undefined;

  constructor(options: RepositoryOptions) {
    this.#options = options;
  }

  evidence(base: string, commit: string, signal: AbortSignal): Promise<Evidence | Failed> {
    return this.#with((store) => evidence(store, base, commit, signal));
  }

  /**
   * The same request gets the same candidate, also one that was made ahead of time. If parts of it were removed,
   * it is made again with the same id.
   */
  candidate(wanted: Wanted, signal: AbortSignal): Promise<Candidate | Gone | Failed> {
    return this.#with(async (store) => {
      const isSure = wanted.members.every(({ commit }) => commit !== undefined);
      const before = isSure ? this.#candidates.get(JSON.stringify(wanted)) : undefined;
      if (before) {
        const whole = await isWhole(store, [before.made.commit ?? wanted.onto], [wanted.onto], signal);
        if (hasFailed(whole)) return whole;
        if (whole.is === "whole") return (await blocked(store, wanted, signal)) ?? before.made;
      }
      const now = await this.#make(store, wanted, before?.madeAt ?? wanted.madeAt ?? Date.now(), signal);
      return "made" in now ? now.made : now;
    });
  }

  land(landing: Landing, signal: AbortSignal): Promise<Landed | Gone | Failed> {
    return this.#with(async (store) => {
      const landed = await land(store, landing, () => this.#mend(store, landing, signal), signal);
      const { target, from, proof } = landing;
      if (!hasFailed(landed) && landed.is === "landed" && !this.#landedOn.has(target))
        this.#landedOn.set(target, { from, run: proof.run });
      return landed;
    });
  }

  /** A `git prune` that began before a candidate was held may remove parts of it after it has landed. */
  async whole(target: string, signal: AbortSignal): Promise<Failed | undefined> {
    const torn = await this.#with(async (store) => {
      await store.shelf.putBack();
      const { from, run } = this.#landedOn.get(target) ?? {};
      const tip = await tipAt(store, target);
      if (!from || !run || typeof tip !== "string" || !(await isThere(store, from))) return NOTHING;
      const whole = await isWhole(store, [tip, proofsOf(run)], [from], signal);
      if (hasFailed(whole)) return whole;
      return whole.is === "whole"
        ? NOTHING
        : broken(`parts of what landed on ${target} are missing: ${whole.what}`, PRUNED);
    });
    return hasFailed(torn) ? torn : undefined;
  }

  look(target: string, since: string, signal: AbortSignal): Promise<Moved | Failed> {
    return this.#with((store) => look(store, target, since, signal));
  }

  /** Ends the processes that read and write. The next call starts them again. */
  close(): void {
    const store = this.#store;
    this.#store = undefined;
    void store?.then((opened) => {
      if (!hasFailed(opened)) closeStore(opened);
    });
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Makes and holds a candidate, in place of the oldest remembered one. With the same `madeAt` it gets the same id. */
  async #make(
    store: Store,
    wanted: Wanted,
    madeAt: number,
    signal: AbortSignal,
  ): Promise<Remembered | Gone | Failed> {
    const wrong = wrongWanted(wanted);
    if (wrong) return wrong;
    const made = await this.#merge(store, wanted, madeAt, signal);
    if (hasFailed(made)) {
      await store.shelf.putBack();
      const members = signal.aborted ? [] : await goneOf(store, wanted, signal);
      return hasFailed(members) || members.length === 0 ? made : { is: "gone", members };
    }
    const remembered = { wanted, made, madeAt };
    if (made.commit === undefined) return remembered;
    const max = wanted.madeAt === undefined ? MAX_REMEMBERED : MAX_IN_TRAIN;
    const name = `candidate-${this.#made % max}`;
    this.#made += 1;
    const unheld = await hold(store, { run: wanted.run, name, commit: made.commit });
    if (unheld) return unheld;
    const key = JSON.stringify(wanted);
    this.#candidates.delete(key);
    this.#candidates.set(key, remembered);
    const [oldest = ""] = this.#candidates.keys();
    if (this.#candidates.size > max) this.#candidates.delete(oldest);
    return remembered;
  }

  /** A concurrent `git prune` may remove what was just written, and empty folders: then the merge begins again. */
  async #merge(
    store: Store,
    wanted: Wanted,
    madeAt: number,
    signal: AbortSignal,
  ): Promise<Candidate | Failed> {
    for (let tries = 1; ; tries += 1) {
      const made = await candidate({ ...store, madeAt }, wanted, signal);
      if (!hasFailed(made) || tries === MAX_TRIES || signal.aborted) return made;
      if (!REMOVED.test(made.failure.message)) return made;
      await store.shelf.putBack();
    }
  }

  /** Writes missing parts of a candidate again. Missing parts of its members cannot be written again. */
  async #mend(store: Store, { from, to }: Landing, signal: AbortSignal): Promise<Gone | Failed | undefined> {
    await store.shelf.putBack();
    const known = [...this.#candidates.values()].find(({ made }) => made.commit === to);
    if (!known) {
      const whole = await isWhole(store, [to], [from], signal);
      return hasFailed(whole) || whole.is === "whole" ? undefined : broken(`there is ${whole.what}`, PRUNED);
    }
    const members = await goneOf(store, known.wanted, signal);
    if (hasFailed(members)) return members;
    if (members.length > 0) return { is: "gone", members };
    const made = await this.#make(store, known.wanted, known.madeAt, signal);
    return "made" in made ? undefined : made;
  }

  async #with<Result>(use: (store: Store) => Promise<Result | Failed>): Promise<Result | Failed> {
    try {
      this.#store ??= this.#open();
      const store = await this.#store;
      return hasFailed(store) ? store : await use(store);
    } catch (error) {
      return broken(`the repository cannot be used: ${messageOf(error)}`); // A full disk, or a missing folder.
    }
  }
  async #open(): Promise<Store | Failed> {
    const store = await openStore(this.#options.folder, this.#options).catch((error: unknown) =>
      broken(messageOf(error)),
    );
    if (hasFailed(store)) this.#store = undefined; // The repository may be usable the next time.
    return store;
  }
}

const NOTHING = {};

const MAX_TRIES = 5;
const REMOVED =
  /No such file|answered no tree|unable to (?:read|write|create)|ENOENT|is not there|cannot be read/;

async function isThere(store: Store, commit: string): Promise<boolean> {
  const found = await readCommit(store, commit);
  return found !== undefined && !hasFailed(found);
}

type Remembered = { readonly wanted: Wanted; readonly made: Candidate; readonly madeAt: number };

/** The candidate that is gated, its repetition, and the next. */
const MAX_REMEMBERED = 4;
/** With several gates, those that may still land. A forgotten candidate is made again, with the same id. */
const MAX_IN_TRAIN = 32;
