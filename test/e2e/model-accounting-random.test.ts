/** Tests that a run's cost stays right when the engine is killed at random moments, chosen by a seed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Script } from "../../src/ports/agent-script.ts";
import type { Answerer } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import type { Started } from "./cli-place.ts";
import { audit, checkWords, counted } from "./model-accounting.ts";
import { SETS, task, toTheEnd, writes } from "./model-lives.ts";
import { makeModelPlace } from "./model-place.ts";

const NAMES = ["a", "b", "c", "d", "e"];
const MAX_KILLS = 5;
/** The time between the pieces of an answer; an answer has some dozen pieces. */
const DRIP_MS = 6;

const script: Script = {
  plans: {
    t: [{ answer: { scratchpad: "", tasks: NAMES.map((name) => task(name)) } }],
  },
  work: Object.fromEntries(NAMES.map((name) => [name, [writes(name)]])),
};

describe("the cost of a run that is killed at random moments", { timeout: 150_000 }, () => {
  for (const [seed, wire] of [[20_261_116, "openai-chat"]] as const)
    it(`is exact but for the calls that are listed, over ${wire}`, async (t) => {
      const random = randomFrom(seed);
      let live: Started | undefined;
      let callsLeft = Number.POSITIVE_INFINITY;
      let kills = 0;
      const plays = counted(playsScript(script));
      const answer: Answerer = async (call, signal) => {
        callsLeft -= 1;
        // The kill comes during this call or shortly after it. The first kill always comes during a call, also on a
        // busy machine.
        const afterMs = kills === 1 ? 0 : Math.floor(random() * 200);
        if (callsLeft === 0 && afterMs === 0) live!.kill("SIGKILL");
        else if (callsLeft === 0) setTimeout(() => live!.kill("SIGKILL"), afterMs);
        return { fault: { is: "drip", ms: DRIP_MS, reply: await plays(call, signal) } };
      };
      const sets = { ...SETS, workers: 3 };
      await using place = await makeModelPlace({ wire, answer, sets });
      const { code, out, err } = await toTheEnd(place, (started) => {
        live = started;
        callsLeft = kills < MAX_KILLS ? 1 + Math.floor(random() * 4) : Number.POSITIVE_INFINITY;
        kills += 1;
      });
      assert.equal(code, 0, out + err);
      const { view, missing } = await audit(place);
      checkWords(view, out);
      const cut = [...missing.values()].flat();
      const heard = cut.filter(({ usage }) => usage !== undefined).length;
      t.diagnostic(
        `${kills - 1} kills, ${place.server.calls.length} calls, ${view.spent.unaccounted.calls} unaccounted, ` +
          `${heard} of them answered to the end`,
      );
      assert.ok(kills > 3 && cut.length > 0, "the kills fell into calls");
      assert.ok(view.spent.tokens > 0);
    });
});

/** A generator of numbers from 0 to 1 that are the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
