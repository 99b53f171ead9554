/** Shows a run on the whole terminal, and restores the terminal however the view ends. */
import { openSync } from "node:fs";
import { ReadStream } from "node:tty";
import { render } from "ink";
import { createElement as h } from "react";
import { Followed } from "./follow.ts";
import { Screen, type ScreenParts } from "./screen.ts";

export type Watching = Omit<ScreenParts, "followed" | "suspend"> & {
  /** This command started the process that drives the run, and ends the view with it. */
  readonly isOwn?: boolean;
  /** Receives the function that shows a text to the person from now on. */
  readonly onOpen?: (show: (text: string) => void) => void;
};

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?1049l\u001b[?25h\u001b[0m";
const MAX_FPS = 10;
/** The delay after which a view ends whose launcher was killed: only polling shows that. */
const ORPHAN_MS = 1_000;
/** Longer than a signal to this process takes; time does not pass here while the process is stopped. */
const STOPPED_MS = 50;

/** Ends when the person leaves, or with `signal`. Shows a finished log as well as a growing one. */
export async function watchRun({ onOpen, isOwn, ...watching }: Watching, signal: AbortSignal): Promise<void> {
  const { stdout } = process;
  // A question before the run has used up standard input.
  const stdin = process.stdin.destroyed ? new ReadStream(openSync("/dev/tty", "r")) : process.stdin;
  forgiveLostTerminal(stdin);
  const stop = new AbortController();
  const followed = new Followed();
  onOpen?.((text) => followed.say(text));
  if (isOwn) followed.isDriven = true; // Set before the driving process has the run's lock.
  const following = followed.follow(watching.home, AbortSignal.any([signal, stop.signal]), isOwn);
  // Ink restores the screen at its end; this also restores it after a crash.
  const restore = () => stdout.write(LEAVE);
  process.once("exit", restore);
  let waking: NodeJS.Timeout | undefined;
  /** Suspends the whole group, as Ctrl-Z does: a launcher or npm may wait for us, and the shell for them. */
  const suspend = () => {
    stdin.setRawMode(false);
    stdout.write(LEAVE);
    process.kill(0, "SIGTSTP");
    waking = setTimeout(() => {
      stdin.setRawMode(true);
      stdout.write(ENTER);
      screen.clear(); // Ink's memory of the screen is outdated: draw everything again.
      screen.rerender(picture());
    }, STOPPED_MS);
  };
  const picture = () => h(Screen, { ...watching, followed, suspend });
  const screen = render(picture(), {
    stdin,
    alternateScreen: true,
    exitOnCtrlC: false,
    incrementalRendering: true,
    maxFps: MAX_FPS,
    patchConsole: false,
    interactive: true,
  });
  /** Also for a suspended view that is continued now: it must not draw again. */
  const end = () => {
    clearTimeout(waking);
    screen.unmount();
  };
  signal.addEventListener("abort", end, { once: true });
  const parent = process.ppid;
  const looking = setInterval(() => process.ppid === parent || end(), ORPHAN_MS);
  try {
    if (signal.aborted) end();
    await screen.waitUntilExit();
  } finally {
    clearTimeout(waking);
    clearInterval(looking);
    signal.removeEventListener("abort", end);
    process.off("exit", restore);
    stop.abort();
    await following;
    if (stdin !== process.stdin) stdin.destroy();
  }
}

/**
 * After its launcher was killed, the shell owns the terminal and sets its mode; setting it here then fails with EIO.
 */
function forgiveLostTerminal(stdin: ReadStream): void {
  const setRawMode = stdin.setRawMode.bind(stdin);
  stdin.setRawMode = (mode) => {
    try {
      return setRawMode(mode);
    } catch {
      return stdin; // The EIO described above.
    }
  };
}
