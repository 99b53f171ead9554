/** How does a run go on in this process? Started, shown, stopped kindly, and reported: the one way for every verb. */
import { type LiveRun, type Project, startRun } from "../../../compose.ts";
import { type Config, toPolicy } from "../../../config/index.ts";
import type { Failure } from "../../../core/failure.ts";
import type { Policy } from "../../../core/policy.ts";
import type { RunState } from "../../../core/state.ts";
import { type RunView, viewOf } from "../../../core/view.ts";
import type { Watch } from "../../../engine/drive.ts";
import type { EngineEnd } from "../../../engine/engine.ts";
import { hasFailed } from "../../../ports/repository.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { type Context, refuse, say } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { startProgress } from "../progress.ts";
import { stoppedText } from "../report.ts";
import { type Halt, haltOf, sayHalt } from "./halt.ts";
import { hasExit, seeRun } from "./project.ts";
import { sayEnd } from "./report.ts";
import { heedSignals } from "./signals.ts";

/** `view` is of a run that closed. `isRefused`: it was not even started, and said why. */
export type Driven = { readonly exit: ExitCode; readonly view?: RunView; readonly isRefused?: true };

export async function driveRun(
  context: Context,
  project: Project,
  home: RunHome,
  config: Config,
): Promise<Driven> {
  context.out.outlive?.();
  context.err.outlive?.();
  const policy = toPolicy(config);
  const progress = startProgress(context, { policy, hasPlanner: config.planner !== "none" });
  const signals = heedSignals(progress.say, home.record.run);
  const halting = haltsOf(context, config, policy);
  try {
    const { env } = context;
    const onLeft = (what: string) => progress.say(`a workspace could not be given back: ${what}`);
    const onRestored = (what: string) => progress.say(`restored: ${what}`);
    const watch: Watch = (event, state) => {
      progress.watch(event, state);
      halting.watch(state);
    };
    const options = { config, env, watch, onLeft, onRestored, onWait: halting.look };
    const live = await startRun(project, home, options, signals.aborted);
    if (hasFailed(live)) {
      progress.end();
      return await notStarted(context, home, live.failure, signals.aborted.aborted);
    }
    signals.heard(live);
    // First it hears what was said meanwhile: one that waits for a quota can be given up.
    void live.caughtUp.then(() => halting.stops(live));
    const end = await live.ended;
    progress.end();
    const halt = halting.halt();
    return await ended(context, project, { home, config, end, ...(halt === undefined ? {} : { halt }) });
  } finally {
    halting.end();
    progress.end();
    signals.end();
  }
}

type Stoppable = Pick<LiveRun, "isAtWork" | "stopGently">;

/** Looks once what was decided together is all there: between two events of one decision a run may seem to stand still. */
function haltsOf({ now }: Context, config: Config, policy: Policy) {
  const maxWaitMs = config.quota.wait;
  let halt: Halt | undefined;
  let soon: NodeJS.Immediate | undefined;
  let seen: RunState | undefined;
  let live: Stoppable | undefined;
  let isOver = false;
  const look = () => {
    soon = undefined;
    if (!seen || !live || halt) return;
    const found = haltOf(seen, { policy, maxWaitMs, now: now() });
    // Whoever is in the middle of something comes to where it waits: what was paid for is not cut off.
    if (!found || (found.is === "parked" && live.isAtWork())) return;
    halt = found;
    live.stopGently();
  };
  const lookSoon = () => {
    if (!isOver) soon ??= setImmediate(look);
  };
  return {
    watch: (state: RunState) => {
      seen = state;
      lookSoon();
    },
    /** It may stand still before it is known how to stop it. */
    stops: (run: Stoppable) => {
      live = run;
      lookSoon();
    },
    look: lookSoon,
    halt: () => halt,
    end: () => {
      isOver = true;
      clearImmediate(soon);
    },
  };
}

/** Another process has the run: nothing is wrong with the repository. */
async function notStarted(
  context: Context,
  home: RunHome,
  why: Failure,
  isStopped: boolean,
): Promise<Driven> {
  if (isStopped) {
    const { run } = home.record;
    const stopped = {
      kind: "interrupted",
      message: "stopped before anything was started",
      next: `skein resume ${run}`,
    };
    return { exit: refuse(context, EXIT.interrupted, stopped) };
  }
  const owner = await home.owner().catch(() => undefined);
  return {
    exit: refuse(context, owner === undefined ? EXIT.configuration : EXIT.notAllDone, why),
    isRefused: true,
  };
}

type Ended = {
  readonly home: RunHome;
  readonly config: Config;
  readonly end: EngineEnd;
  /** Why it was stopped, if not by a person. */
  readonly halt?: Halt;
};

async function ended(context: Context, project: Project, how: Ended): Promise<Driven> {
  const { home, config, end, halt } = how;
  if (end.is === "lost") return { exit: refuse(context, lostCode(end.failure), end.failure) };
  const seen = await seeRun(context, home);
  if (hasExit(seen)) return seen;
  const view = viewOf(seen);
  if (end.is === "stopped") {
    return { exit: halt ? sayHalt(context, halt, view, config) : sayStopped(context, view) };
  }
  const { tokens, dollars } = config.budget; // Which may have been changed since it was recorded.
  const budget = { ...(tokens !== undefined && { tokens }), ...(dollars !== undefined && { dollars }) };
  await sayEnd(context, project, home, { view, budget });
  return { exit: view.is === "done" ? EXIT.done : EXIT.notAllDone, view };
}

/** With JSON it is an error like any other: whoever reads the events sees no end of the run among them. */
function sayStopped(context: Context, view: RunView): ExitCode {
  const next = `skein resume ${view.run}`;
  if (context.json)
    return refuse(context, EXIT.interrupted, { kind: "interrupted", message: stoppedText(view), next });
  say(context, `${stoppedText(view)} To go on: ${next}`);
  return EXIT.interrupted;
}

/** A log that is damaged, newer, or on a read-only disk, and a policy that makes no sense: the same again cannot help. */
const lostCode = ({ kind, message }: Failure): ExitCode =>
  kind === "policy" || /^the log cannot be read| cannot be written: it may only be read/.test(message)
    ? EXIT.configuration
    : EXIT.notAllDone;
