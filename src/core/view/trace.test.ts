/** Tests the spans of a run for OpenTelemetry. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import type { JobId } from "../job.ts";
import { emptyTrace, isComplete, jobSpans, runSpan, type Trace, traceEvent } from "./trace.ts";

const NOTHING = { calls: [], tools: [], gates: [] };

function traceOf(run: CoreRun): Trace {
  const trace = emptyTrace();
  for (const event of run.log) traceEvent(trace, event);
  return trace;
}

const spanOf = (run: CoreRun, job: string) => jobSpans(traceOf(run), job as JobId, NOTHING)[0];

it("says why an attempt failed, and not that a later landing of it was refused", () => {
  const run = CoreRun.planned([task("a")]);
  run.fail("work", "t.1");
  run.wait(MINUTE);
  run.work("t.1");
  run.wait(1);
  run.land([{ task: "t.1", files: ["a.ts"], against: "target" } as never]);
  assert.equal(spanOf(run, "work:t.1#1")?.attributes["error.type"], "agent-failed");
  assert.equal(spanOf(run, "work:t.1#2")?.attributes["error.type"], undefined);
  const landing = spanOf(run, "land#1")!;
  assert.deepEqual(landing.attributes["skein.landing.tasks"], ["t.1"]);
  assert.equal(landing.attributes["skein.landing.proof"], undefined);
});

it("puts each token on one span: the job's, where its calls are not known", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  const turn = {
    model: "google/gemini/x",
    calls: 2,
    toolCalls: 0,
    inputTokens: 7,
    outputTokens: 3,
    stop: "stop",
  };
  run.work("t.1", { spent: { tokens: 10, turn } });
  run.work("t.2", { spent: { tokens: 12 } });
  const { attributes } = spanOf(run, "work:t.1#1")!;
  assert.equal(attributes["gen_ai.usage.input_tokens"], 7);
  assert.equal(attributes["gen_ai.usage.output_tokens"], 3);
  assert.equal(attributes["gen_ai.provider.name"], "gcp.gemini");
  assert.equal(attributes["gen_ai.request.model"], "gemini/x");
  assert.equal(attributes["skein.usage.tokens"], undefined);
  assert.equal(spanOf(run, "work:t.2#1")?.attributes["skein.usage.tokens"], 12);
  const usage = { input: 7, output: 3, cacheRead: 0 };
  const known = { ...NOTHING, calls: [{ call: 1, model: "google/x", usage }] };
  const [job, chat] = jobSpans(traceOf(run), "work:t.1#1" as JobId, known);
  assert.equal(job?.attributes["gen_ai.usage.input_tokens"], undefined);
  assert.equal(chat?.attributes["gen_ai.usage.input_tokens"], 7);
  assert.deepEqual(
    [chat?.from, chat?.to],
    [job?.from, job?.to],
    "a call of an older Skein has the job's time",
  );
});

it("names the machine of a fleet that took the job last", () => {
  const run = CoreRun.planned([task("a"), task("b")], { offerMs: MINUTE });
  for (const machine of ["m1", "m2"])
    run.say({ type: "taken", job: "work:t.1#1" as JobId, machine, tries: 0, agoMs: 0 });
  run.work("t.1");
  run.work("t.2");
  assert.equal(spanOf(run, "work:t.1#1")?.attributes["skein.machine.name"], "m2");
  assert.ok(!("skein.machine.name" in spanOf(run, "work:t.2#1")!.attributes));
});

it("waits for what an expired job cost, and keeps the time at which it expired", () => {
  const run = CoreRun.planned([task("a")]);
  const before = traceOf(run).jobs.byId.get("work:t.1#1" as JobId)!;
  assert.ok(!isComplete(before));
  run.wait(run.policy.leaseMs.work + MINUTE);
  const expired = traceOf(run).jobs.byId.get("work:t.1#1" as JobId)!;
  assert.equal(expired.how, "expired");
  assert.ok(!isComplete(expired));
  run.answer("work:t.1#1", run.worked("t.1"), { tokens: 5 });
  const late = traceOf(run).jobs.byId.get("work:t.1#1" as JobId)!;
  assert.ok(isComplete(late));
  assert.equal(late.to, expired.to);
  assert.equal(spanOf(run, "work:t.1#1")?.attributes["skein.usage.tokens"], 5);
});

it("links a task to the planner's turn that asked for it", () => {
  const run = CoreRun.planned([task("a")]);
  run.work("t.1");
  const span = spanOf(run, "work:t.1#1")!;
  assert.equal(span.link, "plan:t#1");
  assert.equal(span.parent, runSpan(traceOf(run))?.key);
});

it("shows by the machine's clock, whatever it was set to meanwhile", () => {
  const run = CoreRun.planned([task("a")]);
  const from = spanOf(run, "plan:t#1")!.from;
  run.say({ type: "clock-jumped", ms: 3_600_000 });
  run.wait(10);
  run.work("t.1");
  const span = spanOf(run, "work:t.1#1")!;
  assert.equal(span.to - span.from, 3_600_010);
  assert.equal(spanOf(run, "plan:t#1")!.from, from);
});
