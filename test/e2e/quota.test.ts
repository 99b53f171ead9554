/** Tests runs whose quota is used up or whose key is refused: they wait, stop and go on; calls are counted. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { quotaExhausted, type Reply, rateLimited, wrongKey } from "../support/model-server/model-server.ts";
import {
  atHandoff,
  attempts,
  blamed,
  callsFor,
  failing,
  makeFaulty,
  ofType,
  ranOf,
  runIn,
  scriptOf,
  WIRES,
} from "./faulty-runs.ts";
import { KEY } from "./model-place.ts";

const LIMIT = { timeout: 120_000 };

describe("a quota that is back soon", () => {
  for (const wire of WIRES)
    it(`is waited for, whoever meets it, and no attempt is spent (${wire})`, LIMIT, async () => {
      let resetAt = 0;
      const answer = failing(({ kind, number, steps, time }, call) => {
        if (time > 1 || number > 1) return undefined;
        // Anthropic tells the end of the limit in whole seconds.
        if (kind === "plan") {
          resetAt = (Math.floor(Date.now() / 1_000) + 2) * 1_000;
          return rateLimited(call.wire, { resetAt });
        }
        return steps === 1 ? rateLimited(call.wire, { retryAfterSeconds: 1 }) : undefined;
      });
      await using place = await makeFaulty({ wire, answer });
      const ran = await runIn(place);
      const { code, out, all, events } = ran;
      assert.equal(code, 0, all);
      const parked =
        /^\S+ {2}tests .* is rate limited until \d\d:\d\d:\d\d \(for \d s\): .* rate limit.*$/gim;
      assert.equal(out.match(parked)?.length, 2, "the planner, and the worker");
      assert.equal(out.match(/^\S+ {2}tests .* is available again$/gm)?.length, 2);
      assert.equal(attempts(ran), 1);
      assert.equal(ofType(events, "plan.rejected").length + ofType(events, "task.retried").length, 0);
      const [, second] = place.server.calls;
      assert.ok(second!.at >= ofType(events, "account.parked")[0]!.until, "not called before");
      assert.equal(place.server.calls.length, 4 + 2, "each refused call once more");
      const { input, output } = place.server.tokens();
      assert.equal(ran.view.spent.tokens, input + output, "waiting costs nothing");
      assert.equal(ran.view.spent.unaccounted.calls, 0);
    });
});

describe("a quota that is back later than one waits for", () => {
  it(
    "ends the run with 75; resume calls nobody before, and then repeats no finished work",
    LIMIT,
    async () => {
      let resetAt = Number.POSITIVE_INFINITY;
      const answer = failing(
        ({ key, steps }, call) => {
          if (key !== "two" || steps !== 1 || Date.now() >= resetAt) return undefined;
          resetAt = Math.min(resetAt, Date.now() + 5_000);
          return rateLimited(call.wire, { retryAfterSeconds: (resetAt - Date.now()) / 1_000 });
        },
        after("one", "two"),
      );
      await using place = await makeFaulty({ answer, sets: { "quota.wait": "1s", ...LOOKS_SOON } });
      const parked = await runIn(place);
      const { run, err, all, code } = parked;
      assert.equal(code, 75, all);
      assert.match(
        err,
        /^skein: tests .* is rate limited until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(in \d s\), and quota\.wait is 1s, so the run stopped \(1 of 2 tasks done, the rest is kept\)$/m,
      );
      assert.match(
        err,
        /^try: skein resume \S+ after .*; or skein resume \S+ --set quota\.wait=1h to wait here$/m,
      );
      const { length: before } = place.server.calls;
      const again = await place.skein("resume", run);
      assert.equal(again.code, 75, "it is known to be used up");
      assert.equal(place.server.calls.length, before, "without asking");
      const status = await place.skein("status", run);
      assert.match(status.out, /^tasks +1 of 2 done/m);
      assert.match(status.out, /^account +tests .* is rate limited until .*Rate limit reached/m);
      const waiting = await place.skein("resume", run, "--set", "quota.wait=1h");
      const resumed = await ranOf(place, waiting, run);
      assert.equal(resumed.code, 0, resumed.all);
      assert.match(resumed.out, /^resuming run \S+, 1 of 2 tasks done/m);
      assert.equal(callsFor(place.server, "one").length, 2, "finished work is not repeated");
      assert.deepEqual(blamed(resumed), []);
      const { input, output } = place.server.tokens();
      assert.equal(resumed.view.spent.tokens, input + output, "what was cut off is counted, too");
    },
  );

  for (const wire of WIRES)
    it(`is one that nobody knows the end of, for want of money or of words (${wire})`, LIMIT, async () => {
      const replies = { money: quotaExhausted(wire), words: rateLimited(wire) };
      const says = {
        money: wire === "anthropic" ? /credit balance is too low/ : /exceeded your current quota/,
        words: /rate limit/i,
      };
      for (const why of ["money", "words"] as const) {
        const answer = failing(atHandoff((): Reply => replies[why], 99));
        await using place = await makeFaulty({ wire, answer, sets: { "quota.wait": "5s" } });
        const { code, out, err, all, events } = await runIn(place);
        assert.equal(code, 75, all);
        assert.match(out, says[why], "in the provider's words");
        assert.match(err, /^skein: tests .* is rate limited until .* and quota\.wait is 5s/m);
        assert.equal(place.server.calls.length, 3, "asked once, and then left alone");
        const [minute = 0] = ofType(events, "account.parked").map(({ until, at }) => until - at);
        assert.ok(minute >= 45_000 && minute <= 60_000, "for about a minute at first");
      }
    });
});

/** A target that has just moved is checked before the run stands still, so the checks come soon. */
const LOOKS_SOON = { "sweep.red": "50ms", "sweep.green": "50ms" };

/** A script of two tasks, of which the second waits for the first. */
const after = (first: string, second: string) => {
  const script = scriptOf(first, second);
  const [{ answer }] = script.plans["t"] as unknown as readonly [
    { readonly answer: { readonly tasks: readonly object[] } },
  ];
  const [one, two] = answer.tasks;
  return { ...script, plans: { t: [{ answer: { ...answer, tasks: [one, { ...two, after: [first] }] } }] } };
};

describe("a key that is refused in the middle of a run", () => {
  it("ends it at once with 5, however many are at work; resume goes on with a right one", LIMIT, async () => {
    const names = ["one", "two", "three", "four"];
    let key: "revoked" | "renewed" = "revoked";
    const answer = failing(
      ({ kind, steps }, { wire }) =>
        kind === "work" && steps > 0 && key === "revoked" ? wrongKey(wire) : undefined,
      scriptOf(...names),
    );
    await using place = await makeFaulty({ wire: "anthropic", answer });
    const { code, run, err, all, view } = await runIn(place);
    assert.equal(code, 5, all);
    assert.match(
      err,
      /^skein: the credentials of tests .* were refused: .*\(HTTP 401\) \(0 of 4 tasks done, the rest is kept\)$/m,
    );
    assert.match(err, /^try: set MODEL_KEY to a key that works, then skein resume \S+$/m);
    assert.ok(!all.includes(KEY));
    assert.ok(place.server.calls.length <= 1 + 4 * 2, "nobody tries it again");
    assert.deepEqual(
      view.accounts.map(({ is }) => is),
      ["refused"],
    );
    const status = await place.skein("status", run);
    assert.match(status.out, /^account +tests.*: credentials refused/m);
    key = "renewed";
    const resumed = await ranOf(place, await place.skein("resume", run), run);
    assert.equal(resumed.code, 0, resumed.all);
    assert.deepEqual(blamed(resumed), []);
  });

  it("is asked for before anything starts, if there is none at all: the planner's, too", LIMIT, async () => {
    await using place = await makeFaulty({ answer: failing(() => undefined) });
    const planner = JSON.stringify({ kind: "model", provider: "anthropic", model: "claude-sonnet-4-5" });
    const { code, err } = await place.skein("run", "write", "--set", `planner=${planner}`);
    assert.equal(code, 5, err);
    assert.match(err, /^skein: there is no key for anthropic: ANTHROPIC_API_KEY is not set$/m);
    assert.match(err, /^try: set ANTHROPIC_API_KEY in the environment/m);
    assert.match((await place.skein("status")).out, /no runs|no run/i);
    assert.equal(place.server.calls.length, 0);
  });
});

describe("a quota that is used up again and again, with answers in between", () => {
  it("is waited for as long as the provider says, each time", LIMIT, async () => {
    const answer = failing(({ kind, time }, call) =>
      kind === "work" && time === 1 ? rateLimited(call.wire, { retryAfterSeconds: 1 }) : undefined,
    );
    await using place = await makeFaulty({ answer, sets: { "quota.wait": "5s" } });
    const ran = await runIn(place);
    assert.equal(ran.code, 0, ran.all);
    assert.equal(
      ofType(ran.events, "account.parked").length,
      2,
      "before its first step, and before its second",
    );
    assert.equal(attempts(ran), 1);
  });
});
