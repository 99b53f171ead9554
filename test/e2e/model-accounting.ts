/** Compares a run's cost with what the model's server counted: job by job in the log, and in `show` and the report. */
import assert from "node:assert/strict";
import type { Spent } from "../../src/core/job.ts";
import type { Event, EventOf } from "../../src/core/log/event.ts";
import { nothingSeen, type RunView, see, viewOf } from "../../src/core/view/view.ts";
import type { Answerer, SeenCall, Usage } from "../support/model-server/model-server.ts";
import { PLACE, placeIn } from "../support/place.ts";
import type { ModelPlace } from "./model-place.ts";

/** Dollars for a million tokens. Whole numbers, so that sums lose no fraction of a cent. */
const PRICE = { input: 30, output: 150, cacheRead: 10 };
export const PRICES = JSON.stringify({ "tests/scripted-1": PRICE });

/** Each call has a different cost, so that no call can pass for another; a part of each input came from the cache. */
export const counted =
  (answer: Answerer): Answerer =>
  async (call, signal) => {
    const reply = await answer(call, signal);
    if ("fault" in reply) return reply;
    return { ...reply, usage: { input: 1_000 + call.n * 37, output: 10 + call.n, cached: call.n * 29 } };
  };

export type Audited = {
  readonly view: RunView;
  /** The output of `skein show`. */
  readonly text: string;
  /** Calls that the server saw and that are not in the cost, by the job that made them. */
  readonly missing: ReadonlyMap<string, readonly SeenCall[]>;
};

/** `refused`: the numbers of the calls that the server refused. */
export async function audit(place: ModelPlace, refused: ReadonlySet<number> = new Set()): Promise<Audited> {
  // Called in this process: a command that only reads needs no process of its own.
  const { out: log } = await place.skein("logs", "--json");
  const lines = log.trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line) as Event);
  const costs = costsIn(events.filter((event) => event.type === "job.ended"));
  const calls = place.server.calls.filter(({ n }) => !refused.has(n));
  const missing = new Map<string, readonly SeenCall[]>();
  for (const [job, made] of Map.groupBy(calls, jobOf)) missing.set(job, checkJob(job, made, costs.get(job)));
  const view = viewOf(events.reduce(see, nothingSeen()));
  checkSums(view, [...costs.values()]);
  const shown = JSON.parse((await place.skein("show", view.run, "--json")).out) as Pick<RunView, "tally">;
  assert.deepEqual(shown.tally, view.tally);
  const { out: text } = await place.skein("show", view.run);
  checkWords(view, text);
  return { view, text, missing };
}

/** Each job's cost is in the log at most once, whatever the job's outcome was. */
function costsIn(ends: readonly EventOf<"job.ended">[]): ReadonlyMap<string, Spent> {
  const costs = new Map<string, Spent>();
  for (const { job, spent } of ends) {
    if (!spent) continue;
    assert.ok(!costs.has(job), `${job} was charged twice`);
    costs.set(job, spent);
  }
  return costs;
}

/** The job (turn or attempt) of a call, from the newest message that Skein wrote. */
export function jobOf({ n, messages }: SeenCall): string {
  const asked = messages.findLast(({ role, text }) => role === "user" && PLACE.test(text));
  assert.ok(asked, `call ${n} is about no task`);
  const { task, number } = placeIn(asked.text)!;
  return `${/^Turn: /m.test(PLACE.exec(asked.text)![0]) ? "plan" : "work"}:${task}#${number}`;
}

/** A turn makes its calls one after the other, so the calls in its cost are the first ones that were answered. */
function checkJob(job: string, made: readonly SeenCall[], spent: Spent | undefined): readonly SeenCall[] {
  assert.ok(spent, `${job} made ${made.length} calls, and its cost is not in the log`);
  const answered = made.filter(({ usage }) => usage !== undefined).slice(0, spent.turn?.calls);
  assert.equal(answered.length, spent.turn?.calls, `${job}: no call is in the sum that was not answered`);
  assert.equal(spent.tokens, sum(answered, tokensOf), job);
  assert.equal(spent.microdollars, sum(answered, priceOf), job);
  const missing = made.filter((call) => !answered.includes(call));
  const { calls = 0, tokens = 0, microdollars = 0 } = spent.unaccounted ?? {};
  // The list may have one call more: it was written down, and the kill came before it was made.
  assert.ok(calls === missing.length || calls === missing.length + 1, `${job}: ${calls} calls are listed`);
  assert.ok(tokens >= sum(missing, tokensOf) && microdollars >= sum(missing, priceOf), `${job} is bounded`);
  return missing;
}

const sum = (calls: readonly SeenCall[], of: (usage: Usage) => number): number =>
  calls.reduce((all, { usage }) => all + (usage ? of(usage) : 0), 0);

const tokensOf = ({ input, output }: Usage) => input + output;
export const priceOf = ({ input, output, cached }: Usage) =>
  (input - cached) * PRICE.input + cached * PRICE.cacheRead + output * PRICE.output;

function checkSums({ spent, tally }: RunView, costs: readonly Spent[]): void {
  const total = (of: (cost: Spent) => number | undefined) =>
    costs.reduce((all, cost) => all + (of(cost) ?? 0), 0);
  assert.equal(
    spent.tokens,
    total(({ tokens }) => tokens),
  );
  assert.equal(
    spent.microdollars,
    total(({ microdollars }) => microdollars),
  );
  assert.equal(spent.unpriced, 0);
  assert.equal(
    tally.calls.calls,
    total(({ turn }) => turn?.calls),
  );
  assert.equal(tally.calls.inputTokens + tally.calls.outputTokens, spent.tokens);
  assert.deepEqual(spent.unaccounted, {
    calls: total(({ unaccounted }) => unaccounted?.calls),
    tokens: total(({ unaccounted }) => unaccounted?.tokens),
    microdollars: total(({ unaccounted }) => unaccounted?.microdollars),
  });
  for (const what of ["tokens", "microdollars"] as const)
    assert.equal(
      tally.costs.reduce((all, cost) => all + cost[what], 0),
      spent[what],
      "tasks together have cost what the run has",
    );
}

/** Checks the sums as people read them. */
export function checkWords({ spent, tally: { calls } }: RunView, text: string): void {
  const shown = [
    `${number(spent.tokens)} tokens, $${(spent.microdollars / 1e6).toFixed(2)}`,
    `${number(calls.calls)} ${calls.calls === 1 ? "model call" : "model calls"}: ${number(calls.inputTokens)} tokens in, ${number(calls.outputTokens)} out`,
    ...(spent.unaccounted.calls === 0 ? [] : [`unaccounted: ${spent.unaccounted.calls} call`]),
    ...(spent.unaccounted.calls === 0 ? [] : [`${number(spent.unaccounted.tokens)} tokens`]),
  ];
  for (const words of shown) assert.ok(text.includes(words), `${words}\nis not in\n${text}`);
}

const number = (n: number) => n.toLocaleString("en");
