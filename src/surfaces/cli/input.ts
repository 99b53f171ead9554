/** Reads standard input from a person or a pipe: line by line, or completely, within limits. */
import { openSync } from "node:fs";
import { isatty, ReadStream } from "node:tty";

export type TypedInput = {
  /** A person is there and can be asked. */
  readonly isTerminal: boolean;
  /**
   * The next line without its end; undefined at the end of input. Waits as long as the person takes: Ctrl-C ends it.
   */
  readonly line: () => Promise<string | undefined>;
  /** Up to one byte more than the limit, which shows that there is more. */
  readonly all: (maxBytes: number) => Promise<Buffer>;
  /** No more questions: the process may end. */
  readonly close: () => Promise<void>;
};

/** Longer answers are cut, because a file may take the place of a person. */
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
      source?.destroy(); // Also in the middle of a line, for which ending the iterator would wait.
    },
  };
}

/** An earlier question of this command has closed standard input, but the terminal behind it is still there. */
const openInput = (): NodeJS.ReadStream =>
  process.stdin.destroyed && isatty(0) ? new ReadStream(openSync("/dev/tty", "r")) : process.stdin;
