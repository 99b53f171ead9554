/** How do a program's input and outputs pass between it and us? Through what it can also open by name. */
import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";

export type Pipes = {
  /** Only where there is a conversation. */
  readonly in: Socket | undefined;
  readonly out: Socket;
  readonly err: Socket;
  /** What the child gets as 0, 1 and 2; closed here once it has started. */
  readonly theirs: readonly [number, number, number];
};

/**
 * Node's own "pipes" are sockets, and no program can open a socket by name: `echo > /dev/stderr` and
 * `cat /dev/stdin` fail. So the outputs are made with mkfifo (one process), and the input is a file, because a
 * pipe without a writer that is opened again waits for ever. Only a conversation needs a pipe there: `input` is
 * undefined then. All names are removed at once. Throws if the disk does.
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
      input && writeInput(path("in"), input),
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

/**
 * What an engine left that was killed while it made some, or wrote down the program that they are for. Only where
 * nothing is being started.
 */
export async function removePipes(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => LEFT.test(name));
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true }).catch(() => {}))); // Harmless.
}

const LEFT = /\.(?:in|out|err|program\.json\.new)$/;

type Ends = { readonly ours: number; readonly theirs: number };

/**
 * Their end must block, as programs expect of an input, and opening it so waits for a writer; our end must not block,
 * and cannot be opened so before there is a reader. Whoever opens both ends at once waits for nobody.
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

async function writeInput(path: string, input: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(input);
  } finally {
    await file.close();
  }
}

function mkfifo(paths: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  execFile("mkfifo", ["-m", "600", ...paths], (error) => (error ? reject(error) : resolve()));
  return promise;
}
