/** Keeps a fleet run's git state as on one machine, and also on the remote, for other coordinators. */
import type { RunState } from "../../core/log/state.ts";
import type { Failed } from "../../core/result.ts";
import type { JobObjects } from "../objects/job-objects.ts";
import type { RemoteTarget } from "../objects/remote-target.ts";
import type { GitPlace } from "../runs/git-place.ts";

type FleetPlaceOptions = {
  readonly own: GitPlace;
  readonly shared: RemoteTarget;
  readonly objects: JobObjects;
  readonly target: string;
  readonly base: string;
  /** The number of this coordinator's lease. */
  readonly fence: number;
  /** Cancels the jobs that an earlier coordinator had begun for itself. */
  readonly cancelOthers: () => Promise<void>;
  /** Stores in the database what workers need of the run. */
  readonly giveKit: () => Promise<Failed | undefined>;
};

export class FleetPlace {
  readonly #options: FleetPlaceOptions;

  constructor(options: FleetPlaceOptions) {
    this.#options = options;
  }

  async makeTarget(signal: AbortSignal): Promise<"made" | "elsewhere" | Failed> {
    const { own, shared, target, base } = this.#options;
    const made = await own.makeTarget(signal);
    return made === "made" ? shared.make(target, base, signal) : made;
  }

  /**
   * Locks older coordinators out. Missing objects come from the remote, because this machine may never have seen
   * the run.
   */
  async restore(state: RunState, signal: AbortSignal): Promise<readonly string[] | Failed> {
    const { own, shared, objects, target, fence } = this.#options;
    const missing =
      (await shared.takeOver(target, fence, signal)) ??
      (await objects.recover([...commitsIn(state)], signal));
    await this.#options.cancelOthers();
    return missing ?? own.restore(state, signal);
  }

  async hold(): Promise<Failed | undefined> {
    const { own, giveKit } = this.#options;
    return (await own.hold()) ?? giveKit();
  }

  /** If the remote is away, it keeps the refs of a finished run, which does no harm. */
  async letGo(state: RunState): Promise<Failed | undefined> {
    const { own, objects } = this.#options;
    await objects.cleanUp(AbortSignal.timeout(CLEAN_UP_MS));
    return own.letGo(state);
  }

  filterProblem(signal: AbortSignal) {
    return this.#options.own.filterProblem(signal);
  }

  gone(signal: AbortSignal): Promise<void> {
    return this.#options.own.gone(signal);
  }
}

const CLEAN_UP_MS = 30_000;

/** Commits that tasks handed in, or go on from, and that the target does not have yet. */
function* commitsIn({ tasks }: RunState): Generator<string> {
  for (const { state, goOn } of tasks.values()) {
    if (state.is === "landing" && state.handoff.commit !== undefined) yield state.handoff.commit;
    if (goOn) yield goOn.start;
  }
}
