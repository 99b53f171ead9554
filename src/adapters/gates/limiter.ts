/** Limits how many acts run at once: others wait in order of arrival, or until they are stopped. */
import { addAbortListener } from "node:events";
import pLimit from "p-limit";

export type Limiter = <T>(act: () => Promise<T>, signal: AbortSignal) => Promise<T | undefined>;

/** The result of a limited act is `undefined` if the signal came before the act's turn. */
export function limiterOf(max: number): Limiter {
  const limit = pLimit(max);
  return async (act, signal) => {
    const turn = Promise.withResolvers<boolean>();
    using _stop = addAbortListener(signal, () => turn.resolve(false));
    const ran = limit(async () => {
      turn.resolve(true);
      return signal.aborted ? undefined : act();
    });
    return (await turn.promise) ? ran : undefined;
  };
}
