/** Tests faults of a model's provider on whole runs: what the run does, and what a person reads. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  overloaded,
  overloadedInStream,
  type Reply,
  type SeenCall,
  serverError,
} from "../support/model-server/model-server.ts";
import { attempts, callsFor, failing, makeFaulty, runIn, scriptOf, WIRES } from "./faulty-runs.ts";
import type { ModelPlace } from "./model-place.ts";

const LIMIT = { timeout: 120_000 };

type Faults = Readonly<Record<string, (call: SeenCall) => Reply>>;

const SAYING: Reply = { text: "I was about to say something." };

/** Faults by the name of the task that meets them. */
const PASSING = {
  broken: ({ wire }) => serverError(wire),
  busy: ({ wire }) => overloaded(wire),
  "busy-midway": ({ wire }) => overloadedInStream(wire, SAYING),
  cut: () => ({ fault: { is: "cut", afterPieces: 3, reply: SAYING } }),
  garbled: () => ({ fault: { is: "garbage" } }),
  "no-json": () => ({ fault: { is: "bad-arguments", tool: "handoff", arguments: "{ no" } }),
  "wrong-shape": () => ({ fault: { is: "bad-arguments", tool: "write", arguments: '{"file": 3}' } }),
} as const satisfies Faults;

const named = Object.keys(PASSING);

describe("a fault that passes", () => {
  for (const wire of WIRES)
    it(`is got over within the turn, and nothing is tried anew (${wire})`, LIMIT, async () => {
      const faults: Faults = PASSING;
      const answer = failing(
        ({ kind, key, steps, time }, call) =>
          kind === "work" && steps === 1 && time === 1 ? faults[key]?.(call) : undefined,
        scriptOf(...named),
      );
      await using place = await makeFaulty({ wire, answer });
      const ran = await runIn(place);
      const { code, out, all, view } = ran;
      assert.equal(code, 0, all);
      assert.match(out, /^Run \S+ is done: 7 of 7 tasks done/m);
      assert.equal(attempts(ran), 7, "one for each task");
      for (const name of named) assert.equal(callsFor(place.server, name).length, 3, `${name}: one in vain`);
      const { input, output } = place.server.tokens();
      assert.equal(view.spent.tokens, input + output, "to the token");
      assert.match(out, /^ {2}unaccounted: 3 calls cut off before reporting usage; /m);
      assert.deepEqual(
        view.tally.costs
          .filter((cost) => cost.unaccounted.calls > 0)
          .map(({ name }) => name)
          .sort(),
        ["busy-midway", "cut", "garbled"],
      );
      toldOfItsMistake(place, "no-json", /JSON|parse/i);
      toldOfItsMistake(place, "wrong-shape", /content|path/);
    });
});

/** The call after the mistake contains the error, in words that the model can use. */
function toldOfItsMistake({ server }: ModelPlace, name: string, words: RegExp): void {
  const results = callsFor(server, name)
    .at(-1)
    ?.messages.flatMap(({ toolResults }) => toolResults);
  assert.equal(results?.length, 2);
  assert.match(results.at(-1)?.text ?? "", words);
}

/** For each fault: what the report says, and how many calls its attempt made, with the first call, which went well. */
const LASTING = {
  broken: {
    fault: PASSING.broken,
    says: /could not be reached \(HTTP 500\): Internal server error/,
    calls: 8,
  },
  busy: { fault: PASSING.busy, says: /could not be reached \(HTTP 529\): Overloaded/, calls: 8 },
  cut: { fault: PASSING.cut, says: /could not be reached: the connection was lost in the middle/, calls: 8 },
  garbled: { fault: PASSING.garbled, says: /could not be reached: JSON parsing failed/, calls: 8 },
  endless: {
    fault: (): Reply => ({ fault: { is: "endless", maxBytes: 4_000_000 } }),
    says: /wrote more than 262144 characters and was cut off/,
    calls: 2,
  },
  "no-json": {
    fault: PASSING["no-json"],
    says: /called handoff with invalid input, 10 times in a row/,
    calls: 11,
  },
} as const;

describe("a fault that lasts", () => {
  it("ends its task in words, after a bounded number of calls; what others made lands", LIMIT, async () => {
    const faults: Readonly<Record<string, { readonly fault: (call: SeenCall) => Reply }>> = LASTING;
    const tasks = Object.keys(LASTING);
    const answer = failing(
      ({ kind, key, steps }, call) => (kind === "work" && steps > 0 ? faults[key]?.fault(call) : undefined),
      scriptOf("fine", ...tasks),
    );
    const sets = { "retry.maxFailed": 1, "retry.maxUnreachable": 1, "retry.max": "40ms" };
    await using place = await makeFaulty({ wire: "anthropic", answer, sets });
    const { code, out, all, view, run } = await runIn(place);
    assert.equal(code, 1, all);
    assert.match(out, /^Run \S+ is incomplete: 1 of 7 tasks done/m);
    assert.match(out, /^Not done \(6\)$/m);
    for (const [name, { says, calls }] of Object.entries(LASTING)) {
      const reason = view.undone.find((undone) => undone.name === name)?.reason ?? "";
      assert.match(reason, says);
      assert.ok(out.includes(`  ${name} failed: ${reason.slice(0, 60)}`), `${name} is in the report`);
      assert.match(reason, /its work is kept \(skein salvage\)/);
      assert.equal(callsFor(place.server, name, 1).length, calls, name);
    }
    assert.match(out, /^ {4}try: see whether the model's provider answers$/m);
    const { git } = place.repository;
    assert.equal(await git("show", `skein/${run}/target:fine.txt`), "good");
    assert.equal(await git("show", `refs/skein/salvage/${run}/t.6.1:endless.txt`), "good", "nothing is lost");
    const { input, output } = place.server.tokens();
    assert.equal(view.spent.tokens, input + output, "to the token");
  });
});

describe("a model that says nothing", () => {
  it(
    "is stopped when it hangs, its work kept, and tried again; one that is slow is left alone",
    LIMIT,
    async () => {
      const slowly: Reply = {
        text: "one word after the other ".repeat(6),
        tools: [{ name: "handoff", input: { status: "complete", summary: "slowly" } }],
      };
      const answer = failing(
        ({ key, number, steps }) => {
          if (steps !== 1) return undefined;
          if (key === "hanging" && number === 1) return { fault: { is: "hang" } };
          return key === "slow" ? { fault: { is: "drip", ms: 100, reply: slowly } } : undefined;
        },
        scriptOf("hanging", "slow"),
      );
      const sets = { "quiet.warn": "1s", "quiet.stop": "2500ms", "timeout.grace": 0 };
      await using place = await makeFaulty({ answer, sets });
      const { code, out, all, run } = await runIn(place);
      assert.equal(code, 0, all);
      assert.match(out, /^\S+ {2}hanging has shown no activity for 1 s$/m);
      assert.match(
        out,
        /^\S+ {2}hanging, attempt 1: it gave no sign of life for 3 s \(no word, no step, no changed file\) and was stopped; its work is kept \(skein salvage\); retrying$/m,
      );
      assert.equal(await place.repository.git("show", `refs/skein/salvage/${run}/t.1.1:hanging.txt`), "good");
      assert.match(out, /hanging \(attempt 2\)/);
      assert.doesNotMatch(out, /slow \(attempt 2\)|slow has shown no activity/);
      assert.match(out, /^ {2}unaccounted: 1 call cut off/m);
    },
  );
});
