/** Runs a sample of `npm run chaos -- --fleet`: one run that meets every kind of mishap. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fleetTrial, onOneMachine } from "./mishaps.ts";

describe("a fleet that suffers", { timeout: 420_000 }, () => {
  it("comes to the same as one machine: nothing lost, nothing twice, no red commit, no process left", async () => {
    const truth = await onOneMachine();
    const { kills, violations } = await fleetTrial(
      [
        { is: "worker-lies", after: 6 },
        { is: "worker-killed", after: 8 },
        { is: "remote-away", after: 14, ms: 1_500 },
        { is: "coordinator-killed", after: 20 },
        { is: "postgres-away", after: 30, ms: 1_500 },
        { is: "worker-stopped", after: 36, ms: 13_000 },
        { is: "coordinator-killed", after: 50 },
      ],
      truth,
    );
    assert.deepEqual(violations, []);
    assert.ok(kills >= 6, `only ${kills} things happened`);
  });
});
