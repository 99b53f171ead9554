/** Waits for a promise or a signal, whichever comes first, and leaves no listener behind. */

/** Rejects with the signal's reason. What the promise does afterwards is ignored. */
export async function orAbort<T>(waited: Promise<T>, signal: AbortSignal): Promise<T> {
  waited.catch(() => {}); // The promise may fail later, when it is no longer awaited.
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([waited, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
