/** Handles SIGINT, SIGTERM and SIGHUP: the first stops a run gently, the second at once; both keep unfinished work. */
import { EXIT } from "../exit-codes.ts";

type Stoppable = { readonly run: string; readonly stopGently: () => void; readonly stopNow: () => void };

type Signals = {
  /** Aborts the preparation before there is a run to stop. */
  readonly aborted: AbortSignal;
  readonly heard: (live: Stoppable) => void;
  readonly end: () => void;
};

const NAMES = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** The longest time for an immediate stop, in which processes are ended and their work is kept. */
const MAX_LAST_MS = 5_000;

export function heedSignals(say: (text: string) => void): Signals {
  const stop = new AbortController();
  let live: Stoppable | undefined;
  let times = 0;
  let last: NodeJS.Timeout | undefined;
  const now = () => {
    live?.stopNow();
    last ??= setTimeout(() => {
      say(`stopped without waiting for everything to end. To continue: skein resume ${live?.run}`);
      process.exit(EXIT.interrupted);
    }, MAX_LAST_MS);
  };
  const heed = () => {
    times += 1;
    if (times === 1) {
      say("stopping: finishing what is landing (up to 10 s), keeping the rest; Ctrl-C again to stop now");
      if (live) live.stopGently();
      else stop.abort();
    } else if (times === 2) {
      say("stopping now");
      now();
    }
  };
  for (const name of NAMES) process.on(name, heed);
  return {
    aborted: stop.signal,
    heard: (started) => {
      live = started;
      if (times > 0) live.stopGently();
      if (times > 1) now();
    },
    end: () => {
      clearTimeout(last);
      for (const name of NAMES) process.off(name, heed);
    },
  };
}

/** For a worker of a fleet: the first signal takes no more jobs, the second stops the running ones. */
export function drainOnSignal(say: (text: string) => void) {
  const [drain, stop] = [new AbortController(), new AbortController()];
  const heed = () => {
    if (drain.signal.aborted) stop.abort();
    else say("taking no more jobs; ending after those that run. Again: stop them, keeping their work");
    drain.abort();
  };
  for (const name of NAMES) process.on(name, heed);
  return {
    ...{ drain: drain.signal, stop: stop.signal },
    [Symbol.dispose]: () => {
      for (const name of NAMES) process.off(name, heed);
    },
  };
}

/** For short commands that leave nothing half done: the first signal stops them. */
export function stopOnSignal(): { readonly signal: AbortSignal } & Disposable {
  const stop = new AbortController();
  const heed = () => stop.abort();
  for (const name of NAMES) process.on(name, heed);
  return {
    signal: stop.signal,
    [Symbol.dispose]: () => {
      for (const name of NAMES) process.off(name, heed);
    },
  };
}
