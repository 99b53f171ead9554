/** How is a conversation held with a program, so that neither side waits for the other when it is over? */
import type { Socket } from "node:net";
import type { Streams } from "../../ports/programs.ts";

export type Conversation = {
  readonly streams: Streams;
  /** Nothing more is said: the program's input ends, and what it still writes is dropped. */
  readonly end: () => void;
  /** Nothing more will come out of the program. */
  readonly closed: Promise<void>;
};

export function conversation(input: Socket, output: Socket): Conversation {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  output.once("close", () => resolve());
  const taking = { isOver: false };
  return {
    streams: { input: writableOf(input), output: readableOf(output, taking) },
    end: () => {
      taking.isOver = true;
      output.resume();
      input.end();
    },
    closed,
  };
}

function writableOf(socket: Socket): WritableStream<Uint8Array> {
  socket.on("error", () => {}); // The program is gone: whoever writes next is told.
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

/** Read only as fast as somebody takes it; once nobody does, read and dropped: the program must not wait for us. */
function readableOf(socket: Socket, taking: { isOver: boolean }): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(to) {
        socket.on("error", () => {}); // It closes then, and there is no more.
        socket.on("data", (bytes) => {
          if (taking.isOver) return;
          to.enqueue(bytes);
          if ((to.desiredSize ?? 0) <= 0) socket.pause();
        });
        socket.once("close", () => {
          if (!taking.isOver) to.close();
          taking.isOver = true;
        });
      },
      pull: () => void socket.resume(),
      cancel: () => {
        taking.isOver = true;
        socket.resume();
      },
    },
    { highWaterMark: MAX_WAITING_BYTES, size: (bytes) => bytes.byteLength },
  );
}

const MAX_WAITING_BYTES = 256 * 1024;
