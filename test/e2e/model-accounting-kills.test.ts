/** What is known of a run's cost when it was stopped, killed or cancelled in the middle of a turn? All but the cut calls. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Script } from "../../src/core/agent-script.ts";
import type { Answerer, Reply, SeenCall } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import type { Ended, Started } from "./cli-place.ts";
import { audit, checkWords, counted, jobOf, PRICES } from "./model-accounting.ts";
import { type ModelPlace, makeModelPlace } from "./model-place.ts";

const SETS = { gate: "none", prices: PRICES, "retry.first": "1ms", "retry.max": "1ms", sandbox: "off" };
const HANG: Reply = { fault: { is: "hang" } };

const task = (id: string, after: readonly string[] = []) => ({
  ...{ id, description: `write ${id}.txt`, scope: [`${id}.txt`], acceptance: "it is there", after },
});
const writes = (id: string) => ({
  steps: [{ do: "write", path: `${id}.txt`, text: `${id}\n` } as const],
  end: { handoff: { status: "complete", summary: `wrote ${id}` } },
});

/** What happens when a call comes, by its job and its place in the turn: "work:t.1#1 2" is the second. */
type Incidents = Readonly<Record<string, (call: SeenCall) => Reply>>;

function withIncidents(script: Script, incidents: Incidents): Answerer {
  const made = new Map<string, number>();
  return counted((call, signal) => {
    const job = jobOf(call);
    made.set(job, (made.get(job) ?? 0) + 1);
    const incident = incidents[`${job} ${made.get(job)}`];
    return incident ? incident(call) : playsScript(script)(call, signal);
  });
}

/** Again and again, until it ends by itself. */
async function toTheEnd(place: ModelPlace, onStart: (live: Started) => void): Promise<Ended> {
  let live = place.start("run", "write some files", ...place.settings);
  for (let lives = 0; lives < 12; lives += 1) {
    onStart(live);
    const ended = await live.ended;
    if (ended.code === 0 || ended.code === 1) return ended;
    live = place.start("resume");
  }
  throw new Error("it was resumed so often, and has no end");
}

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
        void place.ask("stop");
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
