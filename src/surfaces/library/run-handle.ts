/** What can a program do with a run that goes on in it? See its events, look at it, tell it something, wait for it. */
import { type DeliveryEnd, deliverRun, type LiveRun, type Project } from "../../compose.ts";
import type { Config } from "../../config/index.ts";
import { targetBranchOf } from "../../core/brief.ts";
import type { Event } from "../../core/event.ts";
import { failure, messageOf } from "../../core/failure.ts";
import { givenUpOf } from "../../core/given-up.ts";
import { refusedAccounts } from "../../core/governor.ts";
import type { TaskId } from "../../core/task.ts";
import { findTask, nothingSeen, type RunView, rowsOf, type Seen, see, viewOf } from "../../core/view.ts";
import type { EngineEnd } from "../../engine/engine.ts";
import { printsAs } from "../../graph/task-printing.ts";
import type { EventLog } from "../../ports/event-log.ts";
import type { Heard, Said } from "../../ports/mailbox.ts";
import type { Failed } from "../../ports/repository.ts";
import type { RunHome } from "../../ports/runs.ts";
import type { DeliverOptions, RunEnded, RunHandle } from "./types.ts";

type OfTask = Extract<Said, { readonly task?: TaskId }> & { readonly type: "approve" | "decline" | "cancel" };

type Parts = {
  readonly project: Project;
  readonly home: RunHome;
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly live: LiveRun;
  readonly feed: Feed;
};

export function handleOf(parts: Parts): RunHandle {
  const { home, config, live, feed } = parts;
  const { run } = home.record;
  void feed.standsStill.then(live.stopGently); // Only a person can help, and a program would wait for ever.
  const ended = live.ended.then(endOf, asLost).finally(() => feed.end());
  const tooLate = ended.then(() => refused(`run ${run} has ended`));
  const say = (command: Said) => Promise.race([live.say(command), tooLate]);
  const sayOf = async (command: OfTask, task?: string): Promise<Heard> => {
    if (task === undefined) return say(command);
    const found = findTask(feed.seen.state, String(task));
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
  const target = targetBranchOf(run, config.branchPrefix);
  const handle: RunHandle = {
    run,
    target,
    events: { [Symbol.asyncIterator]: () => feed.events() },
    ended,
    view: () => printableView(feed.seen),
    tasks: () => rowsOf(feed.seen.state),
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
    deliver: (options = {}) => deliver(parts, options),
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
  return printsAs(handle, () => {
    const { is, counts, undone } = viewOf(feed.seen);
    return { run, target, goal: home.record.goal, is, counts, undone };
  });
}

/** Printed to its depth: what a person looks for first, such as why an attempt failed, lies there. */
export function printableView(seen: Seen): RunView {
  const view = viewOf(seen);
  return printsAs({ ...view }, () => view);
}

const refused = (reason: string): Heard => ({ is: "refused", reason });

const notOne = (said: string, several: readonly { readonly name: string }[]) =>
  several.length === 0
    ? `there is no task ${JSON.stringify(said)}`
    : `several tasks are called ${JSON.stringify(said)}: ${several.map(({ name }) => name).join(", ")}`;

function endOf(end: EngineEnd): RunEnded {
  if (end.is === "lost") return end;
  const { closed } = end.state;
  const givenUp = givenUpOf(end.state);
  if (closed) return { is: "closed", ...closed, ...(givenUp.length > 0 && { givenUp }) };
  const [refusedKey] = refusedAccounts(end.state);
  const why = end.state.setup.failure ?? refusedKey?.failure;
  return { is: "stopped", ...(why && { failure: why }) };
}

/** Its engine had ended; what came after it broke. */
const asLost = (error: unknown): RunEnded => ({
  is: "lost",
  failure: failure("repository", `the run broke at its end: ${messageOf(error)}`, "resume it"),
});

/** The run's events, as the log has them: nothing is kept in memory but what there is to see. */
export class Feed {
  readonly seen = nothingSeen();
  readonly #log: EventLog;
  #more = Promise.withResolvers<void>();
  readonly #standsStill = Promise.withResolvers<void>();
  #isOver = false;

  constructor(log: EventLog) {
    this.#log = log;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** By this engine's own call: what an earlier one met is tried again. */
  get standsStill(): Promise<void> {
    return this.#standsStill.promise;
  }

  /** Sees what the engine reads when it starts, and what it writes once that is durable. */
  readonly around = (log: EventLog): EventLog => {
    const take = (event: Event) => this.#take(event);
    return {
      read: async function* (after) {
        for await (const event of log.read(after)) {
          take(event);
          yield event;
        }
      },
      append: async (after, events) => {
        const appended = await log.append(after, events);
        if (appended.is !== "done") return appended;
        for (const event of events) take(event);
        if (events.some(({ type }) => type === "account.refused" || type === "setup.failed"))
          this.#standsStill.resolve();
        return appended;
      },
    };
  };

  end(): void {
    this.#isOver = true;
    this.#more.resolve();
  }

  async *events(): AsyncGenerator<Event> {
    for (let seen = 0; ; ) {
      const { promise } = this.#more; // Before reading: what is added meanwhile is read in the next round.
      const isLast = this.#isOver;
      for await (const event of this.#log.read(seen)) {
        seen += 1;
        yield event;
      }
      if (isLast) return;
      await promise;
    }
  }

  #take(event: Event): void {
    see(this.seen, event);
    const { resolve } = this.#more;
    this.#more = Promise.withResolvers();
    resolve();
  }
}

async function deliver(
  { project, home, config, env, feed }: Parts,
  options: DeliverOptions,
): Promise<DeliveryEnd | Failed> {
  const { branch: baseBranch = home.record.baseBranch, intoCheckout = false, partial = false } = options;
  const why = undeliverable(feed, partial);
  if (why) return cannot(home, ...why);
  if (baseBranch === undefined) return cannot(home, "it did not start from a branch", "name one: { branch }");
  const signal = options.signal ?? new AbortController().signal;
  try {
    return await deliverRun(project, home, { config, env, baseBranch, intoCheckout }, signal);
  } catch (error) {
    return cannot(home, messageOf(error), "try again, or report it");
  }
}

const cannot = ({ record }: RunHome, why: string, next: string): Failed => ({
  failure: failure("repository", `run ${record.run} cannot be delivered: ${why}`, next),
});

function undeliverable({ isOver, seen }: Feed, partial: boolean): [why: string, next: string] | undefined {
  if (!isOver) return ["it is going on", "wait for `ended`"];
  const { is, landings, target } = viewOf(seen);
  if (landings.length === 0) return ["nothing has landed", "see view().undone"];
  if (target.health === "red" || target.health === "suspect") return ["its target is red", "see view().left"];
  return is === "done" || partial
    ? undefined
    : [`it is ${is}, not done`, "{ partial: true } brings what landed"];
}
