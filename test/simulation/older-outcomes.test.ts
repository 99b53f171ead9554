/** Tests that job outcomes missing from older logs are inferred as newer logs have them, over simulated runs. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Event, EventOf } from "../../src/core/log/event.ts";
import { OlderOutcomes } from "../../src/core/log/older-outcomes.ts";
import { tell } from "./story.ts";

const SEEDS = 25;

type JobEnded = EventOf<"job.ended">;
const isEnd = (event: Event): event is JobEnded => event.type === "job.ended";

/** The event as an older Skein wrote it, without the job's outcome. */
function older(event: Event): Event {
  if (!isEnd(event)) return event;
  const { outcome: _, ...rest } = event;
  return rest;
}

/** Older logs do not keep what a turn answered before it was judged, nor whether a passing gate was run again. */
function comparable({ job, outcome }: JobEnded): unknown {
  if (outcome === undefined) return undefined;
  if (job.startsWith("land#")) return outcome;
  if (job.startsWith("check#")) return outcome.is === "known" ? { is: "passed" } : outcome;
  return { hasFailed: outcome.failure !== undefined };
}

it("what an older log does not say of its jobs is inferred as it was, over simulated runs", async () => {
  let compared = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { events } = await tell(seed);
    const inference = new OlderOutcomes();
    const read = [...events.flatMap((event) => inference.take(older(event))), ...inference.rest()];
    assert.deepEqual(read.map(older), events.map(older), `seed ${seed}: the same events in the same order`);
    for (const [i, event] of events.entries()) {
      if (!isEnd(event)) continue;
      assert.deepEqual(
        comparable(read[i] as JobEnded),
        comparable(event),
        `seed ${seed}, event ${i + 1}, ${event.job}`,
      );
      compared += 1;
    }
  }
  assert.ok(compared > 1_000, `${compared} ends of jobs`);
});
