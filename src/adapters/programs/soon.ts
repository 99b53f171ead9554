/** Waits about a second for something that must already be on its way. */
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

/**
 * Waits a second for `what`, counted in turns of the event loop, each of which reads everything that can be read,
 * so that a stall of this process is not taken for silence of a program.
 */
export async function comesSoon(what: Promise<unknown>): Promise<boolean> {
  let hasCome = false;
  const come = what.then(() => {
    hasCome = true;
  });
  for (let n = 0; n < TURNS && !hasCome; n += 1) {
    await Promise.race([come, wait(TURN_MS, undefined, { ref: false })]);
    await nextTurn(); // Several timers may be due in one turn.
  }
  return hasCome;
}

const TURNS = 50;
const TURN_MS = 20;
