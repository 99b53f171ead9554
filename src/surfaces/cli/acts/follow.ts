/** Shows a run that this process drives: its events, what signals do to it, and how it ended. */

import type { LiveRun, RunEnding, RunListeners } from "../../../app/follow-run.ts";
import type { Parts } from "../../../app/parts.ts";
import type { Refused } from "../../../app/refused.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import { type Config, toPolicy } from "../../../config/index.ts";
import type { Failure } from "../../../core/failure.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Budget } from "../../../core/view/budget-left.ts";
import { type RunView, viewOf } from "../../../core/view/view.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { sayEnd } from "../commands/report.ts";
import { type Context, refuse, say } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";
import { startProgress } from "../render/progress.ts";
import { stoppedText } from "../render/report.ts";
import { askingOfBase } from "./ask-base.ts";
import { sayHalt } from "./halt-text.ts";
import { heedSignals } from "./signals.ts";

/** `view` and `run` are set only for a run that closed. */
export type Followed = {
  readonly exit: ExitCode;
  readonly view?: RunView;
  readonly run?: SeenRun;
  readonly config?: Config;
};

type Follow = {
  readonly parts: Parts;
  readonly config: Pick<Config, "planner">;
  /** Returns undefined if there was nothing to start. */
  readonly start: (listeners: RunListeners, signal: AbortSignal) => Promise<Started | Refused | undefined>;
};

type Started = LiveRun & { readonly home: RunHome; readonly config: Config };

/** Starts a run and shows it until it ends. */
export async function follow(context: Context, { parts, config, start }: Follow): Promise<Followed> {
  context.out.outlive?.();
  context.err.outlive?.();
  const progress = startProgress(context, { hasPlanner: config.planner !== "none" });
  const signals = heedSignals(progress.say);
  const asking = askingOfBase(context, progress.say);
  try {
    const listeners: RunListeners = {
      onFold: progress.fold,
      watch: (event, state) => {
        progress.watch(event, state);
        asking.watch(event);
      },
      onLeft: (what) => progress.say(`a workspace could not be cleaned up: ${what}`),
      onWarning: progress.say,
      onRestored: (what) => progress.say(`restored: ${what}`),
    };
    const live = await start(listeners, signals.aborted);
    if (live === undefined) return { exit: EXIT.done };
    if (hasFailed(live)) {
      progress.end();
      return { exit: sayRefused(context, live) };
    }
    progress.show(toPolicy(live.config));
    signals.heard(live);
    asking.live(live);
    const end = await live.ended;
    progress.end();
    return await sayEnding(context, { parts, live, end });
  } finally {
    progress.end();
    signals.end();
    await asking.end();
  }
}

type Ended = { readonly parts: Parts; readonly live: Started; readonly end: RunEnding };

async function sayEnding(context: Context, { parts, live, end }: Ended): Promise<Followed> {
  const { home, config } = live;
  if (end.is === "lost") return { exit: refuse(context, lostCode(end.failure), end.failure) };
  const view = viewOf(live.seen);
  if (end.is === "stopped")
    return { exit: end.halt ? sayHalt(context, end.halt, view, config) : sayStopped(context, view) };
  return sayClosed(context, { parts, home, config, seen: live.seen });
}

type Closed = SeenRun & { readonly parts: Parts; readonly config: Config };

export async function sayClosed(context: Context, { parts, home, seen, config }: Closed): Promise<Followed> {
  const view = viewOf(seen);
  await sayEnd(context, parts.project, home, { view, budget: runBudget(config) });
  return { exit: view.is === "done" ? EXIT.done : EXIT.notAllDone, view, config, run: { home, seen } };
}

/** The budget may have been changed since it was recorded. */
export const runBudget = ({ budget: { tokens, dollars } }: Config): Budget => ({
  ...(tokens !== undefined && { tokens }),
  ...(dollars !== undefined && { dollars }),
});

/** With JSON this is an error object, because the events do not contain an end of the run. */
function sayStopped(context: Context, view: RunView): ExitCode {
  const next = `skein resume ${view.run}`;
  if (context.json)
    return refuse(context, EXIT.interrupted, { kind: "interrupted", message: stoppedText(view), next });
  say(context, `${stoppedText(view)} To continue: ${next}`);
  return EXIT.interrupted;
}

/** A damaged or newer log, a read-only disk or an invalid policy: retrying cannot help. */
const lostCode = ({ kind }: Failure): ExitCode =>
  kind === "policy" || kind === "log" ? EXIT.configuration : EXIT.notAllDone;
