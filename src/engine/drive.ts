/** Runs the engine, shows each durable event to a watcher, and stops the run gently. */

import { type JobId, jobId } from "../core/job.ts";
import type { Command, Event, Report } from "../core/log/event.ts";
import type { RunState } from "../core/log/state.ts";
import type { BaseBranch } from "../ports/base-branch.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { Heard, Mailbox } from "../ports/mailbox.ts";
import { type EngineEnd, type EngineParts, runEngine } from "./engine.ts";
import { Fold } from "./fold.ts";
import { Inbox } from "./inbox.ts";

/** Called for each event once it is durable, with the state after all events of the same write. */
export type Watch = (event: Event, state: RunState) => void;

export class Drive {
  readonly state: RunState;
  readonly #fold: Fold;
  readonly #parts: EngineParts;
  readonly #watch: Watch;
  readonly #inbox = new Inbox();
  readonly #stop = new AbortController();
  readonly #caughtUp = Promise.withResolvers<void>();
  /** All commands that waited in the mailbox are in the inbox. */
  readonly #handedOver = Promise.withResolvers<void>();
  /** The landings that were under way when the stop was requested. */
  #awaited: ReadonlySet<JobId> | undefined;

  /** `fold`: what has been read of the log already. */
  constructor(parts: EngineParts, watch: Watch, fold: Fold = new Fold()) {
    this.#parts = parts;
    this.#watch = watch;
    this.#fold = fold;
    this.state = fold.state;
  }

  /** `isHeard`: `listen` is called as well, so commands that wait in the mailbox come before any deadline. */
  async run(first: Command, isHeard = false): Promise<EngineEnd> {
    this.#inbox.send(first);
    if (isHeard) await this.#handedOver.promise;
    return runEngine({ ...this.#parts, log: this.#watched() }, this.#inbox, this.#stop.signal, this.#fold);
  }

  /** A person's command while the run goes on; resolves once it is in the log. */
  say(command: Command): Promise<Heard> {
    const { promise, resolve } = Promise.withResolvers<Heard>();
    this.#inbox.send(command, (facts) => {
      const refused = facts.find((fact) => fact.type === "command.refused");
      resolve(refused ? { is: "refused", reason: refused.reason } : { is: "heard" });
    });
    return promise;
  }

  /** A report while jobs run; resolves once what follows is in the log; never, if the engine ends before. */
  tell(report: Report): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#inbox.send(report, () => resolve());
    return promise;
  }

  /** Resolves when commands that waited for a process are in the log; never, if the engine ends before. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Takes commands of other processes until `signal`. A mailbox that cannot be read is no reason to stop. */
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
        void heard.then(answer); // If the engine ends first, the command gets no answer.
      }
    } catch {
      catchUp(); // The senders then see that no process answers.
    }
  }

  /**
   * Reports where the base is whenever it is not where the log last had it, or else at `from`. The target is gated each
   * time, so this is reported no more often than a red target is checked; of several moves, only the last.
   */
  async followBase(branch: BaseBranch, from: string, signal: AbortSignal): Promise<void> {
    const { clock, policy } = this.#parts;
    const over = aborted(signal);
    for await (const commit of branch.moves(this.#fold.base ?? from, signal)) {
      this.#inbox.send({ type: "base-moved", commit });
      const { promise: rested, resolve } = Promise.withResolvers<void>();
      const callOff = clock.wakeAt(clock.now() + policy.sweep.redMs, resolve);
      await Promise.race([rested, over]);
      callOff();
    }
  }

  /** Starts nothing new; a landing that is under way may finish within `graceMs`. */
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

  /** Does not wait for landings that began after the stop was requested: they have moved nothing yet. */
  #stopIfLanded(): void {
    const { paused, running } = this.state;
    if (this.#awaited && paused && [...this.#awaited].every((id) => !running.has(id))) this.stopNow();
  }

  #watched(): EventLog {
    const { log } = this.#parts;
    return {
      read: (after) => log.read(after),
      append: async (after, events) => {
        const appended = await log.append(after, events);
        if (appended.is !== "done") return appended;
        for (const event of events) this.#watch(event, this.state);
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
