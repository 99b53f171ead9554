/** Tests a run inside a program: its landings, unreadable answers, and cancelling by a signal. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { CoreRun } from "../../test/support/core-run.ts";
import { systemClock } from "../adapters/clocks/system.ts";
import { MemoryEventLog } from "../adapters/event-logs/memory.ts";
import { InProcessJobQueue } from "../adapters/job-queues/in-process.ts";
import type { Event } from "../core/log/event.ts";
import type { Agent, Ask } from "../ports/agent.ts";
import { runEmbedded } from "./run-embedded.ts";

const TASK = { id: "a", description: "make a", acceptance: "it is there", scope: ["a.ts"] };

/** `work`: what the worker answers, a text or an object. */
async function embedded(
  work: (ask: Ask, signal: AbortSignal) => unknown,
  signal = new AbortController().signal,
) {
  const run = CoreRun.green({ retry: { maxFailed: 1 } });
  const agent: Agent = {
    turn: async (ask, ending) => {
      const { brief } = ask;
      const said =
        brief.kind === "plan"
          ? { scratchpad: "", tasks: brief.first ? [TASK] : [] }
          : await work(ask, ending);
      return { is: "said", text: typeof said === "string" ? said : JSON.stringify(said) };
    },
    collect: async () => undefined,
  };
  const log = new MemoryEventLog();
  const seen: Event[] = [];
  const end = await runEmbedded(
    { history: run.log, policy: run.policy, watch: (event) => void seen.push(event) },
    { agent, log, clock: systemClock(), queue: (job) => new InProcessJobQueue(job) },
    signal,
  );
  return { end, seen, landed: seen.some(({ type }) => type === "batch.landed"), text: JSON.stringify(seen) };
}

describe("a run inside a program", () => {
  it("lands what its worker says it has changed, without a repository", async () => {
    const { end, landed, text } = await embedded(() => ({
      ...{ status: "complete", summary: "made it", filesChanged: ["a.ts"] },
    }));
    assert.ok(end.is === "closed" && end.state.closed?.how === "done");
    assert.ok(landed);
    assert.match(text, /"filesChanged":\["a\.ts"\]/);
  });

  it("takes no answer for done that cannot be read, or names files outside of the project", async () => {
    for (const [answer, why] of [
      ["", /returned nothing/],
      ["I did it", /a text with no handoff in it/],
      [{ status: "complete", summary: "s", filesChanged: ["../b.ts"] }, /files that cannot be meant/],
    ] as const) {
      const { end, landed, text } = await embedded(() => answer);
      assert.ok(end.is === "closed" && end.state.closed?.how !== "done", String(answer));
      assert.equal(landed, false);
      assert.match(text, why);
    }
  });

  it("is cancelled by its signal, with the reason, and so are its functions", async () => {
    const stop = new AbortController();
    const { end, text } = await embedded(async (_ask, ending) => {
      const isEnding = once(ending, "abort");
      stop.abort(new Error("no time left"));
      await isEnding;
      return "stopped";
    }, stop.signal);
    assert.ok(end.is === "closed" && end.state.closed?.how === "cancelled");
    assert.match(text, /aborted: no time left/);
  });
});
