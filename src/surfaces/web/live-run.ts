/** What the page knows of one run: its events as they come, folded and told, and the state at any earlier event. */
import type { Event } from "../../core/log/event.ts";
import type { Budget } from "../../core/view/budget-left.ts";
import { type RunWord, runWord } from "../../core/view/labels.ts";
import type { Line } from "../../core/view/line.ts";
import { narrate } from "../../core/view/narrate.ts";
import type { WayToDeliver } from "../../core/view/needs.ts";
import { nothingSeen, type Seen, type Standing, see, standingOf } from "../../core/view/standing.ts";
import { api, type Connection, followRun } from "./api.ts";

/** No fold may block the page: a frame has 16 ms. */
const SLICE_MS = 5;
/** While a long log is read, it is drawn so rarely: each drawing costs more than the events since the last. */
const READING_DRAW_MS = 1_000;
/** Drawn at most so often; a page that takes long to draw is drawn more rarely, so that most of its time is free. */
const DRAW_MS = 100;
const FREE_SHARE = 4;

export class LiveRun {
  readonly events: Event[] = [];
  /** What `skein logs` says of each event; nothing of many. */
  readonly told: (Line | undefined)[] = [];
  connection: Connection = "connecting";
  /** Whether some process drives the run; undefined: not known yet. */
  isDriven: boolean | undefined;
  /** As it was recorded when the run was made. */
  budget: Budget = {};
  delivery: WayToDeliver | undefined;
  problem: string | undefined;
  #hasPlanner = true;
  /** The number of events that are shown; undefined: all, as they come. */
  #shownAt: number | undefined;
  #now: Seen = nothingSeen();
  #nowAt = 0;
  #then: Seen = nothingSeen();
  #thenAt = 0;
  #disconnect: () => void = () => {};
  #isClosed = false;
  #drawn: () => void;
  #isFolding = false;
  #view: { readonly of: Seen; readonly at: number; readonly view: Standing } | undefined;
  #drawMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(run: string, drawn: () => void) {
    this.#drawn = drawn;
    void this.#open(run);
  }

  /** A stream cannot say that there is no such run, or that this browser was not let in: so that is asked before. */
  async #open(run: string): Promise<void> {
    const facts = await api.run(run);
    if (this.#isClosed) return;
    if (facts.error !== undefined && facts.status !== 0) {
      this.problem = facts.error;
      this.drawSoon();
      return;
    }
    if (facts.value) this.#hasPlanner = facts.value.hasPlanner;
    this.#disconnect = followRun(run, () => this.events.length, {
      onState: (connection) => {
        this.connection = connection;
        this.drawSoon();
      },
      on: {
        message: (events) => {
          for (const event of events as readonly Event[]) this.events.push(event);
          setTimeout(() => void this.#fold()); // Reading them was a task of its own.
        },
        owner: (owner) => {
          this.isDriven = owner !== null;
          this.drawSoon();
        },
        budget: (budget) => {
          this.budget = budget as Budget;
          this.drawSoon();
        },
        delivery: (delivery) => {
          this.delivery = delivery as WayToDeliver;
          this.drawSoon();
        },
        problem: (problem) => {
          this.problem = problem as string;
          this.#disconnect();
          this.drawSoon();
        },
      },
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#disconnect();
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

  /** Taken once for each event that is shown: a page is drawn more often, by its clock and by its scrolling. */
  get view(): Standing {
    const { seen: of, at } = this;
    if (this.#view?.of !== of || this.#view.at !== at) this.#view = { of, at, view: standingOf(of) };
    return this.#view.view;
  }

  /** Now, whichever event is shown. */
  get isOver(): boolean {
    return this.#now.state.closed !== undefined;
  }

  get word(): RunWord {
    return runWord(this.view, this.look.isDriven);
  }

  /** Whether a process drives it is known of now alone. */
  get look(): { readonly isDriven: boolean | undefined; readonly now: number } {
    return { isDriven: this.isLive ? this.isDriven : undefined, now: Date.now() };
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
    let drawnAt = started;
    for (;;) {
      if (this.#nowAt < this.events.length) this.#take(this.events[this.#nowAt]!);
      else if (this.#shownAt !== undefined && this.#thenAt < this.#shownAt)
        see(this.#then, this.events[this.#thenAt++]!);
      else break;
      if (performance.now() - started < SLICE_MS) continue;
      await new Promise((resolve) => setTimeout(resolve));
      started = performance.now();
      if (started - drawnAt < READING_DRAW_MS) continue;
      drawnAt = started;
      this.drawSoon();
    }
    this.#isFolding = false;
    this.drawSoon();
  }

  #take(event: Event): void {
    see(this.#now, event);
    this.told[this.#nowAt] = narrate(event, this.#now.state, { hasPlanner: this.#hasPlanner });
    this.#nowAt += 1;
  }

  drawSoon(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        const started = performance.now();
        if (this.at > 0) void this.view; // In a task of its own: the draw finds it ready.
        setTimeout(() => {
          this.#drawn();
          // Preact draws in a task of its own, right after this one.
          setTimeout(() => {
            this.#drawMs = performance.now() - started;
          });
        });
      },
      Math.max(DRAW_MS, this.#drawMs * FREE_SHARE),
    );
  }
}
