/** Where does a run live in git, and on the disk? Its target, what keeps its objects, and its folder. */

import { type Failure, messageOf } from "../../core/failure.ts";
import type { RunState } from "../../core/log/state.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { RunHome } from "../../ports/runs.ts";
import { Wakes } from "../files/wakes.ts";
import { forbiddenFilter } from "../git/filters.ts";
import { syncRefs } from "../git/refs.ts";
import type { Shelf } from "../git/shelf.ts";
import { holdBase, letGo } from "../repositories/held.ts";
import { createTarget } from "../repositories/locate.ts";
import { refOf } from "../repositories/names.ts";
import { noteRepository } from "./moved.ts";
import { restoreRun } from "./restore-run.ts";

type GitPlaceOptions = {
  readonly top: string;
  readonly gitDir: string;
  readonly stateFolder: string;
  readonly home: RunHome;
  readonly target: string;
  readonly shelf: Shelf;
  /** Names of git filters that may run in workspaces. */
  readonly filters: readonly string[];
};

export class GitPlace {
  readonly #options: GitPlaceOptions;

  constructor(options: GitPlaceOptions) {
    this.#options = options;
  }

  async makeTarget(signal: AbortSignal): Promise<"made" | "elsewhere" | Failed> {
    const { top, gitDir, home, target } = this.#options;
    const made = await createTarget(top, target, home.record.base, signal);
    if (hasFailed(made)) return made;
    if (made.is === "elsewhere") return "elsewhere";
    await syncRefs(gitDir, [refOf(target)]);
    return "made";
  }

  restore(state: RunState, signal: AbortSignal): Promise<readonly string[] | Failed> {
    const { home, gitDir, shelf, target } = this.#options;
    const { folder, record } = home;
    return restoreRun({ gitDir, shelf, folder, target, run: record.run, base: record.base, state }, signal);
  }

  async hold(): Promise<Failed | undefined> {
    const { top, gitDir, stateFolder, home } = this.#options;
    const unheld = await holdBase(top, home.record.run, home.record.base);
    if (unheld) return unheld;
    await noteRepository(stateFolder, gitDir);
    return undefined;
  }

  /** Puts back first what a `git prune` has removed. */
  async letGo(): Promise<Failed | undefined> {
    const { top, home, target, shelf } = this.#options;
    try {
      await shelf.putBack();
      const held = await letGo(top, home.record.run, { target });
      if (!held) await shelf.clear();
      return held;
    } catch (error) {
      return failedWith("repository", messageOf(error)); // A disk that is full or gone.
    }
  }

  filterProblem(signal: AbortSignal): Promise<Failure | undefined> {
    const { top, gitDir, home, filters } = this.#options;
    return forbiddenFilter({ top, gitDir, commit: home.record.base, allowed: filters }, signal);
  }

  async gone(signal: AbortSignal): Promise<void> {
    const { home } = this.#options;
    using wakes = new Wakes(home.folder);
    while (!signal.aborted && home.isThere()) await wakes.next(signal);
  }
}
