/** What passes between an agent's process and the library? Only what the library can take; updates go past it. */
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { text } from "./loose.ts";

export type Heard = {
  /** After every message, whatever it is. */
  readonly sign: () => void;
  /** The parameters of `session/update`, in the order in which they came, before the answer that follows them. */
  readonly update: (params: unknown) => void;
};

/**
 * The library refuses updates of a kind that it does not know, and complains on our standard error about them and
 * about answers that nobody asked for. So updates are heard here, and such answers are dropped.
 */
export function guarded(stream: Stream, heard: Heard): Stream {
  const asked = new Set<unknown>();
  const out = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, to) {
      if ("method" in message && "id" in message) asked.add(message.id);
      to.enqueue(message);
    },
  });
  const into = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, to) {
      if ("id" in message) {
        if ("method" in message || asked.delete(message.id)) to.enqueue(message);
      } else if (text(message.method) === UPDATE) heard.update(message.params);
      else if (text(message.method) === CANCEL) to.enqueue(message);
      heard.sign();
    },
  });
  void out.readable.pipeTo(stream.writable).catch(() => {}); // The process is gone: what is waited for fails, too.
  return { readable: stream.readable.pipeThrough(into), writable: out.writable };
}

const UPDATE = "session/update";
const CANCEL = "$/cancel_request";
