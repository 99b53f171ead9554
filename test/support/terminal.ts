/** A real terminal for tests: a pseudo-terminal, and what a person would see on its screen. */
import { type IPty, spawn } from "@lydell/node-pty";
import headless, { type IBuffer } from "@xterm/headless";

export type TestTerminal = AsyncDisposable & {
  readonly pty: IPty;
  /** The lines of the screen as they are now, without spaces at their ends. */
  screen(): string;
  /** Resolves once the screen matches; throws with the screen's text after `maxMs`. */
  shows(wanted: RegExp, maxMs?: number): Promise<string>;
  /** Resolves once the condition holds, which is checked whenever the screen changes. */
  becomes(is: () => boolean, maxMs?: number): Promise<void>;
  /** Everything that was written to the terminal. */
  raw(): string;
  press(keys: string): void;
  resize(columns: number, rows: number): void;
  readonly exited: Promise<number>;
  /** What each cell of the screen shows, with its colours. */
  readonly cells: () => IBuffer;
  /** Whether the program has given the ordinary screen back. */
  isOrdinary(): boolean;
};

export function openTerminal(
  command: readonly string[],
  options: {
    readonly folder: string;
    readonly env: NodeJS.ProcessEnv;
    readonly columns?: number;
    readonly rows?: number;
  },
): TestTerminal {
  const { folder, env, columns = 80, rows = 24 } = options;
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
  const [file, ...args] = command;
  const pty = spawn(file!, args, {
    name: "xterm-256color",
    cols: columns,
    rows,
    cwd: folder,
    env: { ...env, TERM: "xterm-256color" } as Record<string, string>,
  });
  const changed = new EventTarget();
  let written = "";
  pty.onData((data) => {
    written += data;
    terminal.write(data, () => changed.dispatchEvent(new Event("change")));
  });
  const { promise: exited, resolve } = Promise.withResolvers<number>();
  pty.onExit(({ exitCode }) => resolve(exitCode));
  const screen = () =>
    Array.from(
      { length: terminal.rows },
      (_, i) =>
        terminal.buffer.active.getLine(terminal.buffer.active.viewportY + i)?.translateToString(true) ?? "",
    ).join("\n");
  const becomes = (is: () => boolean, maxMs = 30_000): Promise<void> => {
    const { promise, resolve: found, reject } = Promise.withResolvers<void>();
    const look = () => {
      if (is()) found();
    };
    const timer = setTimeout(() => reject(new Error(`it never became so: ${is}`)), maxMs);
    changed.addEventListener("change", look);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      changed.removeEventListener("change", look);
    });
  };
  return {
    pty,
    screen,
    exited,
    cells: () => terminal.buffer.active,
    isOrdinary: () => terminal.buffer.active.type === "normal",
    press: (keys) => pty.write(keys),
    resize: (wide, high) => {
      terminal.resize(wide, high);
      pty.resize(wide, high);
    },
    raw: () => written,
    becomes,
    shows: async (wanted, maxMs) => {
      await becomes(() => wanted.test(screen()), maxMs).catch(() => {
        throw new Error(`the screen never showed ${wanted}:\n${screen()}`);
      });
      return screen();
    },
    [Symbol.asyncDispose]: async () => {
      pty.kill("SIGKILL");
      await exited;
      terminal.dispose();
    },
  };
}
