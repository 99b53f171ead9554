/** Simulates set-ups that are broken or break later, gates that prove nothing, and a person who mends them. */

import { failure } from "../../src/core/failure.ts";
import { NOT_RUN, type Probed } from "../../src/core/gate.ts";
import type { Event } from "../../src/core/log/event.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import { BASE_QUESTION } from "../../src/core/subtask.ts";
import { type Random, randomFrom, seedFor } from "../../src/simulation/random.ts";
import type { Tally } from "./faults.ts";
import type { Reaction } from "./simulate.ts";
import type { Unready } from "./virtual-queue.ts";

export type Setups = {
  readonly policy: Pick<Policy, "baseFirstMs" | "probe" | "onRedBase">;
  readonly unready: Unready;
  readonly happens: readonly { readonly at: number; readonly happens: () => void }[];
  readonly react: (event: Event) => readonly Reaction[];
  /** Commands of the gate whose failures have no names. */
  readonly nameless: readonly string[];
  /** Whether the engine dies at this append. */
  readonly kills: (events: readonly Event[]) => boolean;
};

const NO_PROGRAM = failure("setup", "mocha: not found", "npm ci");
const UNPROVEN: Probed = { is: "unproven", failure: failure("setup", "your tests pass without your code") };
const HOUR = 3_600_000;

/** Uses random numbers of its own: most runs happen as they did before there were set-ups. */
export function setupsIn(seed: number, faults: Tally): Setups {
  const random = randomFrom(seedFor(seed, "set-up"));
  if (!random.chance(0.35)) return NOTHING;
  const chosen = randomFrom(seedFor(seed, "red base"));
  const onRedBase = chosen.pick([undefined, "ask", "ask", "repair", "continue"] as const);
  const probe = random.chance(0.8);
  const now = { isBroken: random.chance(0.3), probed: probedIn(random) };
  if (now.isBroken) faults.add("set-up broken from the start");
  let stops = 0;
  return {
    policy: {
      probe,
      ...(random.chance(0.8) && { baseFirstMs: 60_000 }),
      ...(onRedBase !== undefined && { onRedBase }),
    },
    unready: unreadyIn(now, faults),
    happens: random.chance(0.3) ? [vanishing(random, now, faults)] : [],
    react: (event) =>
      event.type === "setup.failed"
        ? seenTo(random, now, faults, ++stops)
        : event.type === "base.failed" && event.asked
          ? answered(chosen, faults)
          : [],
    // "test" is not among them: a chance failure without a name would be taken for a real one.
    nameless: random.pick([[], ["build"], ["types"], ["build", "types"]]),
    kills: (events) => events.some(isProbing) && random.chance(0.3),
  };
}

const NOTHING: Setups = {
  policy: {},
  unready: () => undefined,
  happens: [],
  react: () => [],
  nameless: [],
  kills: () => false,
};

type Now = { isBroken: boolean; probed: Probed };

const probedIn = (random: Random): Probed =>
  random.pick([
    { is: "proved" },
    { is: "proved" },
    { is: "not-probed", why: "there are no tests" },
    UNPROVEN,
  ]);

/** A candidate whose gate cannot run is red; other jobs that need a workspace fail. */
const unreadyIn =
  (now: Now, faults: Tally): Unready =>
  (brief) => {
    if (brief.kind === "check" && brief.probe && !now.isBroken) {
      if (now.probed.is === "unproven") faults.add("gate proves nothing");
      if (now.probed.is === "not-probed") faults.add("gate not probed");
      return { is: "probed", probed: now.probed };
    }
    if (!now.isBroken || (brief.kind === "check" && brief.seen && !brief.probe)) return undefined;
    if (brief.kind === "land" && brief.passed) return undefined; // This job only moves the target.
    if (brief.kind !== "land") return { is: "failed", failure: NO_PROGRAM };
    const members = brief.members.map(({ task, attempt }) => ({ task, attempt }));
    return { is: "red", members, conflicts: [], failures: [NOT_RUN] };
  };

const MAX_STOPS = 20;

const vanishing = (random: Random, now: Now, faults: Tally) => ({
  at: random.spread(60_000, 3 * HOUR),
  happens: () => {
    faults.add("set-up vanished");
    now.isBroken = true;
  },
});

/** A person resumes the run, now and then before anything was mended, and repeats it until it must have arrived. */
function seenTo(random: Random, now: Now, faults: Tally, times: number): readonly Reaction[] {
  // A base on which nothing runs stops the run each time, so the person gives up after some stops.
  if (times > MAX_STOPS) return [{ afterMs: HOUR, message: { type: "cancel" } }];
  const afterMs = random.spread(1_000, 8 * HOUR);
  const isTooEarly = random.chance(0.3);
  if (isTooEarly) faults.add("resumed before it was mended");
  const mend = () => {
    now.isBroken = false;
    if (now.probed.is === "unproven") now.probed = { is: "proved" };
  };
  const resume = { message: { type: "resume" } } as const;
  const later = Array.from({ length: 20 }, (_, hour) => ({
    afterMs: afterMs + (hour + 1) * HOUR,
    ...resume,
  }));
  return [
    ...(isTooEarly ? [{ afterMs: afterMs / 2, ...resume }] : []),
    { afterMs, happens: mend },
    { afterMs, ...resume },
    ...later,
  ];
}

/** Answers about the base: first an invalid one, then a valid one soon, later, or after the default was taken. */
function answered(random: Random, faults: Tally): readonly Reaction[] {
  faults.add("asked about a base that fails");
  const text = random.pick(["repair", "continue"]);
  const answer = (said: string) =>
    ({ message: { type: "answer", question: BASE_QUESTION, text: said } }) as const;
  return [
    { afterMs: 500, ...answer("perhaps") },
    { afterMs: random.spread(1_000, HOUR), ...answer(text) },
  ];
}

const isProbing = (event: Event): boolean =>
  event.type === "gate.probed" ||
  (event.type === "job.started" && event.job.kind === "check" && event.job.probe === true);
