/** What does the page know of one run? Its events as they come, folded; and the state at any earlier event. */
import type { Event } from "../../core/log/event.ts";
import { nothingSeen, type Seen, see } from "../../core/view/view.ts";

/** No fold may block the page: a frame has 16 ms. */
const SLICE_MS = 8;
/** Drawn at most so often; a page that takes long to draw is drawn more rarely, so that most of its time is free. */
const DRAW_MS = 100;
const FREE_SHARE = 4;

type Connection = "connecting" | "live" | "lost";

export class LiveRun {
  readonly events: Event[] = [];
  connection: Connection = "connecting";
  /** Whether some process drives the run; undefined: not known yet. */
  isDriven: boolean | undefined;
  problem: string | undefined;
  /** The number of events that are shown; undefined: all, as they come. */
  #shownAt: number | undefined;
  #now: Seen = nothingSeen();
  #nowAt = 0;
  #then: Seen = nothingSeen();
  #thenAt = 0;
  #source: EventSource | undefined;
  #drawn: () => void;
  #isFolding = false;
  #drawMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(run: string, drawn: () => void) {
    this.#drawn = drawn;
    this.#source = new EventSource(`/api/runs/${encodeURIComponent(run)}/events`);
    this.#source.onmessage = ({ data }) => {
      this.connection = "live";
      for (const event of JSON.parse(data) as Event[]) this.events.push(event);
      void this.#fold();
    };
    this.#source.addEventListener("owner", ({ data }) => {
      this.connection = "live";
      this.isDriven = JSON.parse(data) !== null;
      this.#drawSoon();
    });
    this.#source.addEventListener("problem", ({ data }) => {
      this.problem = JSON.parse(data) as string;
      this.#source?.close();
      this.#drawSoon();
    });
    // The browser connects again by itself, and says which event it has seen last.
    this.#source.onerror = () => {
      this.connection = "lost";
      this.#drawSoon();
    };
  }

  close(): void {
    this.#source?.close();
    this.#source = undefined;
    clearTimeout(this.#timer);
  }

  get isLive(): boolean {
    return this.#shownAt === undefined;
  }

  /** How many events the state that is shown is made of. */
  get at(): number {
    return this.isLive ? this.#nowAt : this.#thenAt;
  }

  get seen(): Seen {
    return this.isLive ? this.#now : this.#then;
  }

  travel(to: number | undefined): void {
    this.#shownAt = to;
    if (to !== undefined && to < this.#thenAt) {
      this.#then = nothingSeen();
      this.#thenAt = 0;
    }
    void this.#fold();
  }

  /** Also while another fold is under way: it takes up what came meanwhile. */
  async #fold(): Promise<void> {
    if (this.#isFolding) return;
    this.#isFolding = true;
    let started = performance.now();
    for (;;) {
      if (this.#nowAt < this.events.length) see(this.#now, this.events[this.#nowAt++]!);
      else if (this.#shownAt !== undefined && this.#thenAt < this.#shownAt)
        see(this.#then, this.events[this.#thenAt++]!);
      else break;
      if (performance.now() - started < SLICE_MS) continue;
      this.#drawSoon();
      await new Promise((resolve) => setTimeout(resolve));
      started = performance.now();
    }
    this.#isFolding = false;
    this.#drawSoon();
  }

  #drawSoon(): void {
    if (this.#timer !== undefined || this.#source === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        const started = performance.now();
        this.#drawn();
        // Preact draws in a task of its own, right after this one.
        setTimeout(() => {
          this.#drawMs = performance.now() - started;
        });
      },
      Math.max(DRAW_MS, this.#drawMs * FREE_SHARE),
    );
  }
}

/** Where a text stream of the server goes; call what is returned to end it. */
export function followText(address: string, onText: (text: string) => void): () => void {
  const source = new EventSource(address);
  source.onmessage = ({ data }) => onText(JSON.parse(data) as string);
  source.onerror = () => source.close(); // A transcript is read from its end again by whoever opens it again.
  return () => source.close();
}
