/** Sends server-sent events until the client leaves, or its device is signed out. */
import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { messageOf } from "../../core/failure.ts";
import type { Event } from "../../core/log/event.ts";

/** Events within so many ms are sent together: a page draws at most ten times a second. */
const GATHER_MS = 100;
/** A page reads so many in a few ms. */
const MAX_BATCH = 200;

type Send = (stream: SSEStreamingApi, signal: AbortSignal) => Promise<void>;
export type OpenStream = (c: Context, send: Send) => Response;
type Watched = { readonly revocations: EventTarget; readonly isIn: (c: Context) => boolean };

export const streamsFor =
  ({ revocations, isIn }: Watched): OpenStream =>
  (c, send) =>
    streamSSE(c, async (stream) => {
      const stop = new AbortController();
      stream.onAbort(() => stop.abort());
      revocations.addEventListener("revoked", () => isIn(c) || stop.abort(), stop);
      try {
        await send(stream, stop.signal);
      } catch (error) {
        if (!stop.signal.aborted)
          await stream.writeSSE({ event: "problem", data: JSON.stringify(messageOf(error)) });
      } finally {
        stop.abort();
      }
    });

/** Joins events that arrive within a moment into one list. */
export async function* gathered(
  events: AsyncIterable<Event>,
  signal: AbortSignal,
): AsyncGenerator<readonly Event[]> {
  const waiting: Event[] = [];
  let wake = Promise.withResolvers<void>();
  let end: { readonly error?: unknown } | undefined;
  const reading = (async () => {
    try {
      for await (const event of events) {
        waiting.push(event);
        wake.resolve();
        if (waiting.length >= MAX_BATCH) await pause(GATHER_MS / 10);
      }
      end = {};
    } catch (error) {
      end = { error };
    }
    wake.resolve();
  })();
  while (!signal.aborted) {
    await wake.promise;
    wake = Promise.withResolvers();
    if (waiting.length > 0) {
      if (waiting.length < MAX_BATCH && !end) await pause(GATHER_MS);
      while (waiting.length > 0) yield waiting.splice(0, MAX_BATCH);
    }
    if (end) {
      await reading;
      if (end.error !== undefined) throw end.error;
      return;
    }
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
