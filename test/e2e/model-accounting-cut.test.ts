/** Tests the cost of calls that were cut: they count against the budget, and cancelled turns are in the sum. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Script } from "../../src/ports/agent-script.ts";
import type { Reply } from "../support/model-server/model-server.ts";
import type { Started } from "./cli-place.ts";
import { audit, checkWords } from "./model-accounting.ts";
import { HANG, runIn, SETS, task, toTheEnd, withIncidents, writes } from "./model-lives.ts";
import { makeModelPlace } from "./model-place.ts";

describe("a call that was cut off by a kill", { timeout: 60_000 }, () => {
  const script: Script = { plans: {}, work: { t: [writes("a")] } };
  /** Enough for two calls at once by what is reserved for them; each call really costs a tenth of its reserve. */
  const budget = { "budget.tokens": 32_000, "budget.reserve.tokens": 1_000, "budget.landingShare": 0 };
  const sets = { ...SETS, ...budget, planner: "none" };

  it("is charged to the budget with what was set aside for it, so that the run stops in time", async () => {
    let live: Started | undefined;
    const kill = (): Reply => {
      live!.kill("SIGKILL");
      return HANG;
    };
    const answer = withIncidents(script, { "work:t#1 1": kill, "work:t#2 1": kill });
    await using place = await makeModelPlace({ answer, sets });
    const { code, out } = await toTheEnd(place, (started) => {
      live = started;
    });
    assert.equal(code, 1, out);
    const { view } = await audit(place);
    checkWords(view, out);
    assert.equal(view.spent.tokens, 0);
    assert.equal(view.spent.unaccounted.calls, 2);
    assert.equal(place.server.calls.length, 2, "the third call was not made");
    assert.ok(view.spent.unaccounted.tokens <= 32_000);
    assert.match(out, /the budget/);
  });

  it("is what made the difference: the same run within the same budget is done without a kill", async () => {
    await using place = await makeModelPlace({ answer: withIncidents(script, {}), sets });
    const { code, out } = await toTheEnd(place, () => {});
    assert.equal(code, 0, out);
    const { view } = await audit(place);
    assert.equal(view.spent.unaccounted.calls, 0);
  });
});

describe("the cost of a turn that was called off", { timeout: 60_000 }, () => {
  it("is in the sum, with the call that was cut", async () => {
    const called = Promise.withResolvers<void>();
    const script: Script = {
      plans: { t: [{ answer: { scratchpad: "", tasks: [task("a"), task("b")] } }] },
      work: { a: [writes("a")], b: [writes("b")] },
    };
    const cancel = (): Reply => {
      void place.skein("cancel", runIn(place), "t.1").then(() => called.resolve());
      return HANG;
    };
    const answer = withIncidents(script, { "work:t.1#1 2": cancel });
    await using place = await makeModelPlace({
      sets: SETS,
      answer: async (call, signal) => {
        if (call.messages.some(({ text }) => text.startsWith("Task: t.2 "))) await called.promise;
        return answer(call, signal);
      },
    });
    const { code, out } = await toTheEnd(place, () => {});
    assert.equal(code, 0, out);
    const { view, missing } = await audit(place);
    assert.equal(missing.get("work:t.1#1")?.length, 1);
    assert.equal(view.spent.unaccounted.calls, 1);
    const { input, output } = place.server.tokens();
    assert.equal(view.spent.tokens, input + output);
  });

  it("is in the sum of a run that is cancelled as a whole", async () => {
    const script: Script = { plans: {}, work: { t: [writes("a")] } };
    const cancel = (): Reply => {
      void place.skein("cancel", runIn(place));
      return HANG;
    };
    const answer = withIncidents(script, { "work:t#1 2": cancel });
    await using place = await makeModelPlace({ answer, sets: { ...SETS, planner: "none" } });
    const { out } = await toTheEnd(place, () => {});
    const { view } = await audit(place);
    checkWords(view, out);
    assert.equal(view.spent.unaccounted.calls, 1);
  });
});
