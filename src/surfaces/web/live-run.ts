/** The page's state of one run: its events as they arrive, folded and worded, and the state at any earlier event. */
import type { Event } from "../../core/log/event.ts";
import type { Budget } from "../../core/view/budget-left.ts";
import { type RunWord, runWord } from "../../core/view/labels.ts";
import type { Line } from "../../core/view/line.ts";
import { narrate } from "../../core/view/narrate.ts";
import type { WayToDeliver } from "../../core/view/needs.ts";
import { nothingSeen, type Seen, type Standing, see, standingOf } from "../../core/view/standing.ts";
import { api, type Connection, followRun } from "./api.ts";

/** The longest time per fold, so that it does not block the page: a frame has 16 ms. */
const SLICE_MS = 5;
/** The interval of draws while a long log is read, because each draw costs more than the events since the last one. */
const READING_DRAW_MS = 1_000;
/** The shortest interval of draws; a page that draws slowly draws less often, so that most of its time is free. */
const DRAW_MS = 100;
const FREE_SHARE = 4;

export class LiveRun {
  readonly events: Event[] = [];
  /** The line of `skein logs` for each event; undefined for many. */
  readonly told: (Line | undefined)[] = [];
  connection: Connection = "connecting";
  /** Whether a process drives the run; undefined: not known yet. */
  isDriven: boolean | undefined;
  /** As recorded when the run was made. */
  budget: Budget = {};
  delivery: WayToDeliver | undefined;
  problem: string | undefined;
  #hasPlanner = true;
  /** The number of shown events; undefined: all, as they arrive. */
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

  /**
   * A stream cannot report that the run does not exist, or that this browser is not signed in, so that is requested
   * before.
   */
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
          setTimeout(() => void this.#fold()); // Reading the events was a task of its own.
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

  /** The number of events in the shown state. */
  get at(): number {
    return this.isLive ? this.#nowAt : this.#thenAt;
  }

  get seen(): Seen {
    return this.isLive ? this.#now : this.#then;
  }

  /** Computed once per shown event, because clocks and scrolling draw more often. */
  get view(): Standing {
    const { seen: of, at } = this;
    if (this.#view?.of !== of || this.#view.at !== at) this.#view = { of, at, view: standingOf(of) };
    return this.#view.view;
  }

  /** About the present, whichever event is shown. */
  get isOver(): boolean {
    return this.#now.state.closed !== undefined;
  }

  get word(): RunWord {
    return runWord(this.view, this.look.isDriven);
  }

  /** Whether a process drives the run is only known for the present. */
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

  /** May be called during another fold, which then also takes the new events. */
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
        if (this.at > 0) void this.view; // In a task of its own, so that drawing finds it ready.
        setTimeout(() => {
          this.#drawn();
          // Preact draws in a task of its own, directly after this one.
          setTimeout(() => {
            this.#drawMs = performance.now() - started;
          });
        });
      },
      Math.max(DRAW_MS, this.#drawMs * FREE_SHARE),
    );
  }
}
