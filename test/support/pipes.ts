/** Reads from named pipes that processes under test write to, without waiting for a writer that has ended. */
import { execFileSync } from "node:child_process";
import { constants, openSync } from "node:fs";
import { Socket } from "node:net";
import path from "node:path";
import { inspect } from "node:util";

export function makePipe(folder: string, name = "pipe"): string {
  const pipe = path.join(folder, name);
  execFileSync("mkfifo", [pipe]);
  return pipe;
}

/**
 * Fails with the result of `writer` if that ends without having written a line. `readFile` would then wait for ever:
 * its thread waits in `open` until another process opens the other end, and not even `process.exit` gets past it.
 */
export async function firstLine(pipe: string, writer: Promise<unknown>): Promise<string> {
  // Opened for reading and writing, so that `open` waits for no writer and the end of one writer does not end the pipe.
  const socket = new Socket({ fd: openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK), writable: false });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  socket.setEncoding("utf8").on("data", (more: string) => {
    text += more;
    if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
  });
  socket.on("error", reject);
  void writer.then(
    (end) => reject(new Error(`it ended without a line in ${path.basename(pipe)}: ${inspect(end)}`)),
    reject,
  );
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
