/** Follows a run for the terminal: folds its log as it grows, and reads the newest output of the shown jobs. */

import { stripVTControlCharacters } from "node:util";
import { messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import { type RunWord, runWord } from "../../core/view/labels.ts";
import { nothingSeen, type Seen, type Standing, see, standingOf } from "../../core/view/standing.ts";
import { unfinishedOf } from "../../core/view/view.ts";
import { undoneText } from "../../core/view/view-reasons.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { harmless, harmlessLines } from "../../text/words.ts";

/** The shortest time between two draws, however many events come. */
const DRAW_MS = 100;
/** The delay after which a killed run is shown as stopped. */
const OWNER_MS = 3_000;

export class Followed {
  readonly seen: Seen = nothingSeen();
  /** Why the log could not be read further. */
  problem: string | undefined;
  isDriven: boolean | undefined;
  /** The last message to the person, or the result of their last action. */
  note = "";
  #view: Standing | undefined;
  #undone: readonly string[] | undefined;
  #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #version = 0;

  /**
   * Ends with `signal`. `isOwn`: the view ends with the process that drives the run, so its owner need not be polled.
   */
  async follow(home: RunHome, signal: AbortSignal, isOwn = false): Promise<void> {
    const asking = isOwn ? undefined : setInterval(() => void this.#askOwner(home), OWNER_MS);
    try {
      if (!isOwn) await this.#askOwner(home);
      for await (const event of home.log.follow(0, signal)) {
        see(this.seen, event);
        this.#view = undefined;
        this.#undone = undefined;
        this.changed();
      }
    } catch (error) {
      if (!signal.aborted) this.problem = messageOf(error);
      this.changed();
    } finally {
      clearInterval(asking);
    }
  }

  /** Computed once per state, because keys and clocks draw without new events. */
  get view(): Standing {
    this.#view ??= standingOf(this.seen);
    return this.#view;
  }

  /** What was not done in a finished run. */
  get undone(): readonly string[] {
    if (this.seen.state.closed === undefined) return [];
    if (this.#undone === undefined) {
      const { undone, left } = unfinishedOf(this.seen);
      this.#undone = [...undone.map(undoneText), ...left];
    }
    return this.#undone;
  }

  get word(): RunWord {
    return runWord(this.view, this.isDriven);
  }

  say(text: string): void {
    this.note = text;
    this.changed();
  }

  /** A killed process sends nothing, so the owner is polled. */
  async #askOwner(home: RunHome): Promise<void> {
    // A lock that vanishes while it is read says nothing; the next poll comes soon.
    const owner = await home.owner().catch(() => "unknown" as const);
    const isDriven = owner === "unknown" ? this.isDriven : owner !== undefined;
    if (isDriven === this.isDriven) return;
    this.isDriven = isDriven;
    this.changed();
  }

  /** For React: `subscribe` is called when there is something new to draw; `version` distinguishes two states. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly version = (): number => this.#version;

  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#version += 1;
      for (const listener of this.#listeners) listener();
    }, DRAW_MS);
  }
}

type OfJob = { readonly files: RunFiles; readonly home: RunHome; readonly job: JobId };

/** Follows the last lines of a transcript as harmless text. Call the returned function to end it. */
export function followTranscript(
  { files, home, job }: OfJob,
  onLines: (lines: readonly string[]) => void,
): () => void {
  const stop = new AbortController();
  let all = "";
  let timer: NodeJS.Timeout | undefined;
  const show = () => {
    timer = undefined;
    onLines(harmlessLines(stripVTControlCharacters(all).trimEnd(), Number.MAX_SAFE_INTEGER));
  };
  void (async () => {
    for await (const part of files.transcript(home, job, stop.signal)) {
      all = (all + part).slice(-MAX_CHARS);
      timer ??= setTimeout(show, DRAW_MS);
    }
  })().catch((error: unknown) => onLines([`the transcript cannot be read: ${harmless(messageOf(error))}`]));
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}

const MAX_CHARS = 64_000;
