/** Tests that a rate limit holds back every job on its account, and no other, by counting calls at the servers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rateLimited, type SeenCall, startModelServer } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import { plans, task, writes } from "../support/scripts.ts";
import { attempts, blamed, failing, makeFaulty, ofType, ranOf, scriptOf, whereOf } from "./faulty-runs.ts";

const LIMIT = { timeout: 120_000 };
const HOUR_SECONDS = 3_600;

describe("a quota that is used up while 20 are at work", () => {
  it("lets an answer that is under way come to its end before the run stops for it", LIMIT, async () => {
    const goOn = Promise.withResolvers<void>();
    const isUnderWay = Promise.withResolvers<void>();
    const answer = failing(
      async ({ kind, key, steps, time }, { wire }) => {
        if (kind !== "work" || steps !== 1 || time > 1) return undefined;
        if (key === "two") {
          await isUnderWay.promise;
          return rateLimited(wire, { retryAfterSeconds: HOUR_SECONDS });
        }
        isUnderWay.resolve();
        await goOn.promise; // The last answer for "one", which lands after it.
        return undefined;
      },
      scriptOf("one", "two"),
    );
    await using place = await makeFaulty({ answer, sets: { "quota.wait": "1s", "sweep.green": "1s" } });
    const live = place.start("run", "write two files", ...place.settings, "--set", "sweep.red=1s");
    await live.says("is rate limited until");
    goOn.resolve();
    const ran = await ranOf(place, await live.ended);
    assert.equal(ran.code, 75, ran.all);
    assert.equal(ran.view.counts.done, 1, "what was paid for has landed");
    assert.equal(ran.view.spent.unaccounted.calls, 0, "and nothing was cut off");
  });

  it("starts 0 further calls until the reset; then all 20 finish, without a new attempt", LIMIT, async () => {
    const names = Array.from({ length: 20 }, (_, i) => `task-${i + 1}`);
    const script = {
      plans: { t: [plans(...names.map((name) => task(name)))] },
      // Each worker makes three calls: workers in the middle of their second call want to make a third.
      work: Object.fromEntries(
        names.map((name) => [
          name,
          [writes(`${name}.txt`, "half\n", { do: "write", path: `${name}.txt`, text: "whole\n" })],
        ]),
      ),
    };
    const all = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let inTheMiddle = 0;
    let before = 0;
    const answer = failing(async ({ kind, steps, time }, { wire }) => {
      if (kind !== "work" || steps !== 1 || time > 1) return undefined;
      inTheMiddle += 1;
      const isFirst = inTheMiddle === 1;
      if (inTheMiddle === names.length) all.resolve();
      await all.promise;
      if (isFirst) {
        before = place.server.calls.length;
        return rateLimited(wire, { retryAfterSeconds: 2 });
      }
      await goOn.promise;
      return undefined;
    }, script);
    await using place = await makeFaulty({ wire: "anthropic", answer, sets: { workers: 20 } });
    const live = place.start("run", "write 20 files", ...place.settings);
    await live.says("is rate limited until");
    const { calls } = place.server;
    assert.equal(before, 1 + 20 * 2, "the planner's, and two of each: all of them had come before");
    goOn.resolve();
    const ran = await ranOf(place, await live.ended);
    assert.equal(ran.code, 0, ran.all);
    const [parked] = ofType(ran.events, "account.parked");
    const meanwhile = calls.slice(before).filter(({ at }) => at < parked!.until);
    assert.equal(meanwhile.length, 0, "between the refusal and the reset");
    const ofWorkers = calls.filter((call) => whereOf(call).kind === "work");
    assert.equal(ofWorkers.length, 20 * 3 + 1, "the refused one is made again, and nothing else");
    assert.equal(
      calls.filter(({ usage }) => usage === undefined).length,
      1,
      "one refusal was enough for all",
    );
    assert.equal(attempts(ran), 20);
    assert.deepEqual(blamed(ran), []);
    assert.match(ran.out, /^Run \S+ is done: 20 of 20 tasks done/m);
    const { input, output } = place.server.tokens();
    assert.equal(ran.view.spent.tokens, input + output, "to the token");
  });
});

/** A server for another provider, with another wire format. */
const startOther = (answer = playsScript(scriptOf("one", "two"))) =>
  startModelServer({ answer, keys: ["another-key"] });

const otherModel = (url: string) => ({
  provider: "others",
  model: "other-1",
  baseUrl: `${url}/v1`,
  speaks: "anthropic",
  key: "OTHER_KEY",
});

describe("a quota that is used up where there is another account", () => {
  it("is not waited for: the fallback is called instead, in the same turn", LIMIT, async () => {
    await using other = await startOther();
    const answer = failing(
      ({ kind, steps }, { wire }) =>
        kind === "work" && steps === 1 ? rateLimited(wire, { retryAfterSeconds: HOUR_SECONDS }) : undefined,
      scriptOf("one", "two"),
    );
    const fallback = JSON.stringify([otherModel(other.url)]);
    await using place = await makeFaulty({ answer, sets: { workers: 1, "quota.wait": "1m", fallback } });
    const here = place.with({ env: { OTHER_KEY: "another-key" } });
    const ended = await here.skein("run", "write two files", ...place.settings);
    const ran = await ranOf(place, ended);
    assert.equal(ran.code, 0, ran.all);
    assert.match(ran.out, /tests .* is rate limited until .* \(for (59 min|60 min|1 h)/);
    assert.equal(place.server.calls.length, 3, "the plan, one call that was answered, one that was refused");
    assert.deepEqual([...new Set(other.calls.map(({ model }) => model))], ["other-1"]);
    assert.equal(
      other.calls.length,
      1 + 2 + 1,
      "the handoff, the whole second task, the planner's last turn",
    );
    assert.equal(attempts(ran), 2);
    const sum = [place.server.tokens(), other.tokens()].reduce(
      (all, { input, output }) => all + input + output,
      0,
    );
    assert.equal(ran.view.spent.tokens, sum, "both are counted");
  });

  it("parks the workers alone, if the planner has an account of its own", LIMIT, async () => {
    await using other = await startOther();
    const parked = Promise.withResolvers<void>();
    const called = Promise.withResolvers<void>();
    const answer = failing(
      async ({ key, steps, time }, { wire }) => {
        if (steps !== 1 || time > 1) return undefined;
        if (key === "two") {
          await called.promise; // Both calls are under way before the refusal: a call after it would be one too many.
          return rateLimited(wire, { retryAfterSeconds: 4 });
        }
        called.resolve();
        await parked.promise; // The planner's next turn begins with this handoff, while the workers' account is parked.
        return undefined;
      },
      scriptOf("one", "two"),
    );
    await using place = await makeFaulty({ answer, sets: { replanAfter: 1 } });
    const planner = JSON.stringify({ kind: "model", ...otherModel(other.url) });
    const here = place.with({ env: { OTHER_KEY: "another-key" } });
    const live = here.start("run", "write two files", ...place.settings, "--set", `planner=${planner}`);
    await live.says("is rate limited until");
    parked.resolve();
    const ran = await ranOf(place, await live.ended);
    assert.equal(ran.code, 0, ran.all);
    const [trouble, ...more] = ofType(ran.events, "account.parked");
    assert.deepEqual([trouble?.account.split(" ")[0], more], ["tests", []]);
    const meanwhile = ({ at }: SeenCall) => at > trouble!.at && at < trouble!.until;
    assert.ok(other.calls.every(({ tools }) => tools.includes("plan")));
    assert.equal(other.calls.filter(meanwhile).length, 1, "the planner heard of the first task");
    assert.equal(place.server.calls.filter(meanwhile).length, 0);
    assert.equal(attempts(ran), 2);
  });
});
