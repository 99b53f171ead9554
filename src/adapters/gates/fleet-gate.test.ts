/** Tests that a cancelled gate on a fleet ends even if the job queue never confirms it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobId } from "../../core/job.ts";
import { hasFailed } from "../../core/result.ts";
import type { Gate } from "../../ports/gate.ts";
import type { FleetOffers } from "../job-queues/fleet-offers.ts";
import type { JobObjects } from "../objects/job-objects.ts";
import { FleetGate } from "./fleet-gate.ts";

test("a gate that was called off ends, though the queue never says so", { timeout: 10_000 }, async () => {
  const over = new AbortController();
  const offers = {
    follow: () => {},
    offer: async () => {
      over.abort();
      return "offered";
    },
    cancel: () => new Promise(() => {}),
  } as unknown as FleetOffers;
  const objects = { offer: async () => [] } as unknown as JobObjects;
  const gate = new FleetGate({ offers, objects, own: {} as Gate, labels: [], graceMs: 1 });
  const ended = await gate.run({ job: "land#1" as JobId, commit: "c", rules: "c" }, over.signal);
  assert.equal(hasFailed(ended) && ended.failure.kind, "interrupted");
});
