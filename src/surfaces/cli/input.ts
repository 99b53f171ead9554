/** What a person types, or a pipe brings: line by line, or all of it, within limits. */
import { openSync } from "node:fs";
import { isatty, ReadStream } from "node:tty";

export type TypedInput = {
  /** Somebody sits there and can be asked. */
  readonly isTerminal: boolean;
  /** The next line without its end; undefined once there is none. As long as a person takes: Ctrl-C ends it. */
  readonly line: () => Promise<string | undefined>;
  /** Up to one byte more than the limit, which shows that there is more. */
  readonly all: (maxBytes: number) => Promise<Buffer>;
  /** Nobody will be asked any more: the process may end. */
  readonly close: () => Promise<void>;
};

/** Longer answers are cut: a file may stand in for a person. */
const MAX_LINE_CHARS = 10_000;

export function processInput(): TypedInput {
  let chunks: AsyncIterator<Buffer> | undefined;
  let source: NodeJS.ReadStream | undefined;
  let rest = "";
  const next = async (): Promise<Buffer | undefined> => {
    source ??= openInput();
    chunks ??= (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    const { done, value } = await chunks.next();
    return done ? undefined : value;
  };
  return {
    isTerminal: isatty(0),
    line: async () => {
      let end = rest.indexOf("\n");
      while (end < 0) {
        const chunk = await next();
        if (chunk === undefined) {
          const last = rest;
          rest = "";
          return last === "" ? undefined : last;
        }
        rest = rest.slice(0, MAX_LINE_CHARS) + chunk.toString("utf8");
        end = rest.indexOf("\n");
      }
      const line = rest.slice(0, Math.min(end, MAX_LINE_CHARS));
      rest = rest.slice(end + 1);
      return line.replace(/\r$/, "");
    },
    all: async (maxBytes) => {
      const read: Buffer[] = [];
      let bytes = 0;
      for (let chunk = await next(); chunk !== undefined && bytes <= maxBytes; chunk = await next()) {
        read.push(chunk);
        bytes += chunk.length;
      }
      return Buffer.concat(read).subarray(0, maxBytes + 1);
    },
    close: async () => {
      source?.destroy(); // Also in the middle of a line, for which an iterator's end would wait.
    },
  };
}

/** An earlier question of this command has closed its standard input: the terminal behind it is still there. */
const openInput = (): NodeJS.ReadStream =>
  process.stdin.destroyed && isatty(0) ? new ReadStream(openSync("/dev/tty", "r")) : process.stdin;
