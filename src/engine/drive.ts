/** How is a run watched, and stopped kindly? The engine, with everything durable shown to whoever drives it. */
import type { Command, Event } from "../core/event.ts";
import { evolve } from "../core/evolve.ts";
import { type JobId, jobId } from "../core/job.ts";
import { emptyState, type RunState } from "../core/state.ts";
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
  /** The landings that were under way when it was asked to stop. */
  #awaited: ReadonlySet<JobId> | undefined;

  constructor(parts: EngineParts, watch: Watch) {
    this.#parts = parts;
    this.#watch = watch;
  }

  run(first: Command): Promise<EngineEnd> {
    this.#inbox.send(first);
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

  /** Takes what others say, until `signal`. A mailbox that cannot be read is no reason to stop. */
  async listen(mailbox: Mailbox, signal: AbortSignal): Promise<void> {
    try {
      for await (const { command, answer } of mailbox.receive(signal)) {
        void this.say(command).then(answer); // One that is never heard is never answered: the engine has ended.
      }
    } catch {
      // Whoever says something sees that nobody answers.
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
    return {
      read: async function* (after) {
        for await (const event of log.read(after)) {
          evolve(state, event);
          yield event;
        }
      },
      append: async (after, events) => {
        const appended = await log.append(after, events);
        if (appended.is !== "done") return appended;
        for (const event of events) {
          evolve(state, event);
          this.#watch(event, state);
        }
        this.#stopIfLanded();
        return appended;
      },
    };
  }
}
