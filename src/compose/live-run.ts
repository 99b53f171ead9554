/** How does a run go on in this process? The engine over the run's world, with its lock held. */
import { GitBaseBranch } from "../adapters/base-branches/git.ts";
import { systemClock } from "../adapters/clocks/system.ts";
import { syncRefs } from "../adapters/git/sync-refs.ts";
import { holdBase, letGo } from "../adapters/repositories/held.ts";
import { createTarget } from "../adapters/repositories/locate.ts";
import { refOf } from "../adapters/repositories/names.ts";
import { noteRepository } from "../adapters/runs/moved.ts";
import type { Config } from "../config/schema.ts";
import { toPolicy } from "../config/to-policy.ts";
import { targetBranchOf } from "../core/brief.ts";
import { isPaid } from "../core/budget.ts";
import type { Command } from "../core/event.ts";
import { type Failure, failure, messageOf } from "../core/failure.ts";
import { jobId } from "../core/job.ts";
import { redactFields } from "../core/redact.ts";
import { Drive, type Watch } from "../engine/drive.ts";
import type { EngineEnd } from "../engine/engine.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { Heard, Mailbox, Said } from "../ports/mailbox.ts";
import { type Failed, hasFailed } from "../ports/repository.ts";
import type { RunHome } from "../ports/runs.ts";
import type { GivenAgents } from "./agents.ts";
import { knownFlaky, noteFlaky } from "./flaky-history.ts";
import { emptyLog, folderGone, goneFolder, lostLog } from "./lost-home.ts";
import { type Environment, isEmpty, mailboxOf, type Project } from "./project.ts";
import { restoreRun } from "./restore-run.ts";
import { collectLeftovers, filterProblem, giveBackAll, openWorld, shelfOf, type World } from "./world.ts";

export type RunOptions = {
  readonly config: Config;
  readonly env: Environment;
  readonly watch: Watch;
  readonly agents?: GivenAgents;
  /** Hears of each workspace that could not be given back at the end, and why. */
  readonly onLeft?: (what: string) => void;
  /** Hears of each thing that was gone or broken, and that was put right before the run went on. */
  readonly onRestored?: (what: string) => void;
  /** Hears that an agent begins to wait until it may call its model. */
  readonly onWait?: () => void;
  /** Stands between the engine and the log, for who wants to see or delay what is written. */
  readonly around?: (log: EventLog) => EventLog;
};

/** A run that is going on in this process. */
export type LiveRun = {
  readonly run: string;
  /** Once the engine has ended, nothing of the run is left running, and the run's lock is free. */
  readonly ended: Promise<EngineEnd>;
  /** Resolves once it is in the log; never, if the engine ends before. */
  readonly say: (command: Said) => Promise<Heard>;
  /** Resolves once what was said while nobody drove the run is in the log; never, if the engine ends before. */
  readonly caughtUp: Promise<void>;
  /** An agent is in the middle of something, and does not only wait until it may call its model. */
  readonly isAtWork: () => boolean;
  readonly stopGently: () => void;
  readonly stopNow: () => void;
};

/** Starts a new run, or goes on with one that was stopped or killed: there is no difference. */
export async function startRun(
  project: Project,
  home: RunHome,
  options: RunOptions,
  signal: AbortSignal,
): Promise<LiveRun | Failed> {
  const { config } = options;
  const lock = await home.lock();
  if (hasFailed(lock)) return lock;
  const world = openWorld(project, home, options);
  const ready = await prepare(project, home, options, world, signal).catch(asFailed);
  if (hasFailed(ready)) {
    await world.close();
    await lock.release();
    return ready;
  }
  const { log } = home;
  const policy = toPolicy(config);
  const parts = { log: options.around?.(log) ?? log, queue: world.queue, clock: systemClock(), policy };
  const flaky = noteFlaky(project, home.record.run);
  const drive = new Drive(parts, (event, state) => {
    options.watch(event, state);
    world.channel.follow(event);
    flaky.watch(event, state);
  });
  world.channel.connect(drive, () => options.onWait?.());
  const over = new AbortController();
  const running = drive.run(ready.first, true);
  void folderGone(home, over.signal).then(() => drive.stopNow());
  const { redact } = world.jobs;
  const listening = drive.listen(blotted(mailboxOf(home), redact), over.signal);
  const { base, baseBranch: branch } = home.record;
  const { gitDir } = project.located;
  const following =
    branch === undefined
      ? undefined
      : drive.followBase(new GitBaseBranch({ gitDir, branch }), base, over.signal).catch(() => {}); // It goes on without.
  const ended = running
    .catch((error: unknown): EngineEnd => ({ is: "lost", ...asFailed(error) }))
    .then(async (end) => {
      over.abort();
      await listening;
      await following;
      await flaky.noted();
      await world.queue.close();
      await world.settle();
      const gone = goneFolder(home, config.branchPrefix);
      if (gone) return { is: "lost" as const, failure: gone };
      if (end.is === "closed") {
        // What is left is found by `tidyRun`.
        const left = await giveBackAll(world).catch((error: unknown) => [messageOf(error)]);
        for (const what of left) options.onLeft?.(what);
        if (left.length === 0) await letGoOf(project, home, config); // Else `tidyRun` does it, at the next `skein resume` of the run.
      }
      return end;
    })
    .finally(async () => {
      await world.close();
      await lock.release();
    });
  return {
    run: home.record.run,
    ended,
    say: (command) => drive.say(redactFields(command, redact)),
    caughtUp: drive.caughtUp,
    isAtWork: () =>
      [...drive.state.running.values()].some(
        ({ job }) => isPaid(job) && !world.channel.isWaiting(jobId(job)),
      ),
    stopGently: () => drive.stopGently(GENTLE_STOP_MS),
    stopNow: () => drive.stopNow(),
  };
}

/** What people say goes into the log, and to agents. */
const blotted = (mailbox: Mailbox, redact: (text: string) => string): Mailbox => ({
  send: (command) => mailbox.send(command),
  async *receive(signal, onCaughtUp) {
    for await (const letter of mailbox.receive(signal, onCaughtUp))
      yield { ...letter, command: redactFields(letter.command, redact) };
  },
});

/** What holds the objects of a closed run is removed; first what somebody has removed of them is put back. */
export async function letGoOf(
  project: Project,
  home: RunHome,
  { branchPrefix }: Config,
): Promise<Failed | undefined> {
  const { run } = home.record;
  const shelf = shelfOf(project, home);
  try {
    await shelf.putBack();
    const held = await letGo(project.located.top, run, { target: targetBranchOf(run, branchPrefix) });
    if (!held) await shelf.clear();
    return held;
  } catch (error) {
    return asFailed(error); // A disk that is full or gone: what is held stays, which harms nothing.
  }
}

/** A defect, or a disk that fails where nobody expects it: the run can be resumed. */
export const asFailed = (error: unknown): Failed => ({
  failure: failure(
    "repository",
    `the run broke: ${messageOf(error)}`,
    "resume it; if it happens again, report it",
  ),
});

/** After a run was closed by an engine that died right then: nothing of it is left running or on the disk. */
export async function tidyRun(
  project: Project,
  home: RunHome,
  options: Pick<RunOptions, "config" | "env">,
): Promise<void> {
  const lock = await home.lock();
  if (hasFailed(lock)) return; // Somebody is at it.
  const world = openWorld(project, home, options);
  try {
    await collectLeftovers(world, new AbortController().signal);
    const left = await giveBackAll(world);
    if (left.length === 0) await letGoOf(project, home, options.config);
  } finally {
    await world.close();
    await lock.release();
  }
}

/** What a landing that is nearly through is worth waiting for, with a person at the keyboard. */
const GENTLE_STOP_MS = 10_000;

/** Cleans up after an engine that was killed, and says what the engine is to be told first. */
async function prepare(
  project: Project,
  home: RunHome,
  options: RunOptions,
  world: World,
  signal: AbortSignal,
): Promise<{ readonly first: Command } | Failed> {
  const { config } = options;
  const { run, goal, base } = home.record;
  const problem =
    world.problem ?? (await world.unready()) ?? (await filterProblem(project, config, base, signal));
  if (problem) return { failure: problem };
  const isNew = await isEmpty(home.log);
  const unready = isNew
    ? ((await lostLog(home, config.branchPrefix)) ?? (await makeTarget(project, home, config, signal)))
    : await restored(project, home, options, signal);
  if (unready) return { failure: unready };
  const unheld = await holdBase(project.located.top, run, base);
  if (unheld) return unheld;
  await noteRepository(project.stateFolder, project.located.gitDir);
  if (!isNew) {
    await collectLeftovers(world, signal);
    if (signal.aborted) return { failure: failure("interrupted", "stopped before the run went on") };
    return { first: { type: "resume" } };
  }
  const flaky = await knownFlaky(project);
  const known = flaky.length === 0 ? {} : { flaky };
  return { first: { type: "open", request: { run, goal, base, ...known } } };
}

async function makeTarget(
  { located: { top, gitDir } }: Project,
  home: RunHome,
  { branchPrefix }: Config,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const { run, base } = home.record;
  const branch = targetBranchOf(run, branchPrefix);
  const made = await createTarget(top, branch, base, signal);
  if (hasFailed(made)) return made.failure;
  if (made.is === "elsewhere") return emptyLog(home, branchPrefix);
  await syncRefs(gitDir, [refOf(branch)]);
  return undefined;
}

async function restored(
  project: Project,
  home: RunHome,
  { config, onRestored }: RunOptions,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const said = await restoreRun(project, home, config, signal);
  if (hasFailed(said)) return said.failure;
  for (const what of said) onRestored?.(what);
  return undefined;
}
