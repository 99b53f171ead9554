/** How long is an agent waited for? Each wait has a limit, and ends when we are told to stop. */

export type Limit = { readonly ms?: number; readonly what?: string; readonly signal?: AbortSignal };

/** Rejects as `promise` does, with `Late` after `ms`, or with the signal's reason. */
export async function inTime<T>(promise: Promise<T>, { ms, what = "", signal }: Limit): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  promise.catch(() => {}); // Nobody may be waiting any more when it fails.
  const onAbort = () => reject(signal?.reason);
  const timer = ms === undefined ? undefined : setTimeout(() => reject(new Late(what)), ms);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** `what` was not answered. */
export class Late extends Error {
  readonly what: string;

  constructor(what: string) {
    super(`${what} was not answered in time`);
    this.what = what;
  }
}

export const isLate = (thrown: unknown): thrown is Late => thrown instanceof Late;

/** An answer carries a code; the end of a connection does not. */
export const closing = (thrown: unknown): boolean =>
  typeof (Object(thrown) as { readonly code?: unknown }).code !== "number";
