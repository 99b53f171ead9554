/** Runs a run in a background process, and shows it on this terminal, which the person can leave. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { deliverableOf } from "../../../app/deliverable.ts";
import type { Parts } from "../../../app/parts.ts";
import type { Refused } from "../../../app/refused.ts";
import { seeRun } from "../../../app/see-run.ts";
import type { Config } from "../../../config/index.ts";
import { messageOf } from "../../../core/failure.ts";
import { hasFailed } from "../../../core/result.ts";
import { viewOf } from "../../../core/view/view.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { harmless } from "../../../text/words.ts";
import { type Context, refuse, say } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";
import { type Followed, runBudget, sayClosed } from "./follow.ts";
import { refuseInLines } from "./halt-text.ts";
import { showOnScreen } from "./on-screen.ts";
import { heedSignals } from "./signals.ts";

type Apart = {
  readonly parts: Parts;
  /** Makes all possible refusals before a process is started. */
  readonly prepare: (signal: AbortSignal) => Promise<Prepared | Refused>;
  /** Flags of `skein resume`, which the background process executes in `folder`. */
  readonly flags: readonly string[];
  readonly folder: string;
  /** Called if the process ended before the run had begun. */
  readonly onUnbegun?: (home: RunHome) => Promise<void>;
};

type Prepared = { readonly home: RunHome; readonly config: Config };

/** The file to which the background process writes messages that are not in the log. */
const SAID = "background.log";
const DETACHED = "d detach: the run continues in the background.  Ctrl-C: stop the run.";

export async function followApart(context: Context, apart: Apart): Promise<Followed> {
  context.out.outlive?.();
  context.err.outlive?.();
  let note = (text: string) => say(context, text);
  let isStopped = false;
  const signals = heedSignals((text) => {
    isStopped = true;
    note(text);
  });
  try {
    const ready = await apart.prepare(signals.aborted);
    if (hasFailed(ready)) return { exit: sayRefused(context, ready) };
    const driver = startDriver(context, { ...apart, ...ready });
    signals.heard({ run: ready.home.record.run, ...driver });
    const over = new AbortController();
    void driver.ended.then(() => over.abort());
    const shown = {
      home: ready.home,
      budget: runBudget(ready.config),
      leave: DETACHED,
      isOwn: true,
      onOpen: (show: (text: string) => void) => {
        note = show;
      },
      interrupt: () => process.kill(process.pid, "SIGINT"),
    };
    await showOnScreen(context, apart.parts.project, shown, over.signal).catch((error: unknown) =>
      say(context, `the view broke: ${harmless(messageOf(error))}`),
    );
    note = (text) => say(context, text);
    if (!over.signal.aborted) return sayDetached(context, ready.home, driver);
    return await sayDriven(context, { ...apart, ...ready }, { ...(await driver.ended), isStopped });
  } finally {
    signals.end();
  }
}

type Driver = {
  readonly child: ChildProcess;
  readonly ended: Promise<DriverEnd>;
  readonly stopGently: () => void;
  readonly stopNow: () => void;
};

/**
 * `code`: undefined if the process was killed or could not be started; `why` says so. `said`: its error output, as JSON
 * lines.
 */
type DriverEnd = { readonly code?: number; readonly why: string; readonly said: readonly string[] };

/** In a session of its own, so that neither Ctrl-C nor the end of this terminal reaches it. */
function startDriver(context: Context, { home, flags, folder }: Apart & Prepared): Driver {
  const file = path.join(home.folder, SAID);
  mkdirSync(home.folder, { recursive: true, mode: 0o700 }); // A run of another machine has no folder here yet.
  const said = openSync(file, "a", 0o600);
  const before = statSync(file).size;
  const child = spawn(process.execPath, [process.argv[1]!, "resume", home.record.run, "--json", ...flags], {
    cwd: folder,
    env: context.env,
    detached: true,
    stdio: ["ignore", "ignore", said],
  });
  closeSync(said);
  const { promise: ended, resolve } = Promise.withResolvers<DriverEnd>();
  const end = (code: number | null, why: string) =>
    resolve({ ...(code !== null && { code }), why, said: linesAfter(file, before) });
  child.once("error", (error) => end(null, `it could not be started: ${error.message}`));
  child.once("exit", (code, signal) => end(code, `it was killed (${signal})`));
  return {
    child,
    ended,
    stopGently: () => child.kill("SIGINT"),
    stopNow: () => child.kill("SIGTERM"), // Not SIGINT again: two equal signals can be delivered as one.
  };
}

const MAX_SAID = 20;

function linesAfter(file: string, before: number): readonly string[] {
  try {
    return readFileSync(file).subarray(before).toString().split("\n").filter(Boolean).slice(-MAX_SAID);
  } catch {
    return []; // The run's folder was removed meanwhile; reading its log reports the problem.
  }
}

function sayDetached(context: Context, { record: { run } }: RunHome, { child }: Driver): Followed {
  child.unref();
  say(context, `run ${run} continues in the background, in process ${child.pid}.`);
  say(context, `To come back: skein watch ${run}. To stop it: skein stop ${run}.`);
  return { exit: EXIT.done };
}

/** Prints here what the background process would have printed. */
async function sayDriven(
  context: Context,
  { parts, home, config, onUnbegun }: Apart & Prepared,
  { code, why, said, isStopped }: DriverEnd & { readonly isStopped: boolean },
): Promise<Followed> {
  const read = await seeRun(home);
  const isClosed = !hasFailed(read) && read.seen.state.closed !== undefined;
  const followed = isClosed ? await sayClosed(context, { parts, home, config, seen: read.seen }) : undefined;
  for (const line of said) sayError(context, line);
  const isUnbegun = !hasFailed(read) && read.seen.events === 0;
  if (isUnbegun) await onUnbegun?.(home);
  const { run } = home.record;
  if (code === undefined && isUnbegun && isStopped) {
    say(context, "stopped before the run began");
    return { exit: EXIT.interrupted };
  }
  if (code === undefined && !isClosed) {
    const message = `the process that drove run ${run} has ended: ${why}`;
    return { exit: refuse(context, EXIT.notAllDone, { kind: "lost", message, next: `skein resume ${run}` }) };
  }
  if (isClosed && config.deliver) {
    const bring = await deliverableOf(home.record, viewOf(read.seen), parts.git);
    if (bring.is === "delivered") say(context, `delivered to ${bring.branch}`);
  }
  return { ...followed, exit: (code ?? followed?.exit ?? EXIT.notAllDone) as ExitCode };
}

type JsonError = {
  readonly kind: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  readonly next?: string;
  readonly problems?: readonly string[];
};

function sayError(context: Context, line: string): void {
  const { error, notice } = saidIn(line);
  if (notice !== undefined) say(context, harmless(notice));
  else if (error === undefined)
    context.err.write(`${harmless(line)}\n`); // Output of Node itself, such as a stack trace.
  else if (error.kind === "interrupted") say(context, `${error.message} To continue: ${error.next}`);
  else if (error.problems) refuse(context, error.exitCode, { ...error, lines: error.problems });
  else refuseInLines(context, error.exitCode, error);
}

function saidIn(line: string): { readonly error?: JsonError; readonly notice?: string } {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {}; // Not a JSON line of Skein.
  }
}
