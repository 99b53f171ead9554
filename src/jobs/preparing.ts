/** Reports that preparing a job's workspace takes long, and how long it took: that time is not the job's work. */
import type { JobId } from "../core/job.ts";
import type { Failed } from "../core/result.ts";
import type { Signs } from "../ports/signs.ts";
import type { Want, Workspace, Workspaces } from "../ports/workspaces.ts";

/** A shorter preparation is neither reported nor counted separately. */
const TOLD_AFTER_MS = 2_000;

type Telling = Pick<Signs, "clock" | "tell">;

/** One preparation, from the first copy or set-up step to its end. */
export class Preparing {
  readonly #job: JobId;
  readonly #signs: Telling;
  #since: number | undefined;
  #steps: string[] = [];
  #callOff: () => void = () => {};

  constructor(job: JobId, signs: Telling) {
    this.#job = job;
    this.#signs = signs;
  }

  step(doing: string): void {
    const { clock, tell } = this.#signs;
    this.#steps.push(doing);
    if (this.#since !== undefined) return;
    const since = clock.now();
    this.#since = since;
    this.#callOff = clock.wakeAt(since + TOLD_AFTER_MS, () =>
      tell({ job: this.#job, ms: clock.now() - since, doing: `making a workspace ready: ${this.#doing}` }),
    );
  }

  /** The workspace is ready, or cannot be made ready. */
  end(): void {
    this.#callOff();
    if (this.#since === undefined) return;
    const { clock, tell } = this.#signs;
    const ms = clock.now() - this.#since;
    this.#since = undefined;
    if (ms >= TOLD_AFTER_MS) tell({ job: this.#job, ms, doing: this.#doing, isPrepared: true });
  }

  get #doing(): string {
    return this.#steps.join(", ");
  }
}

export async function takeTold(
  want: Want,
  { workspaces, signs }: { readonly workspaces: Workspaces; readonly signs: Telling },
  signal: AbortSignal,
): Promise<Workspace | Failed> {
  const preparing = new Preparing(want.job, signs);
  try {
    return await workspaces.take({ ...want, onStep: (doing) => preparing.step(doing) }, signal);
  } finally {
    preparing.end();
  }
}
