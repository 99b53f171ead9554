/** Connects a program's input and outputs with Skein, by pipes that the program can also open by name. */
import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Streams } from "../../ports/programs.ts";

export type Pipes = {
  /** Only set if there is a conversation. */
  readonly in: Socket | undefined;
  readonly out: Socket;
  readonly err: Socket;
  /** What the child gets as 0, 1 and 2; closed here once it has started. */
  readonly theirs: readonly [number, number, number];
};

/**
 * Node's own "pipes" are sockets, which no program can open by name: `echo > /dev/stderr` and `cat /dev/stdin`
 * fail. So the outputs are made with mkfifo (one process), and the input is a file, because opening a pipe without
 * a writer waits for ever. Without `input` there is a conversation, which needs a pipe. All names are removed at
 * once. Throws if the disk fails.
 */
export async function openPipes(folder: string, name: string, input: string | undefined): Promise<Pipes> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = (end: string) => join(folder, `${name}.${end}`);
  const opened: number[] = [];
  const keep = (descriptor: number) => {
    opened.push(descriptor);
    return descriptor;
  };
  try {
    await Promise.all([
      mkfifo(["out", "err", ...(input === undefined ? ["in"] : [])].map(path)),
      input && writeFile(path("in"), input, { flag: "wx", mode: 0o600 }),
    ]);
    const fed = input === undefined ? feeder(path("in"), keep) : undefined;
    const stdin = fed?.theirs ?? keep(openSync(input ? path("in") : "/dev/null", constants.O_RDONLY));
    const [out, err] = [path("out"), path("err")].map((fifo) => {
      const ours = keep(openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK)); // First: a writer waits for it.
      return { ours, theirs: keep(openSync(fifo, constants.O_WRONLY)) };
    }) as [Ends, Ends];
    const feed = fed && new Socket({ fd: fed.ours, readable: false, writable: true });
    return { in: feed, out: reader(out), err: reader(err), theirs: [stdin, out.theirs, err.theirs] };
  } catch (thrown) {
    for (const descriptor of opened) closeSync(descriptor);
    throw thrown;
  } finally {
    await Promise.all(["in", "out", "err"].map((end) => rm(path(end), { force: true })));
  }
}

export function closePipes(pipes: Pipes): void {
  for (const pipe of [pipes.in, pipes.out, pipes.err]) pipe?.destroy();
}

/** Removes what a killed engine left in the middle of a start. Must not run while a program is being started. */
export async function removePipes(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => LEFT.test(name));
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true }).catch(() => {}))); // Harmless.
}

/** Pipes, and drafts of records: their programs never ran. */
const LEFT = /\.(?:in|out|err|program\.json\.[0-9a-f]+\.new)$/;

type Ends = { readonly ours: number; readonly theirs: number };

/**
 * The program's end must block, as programs expect, and opening it waits for a writer; Skein's end must not block,
 * and cannot be opened before there is a reader. Opening both ends at once waits for neither.
 */
function feeder(fifo: string, keep: (descriptor: number) => number): Ends {
  const both = openSync(fifo, constants.O_RDWR);
  try {
    const theirs = keep(openSync(fifo, constants.O_RDONLY));
    return { theirs, ours: keep(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK)) };
  } finally {
    closeSync(both);
  }
}

const reader = ({ ours }: Ends): Socket => new Socket({ fd: ours, readable: true, writable: false });

const mkfifo = (paths: readonly string[]) => promisify(execFile)("mkfifo", ["-m", "600", ...paths]);

export type Conversation = {
  readonly streams: Streams;
  /** Ends the program's input; what the program still writes is dropped. */
  readonly end: () => void;
  readonly closed: Promise<void>;
};

export function conversation(input: Socket, output: Socket): Conversation {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  output.once("close", () => resolve());
  const reading = { isOver: false };
  return {
    streams: { input: writableOf(input), output: readableOf(output, reading) },
    end: () => {
      reading.isOver = true;
      output.resume();
      input.end();
    },
    closed,
  };
}

function writableOf(socket: Socket): WritableStream<Uint8Array> {
  socket.on("error", () => {}); // The program is gone: the next write reports it.
  return new WritableStream({
    write(bytes) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      return promise;
    },
    close: () => void socket.end(),
    abort: () => void socket.destroy(),
  });
}

/**
 * Read only as fast as it is consumed; after the conversation, read and dropped, so that the program never waits
 * for a reader.
 */
function readableOf(socket: Socket, reading: { isOver: boolean }): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(to) {
        socket.on("error", () => {}); // Its close event follows.
        socket.on("data", (bytes) => {
          if (reading.isOver) return;
          to.enqueue(bytes);
          if ((to.desiredSize ?? 0) <= 0) socket.pause();
        });
        socket.once("close", () => {
          if (!reading.isOver) to.close();
          reading.isOver = true;
        });
      },
      pull: () => void socket.resume(),
      cancel: () => {
        reading.isOver = true;
        socket.resume();
      },
    },
    { highWaterMark: MAX_WAITING_BYTES, size: (bytes) => bytes.byteLength },
  );
}

const MAX_WAITING_BYTES = 256 * 1024;
