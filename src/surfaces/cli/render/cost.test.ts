/** Tests how the costs of a run are worded, also if some are unknown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../../test/support/core-run.ts";
import { emptyState } from "../../../core/log/state.ts";
import { budgetTexts } from "../../../core/view/budget-left.ts";
import { spentLabel } from "../../../core/view/labels.ts";
import { nothingSeen, type RunView, see, viewOf } from "../../../core/view/view.ts";
import { callTexts, costRows, unaccountedTexts } from "./cost.ts";

test("a price that is not known is said, and never counted as nothing", () => {
  const spent = { ...emptyState().spent, tokens: 1_200, unpriced: 2 };
  assert.equal(spentLabel(spent), "1,200 tokens, price unknown for 2 jobs");
  assert.equal(
    spentLabel({ ...spent, microdollars: 50_000 }),
    "1,200 tokens, $0.05, price unknown for 2 jobs",
  );
  assert.equal(spentLabel({ ...spent, unpriced: 0 }), "1,200 tokens, $0.00");
  assert.match(spentLabel({ ...spent, tokens: 0, unpriced: 0 }), /not reported/);
});

test("calls that were cut off are listed with what was set aside for them, and not in the sum", () => {
  const unaccounted = { calls: 2, tokens: 9_000, microdollars: 30_000 };
  const spent = { ...emptyState().spent, tokens: 1_200, microdollars: 10_000, unaccounted };
  assert.equal(spentLabel(spent), "at least 1,200 tokens, $0.01");
  assert.deepEqual(unaccountedTexts(spent), [
    "unaccounted: 2 calls cut off before reporting usage; at most 9,000 tokens, $0.03, counted against the budget",
  ]);
  assert.deepEqual(unaccountedTexts(emptyState().spent), []);
});

test("a sum is said to be the least where one of two workers reports nothing", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.work("t.1", { spent: { tokens: 1_000, microdollars: 40_000 } });
  assert.equal(spentLabel(seen(run).spent), "1,000 tokens, $0.04");
  run.work("t.2");
  assert.equal(spentLabel(seen(run).spent), "at least 1,000 tokens, $0.04, 1 attempt reported no cost");
  const silent = CoreRun.planned([task("a")]);
  silent.work("t.1");
  assert.equal(spentLabel(seen(silent).spent), "not reported by the agents");
});

test("what is left of a budget counts what was set aside for calls that were cut off", () => {
  const unaccounted = { calls: 1, tokens: 300, microdollars: 500_000 };
  const spent = { ...emptyState().spent, tokens: 200, microdollars: 1_000_000, unaccounted };
  assert.deepEqual(budgetTexts({ spent }, { tokens: 1_000, dollars: 2 }), [
    "budget left: 500 of 1,000 tokens, $0.50 of $2.00",
  ]);
  assert.deepEqual(budgetTexts({ spent }, { tokens: 0 }), ["budget left: 0 of 0 tokens"]);
  assert.deepEqual(budgetTexts({ spent }, {}), []);
});

test("calls, tokens in and out, and what each task has cost are told, the dearest first", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  const turn = { model: "m", calls: 2, toolCalls: 5, inputTokens: 900, outputTokens: 100, stop: "stop" };
  run.work("t.1", { spent: { tokens: 1_000, microdollars: 4_000, turn } });
  run.work("t.2", { spent: { tokens: 3_000, turn: { ...turn, inputTokens: 2_900 } } });
  const { tally } = seen(run);
  assert.deepEqual(callTexts(tally), ["4 model calls: 3,800 tokens in, 200 out; 10 tool calls"]);
  assert.deepEqual(costRows(tally, 10), [
    ["b", "3,000 tokens", "price unknown"],
    ["a", "1,000 tokens", "$0.0040"],
  ]);
  assert.deepEqual(costRows(tally, 1), [["b", "3,000 tokens", "price unknown"], ["and 1 more task"]]);
});

test("of agents that say nothing of their calls, nothing is said", () => {
  assert.deepEqual(callTexts(seen(CoreRun.planned([task("a")])).tally), []);
});

function seen({ log }: CoreRun): RunView {
  const all = nothingSeen();
  for (const event of log) see(all, event);
  return viewOf(all);
}
