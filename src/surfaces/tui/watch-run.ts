/** How is a run shown on the whole terminal, and the terminal given back on every way out? */
import { render } from "ink";
import { createElement as h } from "react";
import type { MailboxMessage } from "../../ports/mailbox.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { Followed } from "./follow.ts";
import { Screen } from "./screen.ts";

type Watching = {
  readonly home: RunHome;
  readonly files: RunFiles;
  readonly say: (command: MailboxMessage) => Promise<string>;
  readonly leaveNote: string;
};

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?1049l\u001b[?25h\u001b[0m";
const MAX_FPS = 10;

/** Until the person leaves, or `signal`. The log may be over or go on: both are shown. */
export async function watchRun(watching: Watching, signal: AbortSignal): Promise<void> {
  const { stdout, stdin } = process;
  const stop = new AbortController();
  const followed = new Followed();
  const following = followed.follow(watching.home, AbortSignal.any([signal, stop.signal]));
  // Ink restores the screen when it ends; a crash of ours must not leave the terminal unusable.
  const restore = () => stdout.write(LEAVE);
  process.once("exit", restore);
  const resume = () => {
    stdin.setRawMode?.(true);
    stdout.write(ENTER);
    screen.clear(); // What it remembers of the screen is gone: everything is drawn again.
    screen.rerender(picture());
  };
  const suspend = () => {
    stdin.setRawMode?.(false);
    stdout.write(LEAVE);
    process.once("SIGCONT", resume);
    process.kill(process.pid, "SIGTSTP");
  };
  const picture = () => h(Screen, { ...watching, followed, suspend });
  const screen = render(picture(), {
    alternateScreen: true,
    exitOnCtrlC: false,
    incrementalRendering: true,
    maxFps: MAX_FPS,
    patchConsole: false,
    interactive: true,
  });
  const end = () => screen.unmount();
  signal.addEventListener("abort", end, { once: true });
  try {
    if (signal.aborted) end();
    await screen.waitUntilExit();
  } finally {
    signal.removeEventListener("abort", end);
    process.off("SIGCONT", resume);
    process.off("exit", restore);
    stop.abort();
    await following;
  }
}
