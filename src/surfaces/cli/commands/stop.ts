/** `skein stop`: asks the process that drives a run to stop, and waits for it. */
import { existsSync, watch } from "node:fs";
import { runToStop } from "../../../app/which-run.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Owner, RunHome } from "../../../ports/runs.ts";
import { hasExit, openHere } from "../acts/project.ts";
import { processOf } from "../acts/run-state.ts";
import { type Act, type Context, refuse, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";
import { type AddTo, addRepo, examples, type StopOptions } from "./options.ts";

export const addStop: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Asks the process that drives a run to stop, like Ctrl-C there, and waits until it has. The landing in progress is " +
        "finished, the rest is kept; `skein resume` continues. Without a run: the only running one. If the run is not " +
        "running, says so and exits with 0.",
    )
    .option("--now", "do not wait for the landing in progress")
    .addHelpText("after", examples("skein stop", "skein stop 1115-k7qd --now"))
    .action((run: string | undefined, options: Omit<StopOptions, "run">) =>
      perform((context) => stop(context, run === undefined ? options : { ...options, run })),
    );
};

/** A landing gets ten seconds, and what is ended afterwards has to be kept. */
const MAX_WAIT_MS = 30_000;

const stop: Act<StopOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const home = await runToStop(options.run, project);
  if (home === undefined) return said(context, { stopped: false }, "no run is running in this repository");
  if (hasFailed(home)) return sayRefused(context, home);
  const { run } = home.record;
  const owner = await home.owner();
  if (!owner)
    return said(context, { run, stopped: false }, `run ${run} is not running: there is nothing to stop`);
  say(context, `asking ${processOf(owner)} to stop run ${run}`);
  const failed = await home.stop(owner, options.now === true);
  if (failed) return refuse(context, EXIT.notAllDone, failed.failure);
  if (await isGone(home, owner)) {
    const next = `To continue: skein resume ${run}`;
    return said(context, { run, stopped: true, pid: owner.pid }, `run ${run} has stopped. ${next}`);
  }
  return refuse(context, EXIT.notAllDone, {
    kind: "repository",
    message: `run ${run} was asked to stop, but ${processOf(owner)} is still running after 30 s`,
    next: options.now
      ? `kill -9 ${owner.pid}${owner.host === undefined ? "" : ` on ${owner.host}`}; nothing is lost, skein resume ${run} continues`
      : `skein stop ${run} --now`,
  });
};

function said(context: Context, value: object, text: string): ExitCode {
  if (context.json) writeJson(context, value);
  else say(context, text);
  return EXIT.done;
}

/** Looks when something changes in the run's folder, as the lock's file does; and now and then all the same. */
async function isGone(home: RunHome, owner: Owner): Promise<boolean> {
  const end = performance.now() + MAX_WAIT_MS;
  for (let left = MAX_WAIT_MS; left > 0; left = end - performance.now()) {
    const now = await home.owner();
    if (now?.pid !== owner.pid || now.since !== owner.since) return true;
    await change(home.folder, Math.min(left, LOOK_MS));
  }
  return false;
}

/** A process that was killed changes no file. */
const LOOK_MS = 250;

function change(folder: string, maxMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, maxMs);
  // A run of another machine has no folder here; then the timer is enough.
  const watcher = existsSync(folder) ? watch(folder, () => resolve()) : undefined;
  watcher?.on("error", () => resolve());
  return promise.finally(() => {
    clearTimeout(timer);
    watcher?.close();
  });
}
