/** The repository in git: what is asked of it goes to the file that answers; what is thrown becomes a value. */
import type { Evidence } from "../../core/evidence.ts";
import { messageOf } from "../../core/failure.ts";
import type { Moved } from "../../core/job.ts";
import {
  type Candidate,
  type Failed,
  hasFailed,
  type Landed,
  type Landing,
  type Repository,
  type Wanted,
} from "../../ports/repository.ts";
import { blocked, candidate } from "./candidate.ts";
import { evidence } from "./evidence.ts";
import { land, look } from "./landing.ts";
import { broken, openStore, readCommit, type Store } from "./store.ts";

/** Over the user's repository: a work tree, a folder in it, or a git folder. Close it when done. */
export class GitRepository implements Repository, Disposable {
  readonly #folder: string;
  readonly #candidates = new Map<string, Candidate>();
  #store: Promise<Store | Failed> | undefined;

  constructor({ folder }: { readonly folder: string }) {
    this.#folder = folder;
  }

  evidence(base: string, commit: string, signal: AbortSignal): Promise<Evidence | Failed> {
    return this.#with((store) => evidence(store, base, commit, signal));
  }

  /** The same question has the same answer: also of a candidate that was asked for ahead of time. */
  candidate(wanted: Wanted, signal: AbortSignal): Promise<Candidate | Failed> {
    return this.#with(async (store) => {
      const key = JSON.stringify(wanted);
      const before = this.#candidates.get(key);
      if (before?.commit && (await isThere(store, before.commit)))
        return (await blocked(store, wanted, signal)) ?? before;
      const made = await candidate(store, wanted, signal);
      if (!hasFailed(made) && wanted.members.every(({ commit }) => commit !== undefined))
        this.#remember(key, made);
      return made;
    });
  }

  land(landing: Landing, signal: AbortSignal): Promise<Landed | Failed> {
    return this.#with((store) => land(store, landing, signal));
  }

  look(target: string, since: string, signal: AbortSignal): Promise<Moved | Failed> {
    return this.#with((store) => look(store, target, since, signal));
  }

  /** Ends the process that reads. What is asked afterwards starts it again. */
  close(): void {
    const store = this.#store;
    this.#store = undefined;
    void store?.then((opened) => {
      if (!hasFailed(opened)) opened.reader.close();
    });
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #remember(key: string, made: Candidate): void {
    this.#candidates.set(key, made);
    const [oldest] = this.#candidates.keys();
    if (this.#candidates.size > MAX_REMEMBERED && oldest !== undefined) this.#candidates.delete(oldest);
  }

  async #with<Result>(use: (store: Store) => Promise<Result | Failed>): Promise<Result | Failed> {
    try {
      this.#store ??= this.#open();
      const store = await this.#store;
      return hasFailed(store) ? store : await use(store);
    } catch (error) {
      return broken(`the repository cannot be used: ${messageOf(error)}`); // A full disk, a folder that is gone.
    }
  }
  async #open(): Promise<Store | Failed> {
    const store = await openStore(this.#folder).catch((error: unknown) => broken(messageOf(error)));
    if (hasFailed(store)) this.#store = undefined; // It may be there the next time.
    return store;
  }
}

/** Few: the one that is gated, the same once more, and the next. Each is some hundred bytes. */
const MAX_REMEMBERED = 4;

/** Nothing points at a candidate: somebody who cleans up the repository may remove it. */
async function isThere(store: Store, commit: string): Promise<boolean> {
  const found = await readCommit(store, commit);
  return found !== undefined && !hasFailed(found);
}
