/** What does the terminal know of a run? Its log, folded as it grows, and the newest words of the job that is looked at. */

import { messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import { nothingSeen, type Seen, see } from "../../core/view/view.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";

/** Drawn at most so often, however many events come. */
const DRAW_MS = 100;
/** How late a run that was killed may be shown as stopped. */
const OWNER_MS = 3_000;

export class Followed {
  readonly seen: Seen = nothingSeen();
  /** The log could not be read on. */
  problem: string | undefined;
  isDriven: boolean | undefined;
  #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #version = 0;

  /** Ends with `signal`. */
  async follow(home: RunHome, signal: AbortSignal): Promise<void> {
    try {
      const asking = setInterval(() => void this.#askOwner(home), OWNER_MS);
      signal.addEventListener("abort", () => clearInterval(asking), { once: true });
      await this.#askOwner(home);
      for await (const event of home.log.follow(0, signal)) {
        see(this.seen, event);
        this.#changed();
      }
    } catch (error) {
      if (!signal.aborted) this.problem = messageOf(error);
      this.#changed();
    }
  }

  /** A process that was killed says nothing: so it is asked for. */
  async #askOwner(home: RunHome): Promise<void> {
    const isDriven = (await home.owner()) !== undefined;
    if (isDriven === this.isDriven) return;
    this.isDriven = isDriven;
    this.#changed();
  }

  /** For React: called when there is something new to draw, and what tells two pictures apart. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly version = (): number => this.#version;

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#version += 1;
      for (const listener of this.#listeners) listener();
    }, DRAW_MS);
  }
}

/** The last lines of a transcript as it grows. Call what is returned to end it. */
export function followTranscript(
  { files, home, job }: { readonly files: RunFiles; readonly home: RunHome; readonly job: JobId },
  onText: (text: string) => void,
): () => void {
  const stop = new AbortController();
  void (async () => {
    let all = "";
    for await (const part of files.transcript(home, job, stop.signal)) {
      all = (all + part).slice(-MAX_CHARS);
      onText(all);
    }
  })();
  return () => stop.abort();
}

const MAX_CHARS = 64_000;
