/** The output streams of a command, and what they can show: colours, a terminal's size, a whole screen. */
import { isatty } from "node:tty";
import { styleText } from "node:util";
import type { Line } from "../../core/view/narrate.ts";
import { steerless } from "../../text/words.ts";
import { EXIT } from "./exit-codes.ts";

/** The streams that a command writes to; a test passes its own. */
export type Output = {
  readonly out: Sink;
  readonly err: Sink;
  /** A person is at a terminal whose whole screen can be drawn on. */
  readonly hasScreen?: boolean;
};

type Sink = {
  readonly write: (text: string) => void;
  readonly hasColours: boolean;
  /** Only if the stream is a terminal. */
  readonly size?: () => { readonly columns: number; readonly rows: number };
  /** From now on, a reader that closes the pipe or a full disk does not end this process. */
  readonly outlive?: () => void;
};

export const SILENT: Sink = { write: () => {}, hasColours: false };

export function processOutput(): Output {
  const out = sink(process.stdout);
  return { out, err: sink(process.stderr), hasScreen: out.size !== undefined && isatty(0) };
}

function sink(stream: NodeJS.WriteStream): Sink {
  let state: "open" | "outliving" | "lost" = "open";
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (state !== "open") {
      state = "lost";
      return; // The run continues without a viewer: its log has everything.
    }
    // A reader that has seen enough (`skein --help | head -1`) closes the pipe, which is not a failure.
    if (error.code === "EPIPE") process.exit();
    // If standard error cannot be written, only the exit code shows it.
    if (stream !== process.stderr) process.stderr.write(`skein: cannot write the output: ${error.message}\n`);
    process.exit(EXIT.notAllDone);
  });
  const plain = {
    write: (text: string) => {
      if (state !== "lost") stream.write(stream.isTTY ? steerless(text) : text);
    },
    // `hasColors` respects NO_COLOR and the type of terminal.
    hasColours: stream.isTTY && stream.hasColors(),
    outlive: () => {
      if (state === "open") state = "outliving";
    },
  };
  // A terminal that cannot move its cursor gets plain lines.
  if (!stream.isTTY || process.env["TERM"] === "dumb") return plain;
  return { ...plain, size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }) };
}

const STYLES = { good: "green", bad: "yellow", quiet: "dim", strong: "bold" } as const;
export type Tone = Line["tone"] | "strong";

export const paint = ({ hasColours }: Sink, tone: Tone, text: string): string =>
  tone === "plain" || !hasColours ? text : styleText(STYLES[tone], text, { validateStream: false });
