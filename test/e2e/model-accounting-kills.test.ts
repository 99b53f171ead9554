/** Tests that the cost of a run that was stopped, killed or cancelled within a turn is exact but for the cut calls. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Script } from "../../src/ports/agent-script.ts";
import type { Started } from "./cli-place.ts";
import { audit, checkWords } from "./model-accounting.ts";
import { HANG, type Incidents, SETS, task, toTheEnd, withIncidents, writes } from "./model-lives.ts";
import { makeModelPlace } from "./model-place.ts";

describe("the cost of a run", { concurrency: 2, timeout: 150_000 }, () => {
  for (const wire of ["openai-chat", "anthropic"] as const)
    it(`is exact over ${wire} but for calls that were cut, when it is stopped and killed`, async () => {
      const tasks = [task("a"), task("b", ["a"])];
      const script: Script = {
        plans: { t: [{ answer: { scratchpad: "", tasks } }] },
        work: { a: [writes("a")], b: [writes("b")] },
      };
      let live: Started | undefined;
      const kill = () => {
        live!.kill("SIGKILL");
        return HANG;
      };
      const stop = () => {
        void place.skein("stop");
        return HANG;
      };
      const killBetween = () => ({
        tools: [{ name: "bash", input: { command: `kill -9 ${live!.pid}; sleep 60` } }],
      });
      const incidents: Incidents = {
        "plan:t#1 1": kill,
        "work:t.1#1 2": kill,
        "work:t.1#2 2": killBetween,
        "work:t.1#3 2": stop,
        "work:t.2#1 1": stop,
        "work:t.2#2 1": killBetween,
      };
      await using place = await makeModelPlace({
        wire,
        answer: withIncidents(script, incidents),
        sets: SETS,
      });
      const { code, out, err } = await toTheEnd(place, (started) => {
        live = started;
      });
      assert.equal(code, 0, out + err);
      const { view, missing } = await audit(place);
      checkWords(view, out);
      const cut = [...missing].flatMap(([job, calls]) => calls.map(() => job));
      assert.deepEqual(cut, ["plan:t#1", "work:t.1#1", "work:t.1#3", "work:t.2#1"]);
      assert.equal(view.spent.unaccounted.calls, 4);
      const { input, output, calls } = place.server.tokens();
      assert.equal(view.spent.tokens, input + output, "what was answered to its end is in the sum");
      assert.equal(view.tally.calls.calls, calls);
    });
});
