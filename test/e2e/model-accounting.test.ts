/** Tests that a run reports exactly the cost that its model's server counted, also with calls that were repeated. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Script } from "../../src/ports/agent-script.ts";
import type { Answerer } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import { audit, checkWords, counted } from "./model-accounting.ts";
import { SETS, task, writes } from "./model-lives.ts";
import { type ModelPlace, makeModelPlace } from "./model-place.ts";

const started = ({ skein, settings }: ModelPlace) => skein("run", "write some files", ...settings);

describe("what a run says that it cost", { concurrency: 2, timeout: 120_000 }, () => {
  for (const wire of ["openai-chat", "anthropic"] as const)
    it(`is what the server counted over ${wire}, with everything that was tried again`, async () => {
      const script: Script = {
        plans: {
          t: [
            { text: "I shall think about it" },
            { text: JSON.stringify({ scratchpad: "", tasks: [task("a"), task("a")] }) },
            { answer: { scratchpad: "", tasks: [task("a"), task("b"), task("c")] } },
          ],
        },
        work: {
          a: [writes("a", "partial"), writes("a")],
          b: [{ ...writes("b"), end: "silent" }],
          c: [writes("c")],
        },
      };
      const refused = new Set<number>();
      const answer: Answerer = (call, signal) => {
        if (call.n % 5 !== 2) return playsScript(script)(call, signal);
        refused.add(call.n);
        return { fault: { is: "status", status: 500 } };
      };
      await using place = await makeModelPlace({ wire, answer: counted(answer), sets: SETS });
      const { code, out, err } = await started(place);
      assert.equal(code, 0, out + err);
      const { view, missing } = await audit(place, refused);
      checkWords(view, out);
      const { input, output, calls } = place.server.tokens();
      assert.equal(view.spent.tokens, input + output);
      assert.equal(view.tally.calls.calls, calls);
      assert.deepEqual([...missing.values()].flat(), []);
      assert.equal(view.spent.unaccounted.calls, 0);
      const kinds = view.setbacks.map(({ failure }) => failure.kind);
      assert.deepEqual(kinds.sort(), ["incomplete", "not-a-planner", "plan-unreadable"]);
      assert.ok(refused.size >= 3);
    });
});
