/** Did a gate, a set-up command or a criterion touch the user's checkout? Looked at before and after each command. */
import type { JobId } from "../../core/job.ts";
import { type Checkout, differences, type Look } from "../../ports/checkout.ts";
import type { Program, ProgramEnd, Programs } from "../../ports/programs.ts";
import { hasFailed } from "../../ports/repository.ts";

export type WatchedProgramsOptions = {
  readonly programs: Programs;
  readonly checkout: Checkout;
  /** Not necessarily the command's doing: people edit while a run goes on. */
  readonly tell: (job: JobId, places: readonly string[]) => void;
};

export class WatchedPrograms implements Programs {
  readonly #options: WatchedProgramsOptions;
  /** The last look, for the next command of the same gate: it is some ms old then. */
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
