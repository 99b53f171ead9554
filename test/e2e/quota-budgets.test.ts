/** Tests budgets that are spent during a run: no call is made that exceeds one, and the run says how to go on. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plans, task, writes } from "../support/scripts.ts";
import { attempts, callsFor, failing, makeFaulty, runIn, scriptOf } from "./faulty-runs.ts";

const LIMIT = { timeout: 120_000 };

/** A call of these tasks reserves some 15,000 tokens, and costs some 1,600. */
const RESERVE = { "budget.reserve.tokens": 1_000, workers: 1 };

describe("a budget of the run", () => {
  it(
    "ends it with 1 before the call that does not fit; what was made lands, what is left is said",
    LIMIT,
    async () => {
      const answer = failing(() => undefined, scriptOf("one", "two", "three"));
      const sets = { ...RESERVE, "budget.tokens": 26_000 };
      await using place = await makeFaulty({ wire: "anthropic", answer, sets });
      const ran = await runIn(place);
      assert.equal(ran.code, 1, ran.all);
      const { input, output, calls } = place.server.tokens();
      assert.ok(input + output <= 26_000);
      assert.equal(calls, place.server.calls.length, "no call was begun that could not be paid for");
      assert.equal(ran.view.spent.tokens, input + output);
      assert.equal(callsFor(place.server, "one").length, 2);
      assert.equal(callsFor(place.server, "two").length, 1, "in the middle of its turn");
      assert.equal(callsFor(place.server, "three").length, 0);
      assert.match(
        ran.out,
        /^\S+ {2}Budget used up, except for landing finished work: no other work starts$/m,
      );
      assert.match(ran.out, /^Run \S+ is incomplete: 1 of 3 tasks done/m);
      const left = (26_000 - input - output).toLocaleString("en");
      assert.match(ran.out, new RegExp(`^  budget left: ${left} of 26,000 tokens$`, "m"));
      assert.match(ran.out, /^ {2}not settled: t\.2 \(two\), t\.3 \(three\)$/m);
      assert.match(
        ran.out,
        /^ {2}the budget is spent: raise it and start again; the target keeps what landed$/m,
      );
      assert.equal(await place.repository.git("show", `skein/${ran.run}/target:one.txt`), "good");
    },
  );
});

describe("a budget of a task", () => {
  for (const [key, whose] of [
    ["task", "the budget of long is spent"],
    ["subtree", "the budget of long and everything below it is spent"],
  ] as const)
    it(`(budget.${key}) ends that task, with how to raise it, and no other`, LIMIT, async () => {
      const more = ["1", "2", "3"].map((text) => ({ do: "write", path: "long.txt", text }) as const);
      const script = {
        plans: { t: [plans(task("long"), task("short"))] },
        work: { long: [writes("long.txt", "0", ...more)], short: [writes("short.txt")] },
      };
      const sets = { ...RESERVE, workers: 2, [`budget.${key}.tokens`]: 18_000 };
      await using place = await makeFaulty({ answer: failing(() => undefined, script), sets });
      const ran = await runIn(place);
      assert.equal(ran.code, 1, ran.all);
      const [undone] = ran.view.undone;
      assert.equal(undone?.name, "long");
      assert.ok(undone.reason.startsWith(whose), undone.reason);
      assert.match(ran.out, new RegExp(`^    try: raise the budget of a ${key} \\(budget\\.${key}\\)`, "m"));
      assert.match(ran.out, /^Run \S+ is incomplete: 1 of 2 tasks done/m);
      assert.equal(callsFor(place.server, "short").length, 2);
      const used = callsFor(place.server, "long").reduce(
        (all, { usage }) => all + (usage?.input ?? 0) + (usage?.output ?? 0),
        0,
      );
      assert.ok(used > 0 && used <= 18_000);
      assert.equal(attempts(ran), 2, "it is not tried again for nothing");
    });

  it("in money is refused with 3 where no price is known, and nothing is called", LIMIT, async () => {
    await using place = await makeFaulty({ answer: failing(() => undefined) });
    for (const key of ["budget.dollars", "budget.task.dollars", "budget.subtree.dollars"]) {
      const { code, err } = await place.skein("run", "write", "--set", `${key}=5`);
      assert.equal(code, 3, err);
      assert.ok(
        err.includes(`the price of tests/scripted-1 is not known, so ${key} could not be enforced`),
        err,
      );
      assert.match(err, /^try: set budget\.tokens as well, or set the price/m);
    }
    assert.equal(place.server.calls.length, 0);
  });
});
