/** What if several ask at once what the checkout looks like? One look that begins after they asked is enough for all. */
import type { Checkout, Look } from "../../ports/checkout.ts";
import type { Failed } from "../../ports/repository.ts";

/** Nobody's own signal stops a look that others wait for; it has a limit of its own. */
export function sharedLooks(checkout: Checkout): Checkout {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<Look | Failed> | undefined;
  return {
    look: () => {
      next ??= current.then(() => {
        const look = checkout.look(AbortSignal.timeout(MAX_MS));
        next = undefined; // Whoever asks from now on may want to see what this one no longer does.
        current = look;
        return look;
      });
      return next;
    },
  };
}

const MAX_MS = 60_000;
