/** Drives a run in this process: its engine over the run's world, with the lock held, until it ends or halts. */
import type { Config } from "../config/schema.ts";
import { type Failure, failure, messageOf } from "../core/failure.ts";
import { jobId } from "../core/job.ts";
import type { Command, Event } from "../core/log/event.ts";
import type { RunState } from "../core/log/state.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { isPaid } from "../core/rules/budget.ts";
import { Drive, type Watch } from "../engine/drive.ts";
import type { EngineEnd } from "../engine/engine.ts";
import { Fold } from "../engine/fold.ts";
import { asksOnly } from "../planning/asks-only.ts";
import type { Heard, Mailbox, MailboxMessage } from "../ports/mailbox.ts";
import type { RunHome, RunLock } from "../ports/runs.ts";
import { fields } from "../text/json.ts";
import { redactFields } from "../text/redact.ts";
import { knownFlaky, noteFlaky } from "./flaky-history.ts";
import { type Halt, Halting } from "./halt.ts";
import { collectLeftovers, giveBackAll } from "./leftovers.ts";
import { folderIsLost, logIsLost } from "./lost-run.ts";
import type { GivenAgents, Parts, RunWorld } from "./parts.ts";
import { type Refused, refused } from "./refused.ts";

type FollowRequest = RunListeners & {
  readonly home: RunHome;
  readonly config: Config;
  readonly agents?: GivenAgents;
  /** What the caller has read of the log. */
  readonly fold?: Fold;
};

export type RunListeners = {
  /** Called for each event with the state right after it, before it is durable, for texts that need that state. */
  readonly onFold?: (event: Event, state: RunState) => void;
  /** Called for each event once it is durable. */
  readonly watch?: Watch;
  /** Called for each workspace that could not be given back at the end, with the reason. */
  readonly onLeft?: (what: string) => void;
  /** Called for something that does not work beside the run, which goes on. */
  readonly onWarning?: (what: string) => void;
  /** Called for each thing that was lost or broken, and was restored before the run went on. */
  readonly onRestored?: (what: string) => void;
};

/** A run that is going on in this process. */
export type LiveRun = {
  readonly run: string;
  /** The run's state and story; changes in place. */
  readonly seen: Fold;
  /** Resolves when the engine has ended, nothing of the run is running, and the run's lock is free. Never rejects. */
  readonly ended: Promise<RunEnding>;
  /** Resolves once the command is in the log; never, if the engine ends before. */
  readonly say: (command: MailboxMessage) => Promise<Heard>;
  readonly stopGently: () => void;
  readonly stopNow: () => void;
};

/** `halt`: why the run stopped by itself. */
export type RunEnding = EngineEnd & { readonly halt?: Halt };

export type FollowParts = Pick<Parts, "openWorld" | "mailboxOf" | "flaky" | "traces">;

/** Starts a new run, or resumes one that was stopped or killed, in the same way. */
export async function followRun(
  request: FollowRequest,
  parts: FollowParts,
  signal: AbortSignal,
): Promise<LiveRun | Refused> {
  const { home, config, agents, fold = new Fold() } = request;
  const lock = await home.lock();
  if (hasFailed(lock)) return refused(await whoseMatter(home), lock.failure);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => lock.release());
  const world = parts.openWorld(home, { config, ...(agents && { agents: withPlanner(agents, config) }) });
  stack.defer(() => world.close());
  const first = await prepare({ ...request, fold }, world, parts, signal).catch(asFailed);
  if (signal.aborted)
    return refused("stopped", failure("interrupted", "stopped before anything was started"));
  if (hasFailed(first)) return refused("repository", await orFullDisk(first.failure, world));
  return drive({ ...request, fold, first, lock, stack: stack.move() }, world, parts);
}

/** A worker function without any planner gets the whole goal, because it does not plan. */
const withPlanner = (agents: GivenAgents, { planner }: Config): GivenAgents =>
  agents.worker && !agents.planner && planner === undefined ? { ...agents, planner: "none" } : agents;

/** "run": another process holds the lock. "repository": the lock cannot be taken at all. */
async function whoseMatter(home: RunHome): Promise<"run" | "repository"> {
  return (await home.owner().catch(() => undefined)) === undefined ? "repository" : "run";
}

/** A defect, or a disk that fails unexpectedly: the run can be resumed. */
export const asFailed = (error: unknown): Failed => ({
  failure: failure(
    "repository",
    `the run broke: ${messageOf(error)}`,
    "resume it; if it happens again, report it",
  ),
});

/** Cleans up after a killed engine. Returns the engine's first command. */
async function prepare(
  { home, fold, onRestored }: FollowRequest & { readonly fold: Fold },
  world: RunWorld,
  { flaky }: FollowParts,
  signal: AbortSignal,
): Promise<Command | Failed> {
  const { place } = world;
  const { run, goal, base } = home.record;
  const problem = await place.unready(signal);
  if (problem) return { failure: problem };
  const unreadable = await fold.catchUp(home.log);
  if (unreadable) return unreadable;
  const isNew = fold.events === 0;
  const unready = isNew
    ? await makeTarget(home, world, signal)
    : await restore(fold.state, world, onRestored, signal);
  if (unready) return { failure: unready };
  const unheld = await place.hold();
  if (unheld) return unheld;
  if (!isNew) {
    await collectLeftovers(world, signal);
    return { type: "resume" };
  }
  const known = await knownFlaky(flaky);
  const isAsked = home.record.plan === undefined ? asksOnly(goal) : onlyReports(home.record.plan);
  const request = {
    ...{ run, goal, base },
    ...(known.length > 0 && { flaky: known }),
    ...(isAsked && { delivers: "report" as const }),
  };
  return { type: "open", request };
}

/** A recorded plan is plain JSON; errors in it are reported where it is read to be followed. */
function onlyReports(plan: unknown): boolean {
  const { tasks } = fields(plan);
  return (
    Array.isArray(tasks) && tasks.length > 0 && tasks.every((task) => fields(task)["delivers"] === "report")
  );
}

async function makeTarget(
  home: RunHome,
  { place }: RunWorld,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  if (await home.hasJobs()) return logIsLost(home);
  const made = await place.makeTarget(signal);
  if (made === "made") return undefined;
  return made === "elsewhere" ? logIsLost(home) : made.failure;
}

async function restore(
  state: RunState,
  { place }: RunWorld,
  onRestored: RunListeners["onRestored"],
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const restored = await place.restore(state, signal);
  if (hasFailed(restored)) return restored.failure;
  for (const what of restored) onRestored?.(what);
  return undefined;
}

/** How long to wait for a landing that is nearly done, in ms, while a person is waiting for the stop. */
const GENTLE_STOP_MS = 10_000;

type Prepared = FollowRequest & {
  readonly fold: Fold;
  readonly first: Command;
  readonly lock: RunLock;
  readonly stack: AsyncDisposableStack;
};

function drive(request: Prepared, world: RunWorld, parts: FollowParts): LiveRun {
  const { home, config, fold, first } = request;
  const { engine, channel } = world;
  const flaky = noteFlaky(parts.flaky, home.record.run);
  const onFold: RunListeners["onFold"] = (event, state) => {
    channel.follow(event); // Together with the state, or a job's cost would count twice for a moment.
    request.onFold?.(event, state);
  };
  const live = new Drive(
    { ...engine, log: home.log, onFold },
    (event, state) => {
      channel.kept(event);
      request.watch?.(event, state);
      flaky.watch(event, state);
      halting.watched();
    },
    fold,
  );
  const stopGently = () => live.stopGently(GENTLE_STOP_MS);
  const isAtWork = () =>
    [...fold.state.running.values()].some(({ job }) => isPaid(job) && !channel.isWaiting(jobId(job)));
  const halting = new Halting(
    { state: fold.state, isAtWork, stopGently },
    { policy: engine.policy, maxWaitMs: config.quota.wait, now: () => engine.clock.wall() },
  );
  channel.connect(live, () => halting.look());
  void world.notice?.().then((what) => what !== undefined && request.onWarning?.(what));
  const traces = parts.traces.follow(home, fold.events, (what) => request.onWarning?.(what));
  const running = live.run(first, true);
  const over = new AbortController();
  const { redact } = world.jobs;
  const beside = [
    live.listen(withoutSecrets(parts.mailboxOf(home), redact), over.signal),
    followBase(live, home, world, over.signal),
  ];
  void live.caughtUp.then(() => halting.heard());
  void world.place.gone(over.signal).then(() => live.stopNow());
  let lost: Failed | undefined;
  void request.lock.lost.then((failed) => {
    lost = failed;
    live.stopNow();
  });
  const ended = running
    .then((end): EngineEnd => (lost && end.is === "stopped" ? { is: "lost", ...lost } : end))
    .catch((error: unknown): EngineEnd => ({ is: "lost", ...asFailed(error) }))
    .then(async (end): Promise<RunEnding> => {
      over.abort();
      await Promise.all([...beside, flaky.noted()]);
      const last = await finish(end, request, world);
      return halting.halt && last.is === "stopped" ? { ...last, halt: halting.halt } : last;
    })
    .finally(() => request.stack.disposeAsync())
    .catch((error: unknown): RunEnding => ({ is: "lost", ...asFailed(error) }))
    .finally(() => traces?.end());
  return {
    run: home.record.run,
    seen: fold,
    ended,
    say: (command) => live.say(redactFields(command, redact)),
    stopGently,
    stopNow: () => live.stopNow(),
  };
}

async function followBase(
  live: Drive,
  { record: { base } }: RunHome,
  { baseBranch }: RunWorld,
  signal: AbortSignal,
): Promise<void> {
  if (baseBranch) await live.followBase(baseBranch, base, signal).catch(() => {}); // The run goes on without it.
}

/** What people say goes into the log, and to agents, so secrets are removed. */
const withoutSecrets = (mailbox: Mailbox, redact: (text: string) => string): Mailbox => ({
  send: (command) => mailbox.send(command),
  async *receive(signal, onCaughtUp) {
    for await (const letter of mailbox.receive(signal, onCaughtUp))
      yield { ...letter, command: redactFields(letter.command, redact) };
  },
});

/** If something is left, `tidyRun` removes it at the next `skein resume` of the run. */
async function finish(end: EngineEnd, { home, onLeft }: FollowRequest, world: RunWorld): Promise<EngineEnd> {
  await world.engine.queue.close();
  await world.settle();
  const lost = folderIsLost(home);
  if (lost) return { is: "lost", failure: lost };
  if (end.is === "lost") return { ...end, failure: await orFullDisk(end.failure, world) };
  if (end.is !== "closed") return end;
  const left = await giveBackAll(world).catch((error: unknown) => [messageOf(error)]);
  for (const what of left) onLeft?.(what);
  if (left.length === 0) await world.place.letGo(end.state); // If it fails, held objects stay: no harm.
  return end;
}

/** If the disk is full, usually a worker's files are the largest part, so the message says where they are. */
async function orFullDisk(why: Failure, { workspaces }: RunWorld): Promise<Failure> {
  const space = await workspaces.space().catch(() => undefined); // The folder is gone, which is the reason then.
  if (why.kind !== "repository" || space === undefined || space.freeBytes >= FULL_BYTES) return why;
  const { folder, bytes } = space.largest ?? { folder: "", bytes: 0 };
  const where =
    bytes > space.freeBytes ? `; ${Math.ceil(bytes / 1e6)} MB are in the workspace ${folder}` : "";
  return failure(
    why.kind,
    `the disk is full${where} (${why.message})`,
    "remove what is large and not needed there, or elsewhere on that disk, then `skein resume`: what stays in a workspace is kept",
  );
}

/** With less free space, neither the log nor a commit can be written. */
const FULL_BYTES = 256 * 1024;

/** Cleans up a run whose engine died right after closing it: ends its programs and removes its files. */
export async function tidyRun(
  { home, config, state }: Pick<FollowRequest, "home" | "config"> & { readonly state: RunState },
  { openWorld }: Pick<Parts, "openWorld">,
  signal: AbortSignal,
): Promise<void> {
  const lock = await home.lock();
  if (hasFailed(lock)) return; // Another process is doing it.
  await using stack = new AsyncDisposableStack();
  stack.defer(() => lock.release());
  const world = openWorld(home, { config });
  stack.defer(() => world.close());
  await collectLeftovers(world, signal);
  if ((await giveBackAll(world)).length === 0) await world.place.letGo(state);
}
