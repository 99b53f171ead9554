/** How is a run watched, and stopped kindly? The engine, with everything durable shown to whoever drives it. */
import type { Command, Event, Report } from "../core/event.ts";
import { evolve } from "../core/evolve.ts";
import { type JobId, jobId } from "../core/job.ts";
import { emptyState, type RunState } from "../core/state.ts";
import type { BaseBranch } from "../ports/base-branch.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { Heard, Mailbox } from "../ports/mailbox.ts";
import { type EngineEnd, type EngineParts, runEngine } from "./engine.ts";
import { Inbox } from "./inbox.ts";

/** Called for each event once it is durable, with the state after it. */
export type Watch = (event: Event, state: RunState) => void;

export class Drive {
  /** What is durable. */
  readonly state: RunState = emptyState();
  readonly #parts: EngineParts;
  readonly #watch: Watch;
  readonly #inbox = new Inbox();
  readonly #stop = new AbortController();
  readonly #replayed = Promise.withResolvers<void>();
  readonly #caughtUp = Promise.withResolvers<void>();
  /** All letters that waited are in the inbox. */
  readonly #handedOver = Promise.withResolvers<void>();
  /** Where the log last saw the base. */
  #base: string | undefined;
  /** The landings that were under way when it was asked to stop. */
  #awaited: ReadonlySet<JobId> | undefined;

  constructor(parts: EngineParts, watch: Watch) {
    this.#parts = parts;
    this.#watch = watch;
  }

  /** `isHeard`: `listen` is called as well, and what waits in the mailbox comes before any deadline. */
  async run(first: Command, isHeard = false): Promise<EngineEnd> {
    this.#inbox.send(first);
    if (isHeard) await this.#handedOver.promise;
    return runEngine({ ...this.#parts, log: this.#watched() }, this.#inbox, this.#stop.signal);
  }

  /** What a person says to the run while it goes on; resolves once it is in the log. */
  say(command: Command): Promise<Heard> {
    const { promise, resolve } = Promise.withResolvers<Heard>();
    this.#inbox.send(command, (facts) => {
      const refused = facts.find((fact) => fact.type === "command.refused");
      resolve(refused ? { is: "refused", reason: refused.reason } : { is: "heard" });
    });
    return promise;
  }

  /** What the world says while its jobs go on; resolves once what follows is in the log; never, if it ends before. */
  tell(report: Report): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#inbox.send(report, () => resolve());
    return promise;
  }

  /** What was said while nobody drove the run is in the log; never, if the engine ends before. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Takes what others say, until `signal`. A mailbox that cannot be read is no reason to stop. */
  async listen(mailbox: Mailbox, signal: AbortSignal): Promise<void> {
    const said: Promise<Heard>[] = [];
    const catchUp = () => {
      this.#handedOver.resolve();
      void Promise.all(said.splice(0)).then(() => this.#caughtUp.resolve());
    };
    try {
      for await (const { command, answer } of mailbox.receive(signal, catchUp)) {
        const heard = this.say(command);
        said.push(heard);
        void heard.then(answer); // One that is never heard is never answered: the engine has ended.
      }
    } catch {
      catchUp(); // Whoever says something sees that nobody answers.
    }
  }

  /**
   * Says where the base is whenever it is not where it was known to be: in the log, else at `from`. Each time the
   * target is gated, so that it is said no more often than a red one is looked at; of several moves, the last.
   */
  async followBase(branch: BaseBranch, from: string, signal: AbortSignal): Promise<void> {
    const { clock, policy } = this.#parts;
    const over = aborted(signal);
    await Promise.race([this.#replayed.promise, over]);
    for await (const commit of branch.moves(this.#base ?? from, signal)) {
      this.#inbox.send({ type: "base-moved", commit });
      const { promise: rested, resolve } = Promise.withResolvers<void>();
      const callOff = clock.wakeAt(clock.now() + policy.sweep.redMs, resolve);
      await Promise.race([rested, over]);
      callOff();
    }
  }

  /** Nothing new is started; a landing that is under way may finish within `graceMs`. */
  stopGently(graceMs: number): void {
    if (this.#awaited) return;
    const running = [...this.state.running.values()];
    this.#awaited = new Set(running.flatMap(({ job }) => (job.kind === "land" ? [jobId(job)] : [])));
    this.#inbox.send({ type: "pause" });
    const { clock } = this.#parts;
    const callOff = clock.wakeAt(clock.now() + graceMs, () => this.stopNow());
    this.#stop.signal.addEventListener("abort", callOff, { once: true });
    this.#stopIfLanded();
  }

  stopNow(): void {
    this.#stop.abort();
  }

  /** A landing that was begun since then is given up: nothing has moved for it yet. */
  #stopIfLanded(): void {
    const { paused, running } = this.state;
    if (this.#awaited && paused && [...this.#awaited].every((id) => !running.has(id))) this.stopNow();
  }

  #watched(): EventLog {
    const { log } = this.#parts;
    const { state } = this;
    const { resolve: replayed } = this.#replayed;
    const see = (event: Event) => {
      evolve(state, event);
      if (event.type === "base.moved") this.#base = event.commit;
    };
    return {
      read: async function* (after) {
        for await (const event of log.read(after)) {
          see(event);
          yield event;
        }
        replayed();
      },
      append: async (after, events) => {
        const appended = await log.append(after, events);
        if (appended.is !== "done") return appended;
        for (const event of events) {
          see(event);
          this.#watch(event, state);
        }
        this.#stopIfLanded();
        return appended;
      },
    };
  }
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
