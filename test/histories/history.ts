/** Plays the history of one seed, or of many, and gives what is wrong with it. */
import { check } from "./checks.ts";
import { plant } from "./plant.ts";
import { play } from "./play.ts";
import { makePlace } from "./repository.ts";
import type { Tally } from "./tally.ts";

export type Told = {
  readonly seed: number;
  readonly tasks: number;
  readonly how: string;
  readonly gateRuns: number;
  readonly tally: Tally;
  readonly violations: readonly string[];
  /** The events of the log as JSON, one for each line. */
  readonly log: readonly string[];
};

export async function tell(seed: number): Promise<Told> {
  const history = plant(seed);
  const { tally, tasks } = history;
  await using place = await makePlace(history.base);
  const played = await play(history, place);
  const { end, events, gate } = played;
  return {
    seed,
    tasks: tasks.length,
    how: end.is === "closed" ? end.state.closed!.how : end.is,
    gateRuns: gate.runs.length,
    tally,
    violations: await check(history, place, played),
    log: events.map((event) => JSON.stringify(event)),
  };
}

/** Plays several at once, because most of the time is spent waiting for git. */
export async function tellAll(
  seeds: readonly number[],
  atOnce: number,
  hear: (told: Told) => void,
): Promise<void> {
  const left = [...seeds];
  const teller = async () => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      hear(await tell(seed).catch((error: unknown) => broken(seed!, error)));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, teller));
}

const broken = (seed: number, error: unknown): Told => ({
  seed,
  tasks: 0,
  how: "broken",
  gateRuns: 0,
  tally: plant(seed).tally,
  violations: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
  log: [],
});
