/** Folds a log once per process: the engine and all watchers share the state. */
import { messageOf } from "../core/failure.ts";
import type { Job, JobId } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";
import { evolve } from "../core/log/evolve.ts";
import { emptyState, type RunState } from "../core/log/state.ts";
import { type Failed, failedWith } from "../core/result.ts";
import { isPaid } from "../core/rules/budget.ts";
import { emptyStory, type Story, tell } from "../core/view/story.ts";
import type { EventLog } from "../ports/event-log.ts";

/** In a running engine, the state may be ahead of the log by the events that are being written. */
export class Fold {
  readonly state: RunState = emptyState();
  readonly story: Story = emptyStory();
  /** Paid jobs that were aborted or expired, and have not reported their cost. */
  readonly calledOff = new Map<JobId, Job>();
  events = 0;
  /** When the newest event was decided, in the run's own time. */
  latest = 0;
  base: string | undefined;

  take(event: Event): void {
    if (event.type === "job.ended") this.#remember(event);
    if (event.type === "base.moved") this.base = event.commit;
    evolve(this.state, event);
    tell(this.story, event);
    this.latest = event.at;
    this.events += 1;
  }

  /** Reads the events that the log has beyond those already folded. */
  async catchUp(log: Pick<EventLog, "read">): Promise<Failed | undefined> {
    try {
      for await (const event of log.read(this.events)) this.take(event);
      return undefined;
    } catch (error) {
      const why = `the log cannot be read after event ${this.events}: ${messageOf(error)}`;
      return failedWith("log", why);
    }
  }

  /** Called before the event itself is part of the state. */
  #remember({ job, how }: Event & { readonly type: "job.ended" }): void {
    const running = this.state.running.get(job);
    const isGivenUp = how === "aborted" || how === "expired"; // An expired job may have been replaced.
    if (isGivenUp && running && isPaid(running.job)) this.calledOff.set(job, running.job);
    else this.calledOff.delete(job);
  }
}
