/** `skein stop`: asks the process that drives a run to stop, and waits for it. */
import { stopRun } from "../../../app/stop-run.ts";
import { lockChanges } from "../../../compose/project.ts";
import { hasFailed } from "../../../core/result.ts";
import { hasExit, openHere } from "../acts/project.ts";
import { processOf } from "../acts/run-state.ts";
import { type Act, type Context, say, writeJson } from "../context.ts";
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

/** A landing gets ten seconds to finish, and the work of stopped agents has to be kept. */
const MAX_WAIT_MS = 30_000;

const stop: Act<StopOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const end = await stopRun(
    {
      run: options.run,
      isUrgent: options.now === true,
      onAsk: (run, owner) => say(context, `asking ${processOf(owner)} to stop run ${run}`),
    },
    { project, lockChanges },
    AbortSignal.timeout(MAX_WAIT_MS),
  );
  if (hasFailed(end)) return sayRefused(context, end);
  const { run } = end;
  if (end.is === "stopped")
    return said(
      context,
      { run, stopped: true, pid: end.pid },
      `run ${run} has stopped. To continue: skein resume ${run}`,
    );
  if (run === undefined) return said(context, { stopped: false }, "no run is running in this repository");
  return said(context, { run, stopped: false }, `run ${run} is not running: there is nothing to stop`);
};

function said(context: Context, value: object, text: string): ExitCode {
  if (context.json) writeJson(context, value);
  else say(context, text);
  return EXIT.done;
}
