/** A program's handle of a run in its process: its events, its state, commands to it, and its end. */
import { type DeliverRequest, deliverRun } from "../../app/deliver.ts";
import type { LiveRun, RunEnding } from "../../app/follow-run.ts";
import { failureOf } from "../../app/halt.ts";
import { targetOf } from "../../app/lost-run.ts";
import type { Parts } from "../../app/parts.ts";
import type { Event } from "../../core/log/event.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { givenUpOf } from "../../core/rules/given-up.ts";
import type { TaskId } from "../../core/task.ts";
import { findTask, rowsOf, viewOf } from "../../core/view/view.ts";
import type { DeliveryEnd } from "../../ports/delivery.ts";
import type { EventLog } from "../../ports/event-log.ts";
import type { Heard, MailboxMessage } from "../../ports/mailbox.ts";
import type { RunHome } from "../../ports/runs.ts";
import type { RunEnded, RunHandle } from "./types.ts";

type OfTask = Extract<MailboxMessage, { readonly task?: TaskId }> & {
  readonly type: "approve" | "decline" | "cancel";
};

export type Started = LiveRun & { readonly home: RunHome };

type HandleParts = { readonly parts: Parts; readonly live: Started; readonly feed: Feed };

export function handleOf({ parts, live, feed }: HandleParts): RunHandle {
  const { run, home, seen } = live;
  const ended = live.ended.then(endOf).finally(() => feed.end());
  const tooLate = ended.then(() => refused(`run ${run} has ended`));
  const say = (command: MailboxMessage) => Promise.race([live.say(command), tooLate]);
  const sayOf = async (command: OfTask, task?: string): Promise<Heard> => {
    if (task === undefined) return say(command);
    const found = findTask(seen.state, String(task));
    return typeof found === "string"
      ? say({ ...command, task: found })
      : refused(notOne(String(task), found.several));
  };
  const stop: RunHandle["stop"] = async ({ now = false } = {}) => {
    if (feed.isOver) return tooLate;
    if (now) live.stopNow();
    else live.stopGently();
    const { is } = await ended;
    return is === "stopped" ? { is: "heard" } : tooLate;
  };
  const target = targetOf(home.record);
  return {
    run,
    target,
    events: { [Symbol.asyncIterator]: () => feed.events(home.log) },
    ended,
    view: () => viewOf(seen),
    tasks: () => rowsOf(seen.state),
    pause: () => say({ type: "pause" }),
    resume: () => say({ type: "resume" }),
    steer: async (message) =>
      typeof message === "string" && message.trim() !== ""
        ? say({ type: "steer", message })
        : refused("the message is empty"),
    answer: (question, text) => say({ type: "answer", question: String(question), text: String(text) }),
    approve: (task) => sayOf({ type: "approve" }, task),
    decline: (reason, task) => sayOf({ type: "decline", reason: String(reason) }, task),
    cancel: (task, reason) =>
      sayOf({ type: "cancel", ...(reason !== undefined && { reason: String(reason) }) }, task),
    stop,
    deliver: (options = {}) => deliver({ ...options, home, seen }, parts, options.signal),
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

const refused = (reason: string): Heard => ({ is: "refused", reason });

const notOne = (said: string, several: readonly { readonly name: string }[]) =>
  several.length === 0
    ? `there is no task ${JSON.stringify(said)}`
    : `several tasks are called ${JSON.stringify(said)}: ${several.map(({ name }) => name).join(", ")}`;

function endOf(end: RunEnding): RunEnded {
  if (end.is === "lost") return end;
  const { closed } = end.state;
  const givenUp = givenUpOf(end.state);
  if (closed) return { is: "closed", ...closed, ...(givenUp.length > 0 && { givenUp }) };
  return { is: "stopped", ...(end.halt && { failure: failureOf(end.halt) }) };
}

/** The run's events, read from the log: none is kept in memory. */
export class Feed {
  #more = Promise.withResolvers<void>();
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Called for each event once it is durable. */
  readonly watch = (): void => {
    const { resolve } = this.#more;
    this.#more = Promise.withResolvers();
    resolve();
  };

  end(): void {
    this.#isOver = true;
    this.#more.resolve();
  }

  async *events(log: EventLog): AsyncGenerator<Event> {
    for (let seen = 0; ; ) {
      const { promise } = this.#more; // Taken before reading, so that later events are read in the next round.
      const isLast = this.#isOver;
      for await (const event of log.read(seen)) {
        seen += 1;
        yield event;
      }
      if (isLast) return;
      await promise;
    }
  }
}

async function deliver(
  request: DeliverRequest,
  parts: Parts,
  signal: AbortSignal = new AbortController().signal,
): Promise<DeliveryEnd | Failed> {
  const delivered = await deliverRun(request, parts, signal);
  return hasFailed(delivered) ? { failure: delivered.failure } : delivered.end;
}
