/** Tests how often an agent is asked for a plan, with which reasons, and what its turns cost together. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RULES_PLAN } from "../../../test/support/rules-plan.ts";
import { failure } from "../../core/failure.ts";
import type { Said } from "../../ports/agent.ts";
import type { JudgedPlan } from "./judge-plan.ts";
import { type PlannerTurn, planInTurns } from "./plan-turns.ts";

const GAPS = { is: "refused", reasons: ["a limit is missing"], json: "thin" } as const;

const judge = (text: string): JudgedPlan => {
  if (text === "good") return { is: "plan", plan: RULES_PLAN, warnings: [] };
  if (text === "thin") return { is: "plan", plan: RULES_PLAN, warnings: ["thin"], gaps: GAPS };
  return { is: "refused", reasons: [`${text} is no plan`], json: text };
};

async function played(...words: readonly (string | Said)[]) {
  const turns: PlannerTurn[] = [];
  const told: string[] = [];
  const ask = async (turn: PlannerTurn): Promise<Said> => {
    const word = words[turns.length]!;
    turns.push(turn);
    return typeof word === "string" ? { is: "said", text: word } : word;
  };
  const end = await planInTurns(ask, judge, ({ reasons }, n) => told.push(`${n}: ${reasons.join()}`));
  return { end, turns, told };
}

describe("the turns of an agent that plans", () => {
  it("end with the first plan that is accepted", async () => {
    const { end, turns, told } = await played("good");
    assert.deepEqual(end, { is: "plan", plan: RULES_PLAN, warnings: [], turns: 1 });
    assert.deepEqual([turns, told], [[{ number: 1 }], []]);
  });

  it("begin with what was wrong with the last answer, and with that answer", async () => {
    const { end, turns, told } = await played("bad", "worse", "good");
    assert.equal(end.is === "plan" && end.turns, 3);
    assert.deepEqual(
      turns.map(({ refused }) => refused && [refused.json, refused.reasons]),
      [undefined, ["bad", ["bad is no plan"]], ["worse", ["worse is no plan"]]],
    );
    assert.deepEqual(told, ["1: bad is no plan", "2: worse is no plan"]);
  });

  it("are three at most", async () => {
    const { end, turns } = await played("1", "2", "3", "good");
    assert.deepEqual(end, { is: "refused", reasons: ["3 is no plan"], turns: 3 });
    assert.equal(turns.length, 3);
  });

  it("send a plan back once that left something out, and keep it in case nothing better follows", async () => {
    const mended = await played("thin", "good");
    assert.deepEqual(mended.end, { is: "plan", plan: RULES_PLAN, warnings: [], turns: 2 });
    assert.deepEqual(mended.turns[1], { number: 2, refused: GAPS });
    const again = await played("thin", "thin", "good");
    assert.deepEqual(again.end, { is: "plan", plan: RULES_PLAN, warnings: ["thin"], turns: 2 });
    assert.equal((await played("thin", "bad", "worse")).end.is, "plan");
    assert.equal((await played("bad", "worse", "thin")).end.is, "plan", "no turn is left to mend it");
    const gone = await played("thin", { is: "failed", failure: failure("quota", "nothing left") });
    assert.deepEqual([gone.end.is, gone.end.turns], ["plan", 2]);
    const stopped = await played("thin", { is: "failed", failure: failure("cancelled", "stop") });
    assert.equal(stopped.end.is, "failed");
  });

  it("end at once where one comes to nothing, with what was known before", async () => {
    const why = failure("quota", "nothing left");
    const { end, turns } = await played("bad", { is: "failed", failure: why });
    assert.deepEqual(end, { is: "failed", failure: why, reasons: ["bad is no plan"], turns: 2 });
    assert.equal(turns.length, 2);
  });

  it("go on after one that the agent spoilt itself, until there have been three", async () => {
    const spoilt: Said = { is: "failed", failure: failure("agent-failed", "it wrote too much") };
    const mended = await played(spoilt, "good");
    assert.equal(mended.end.is === "plan" && mended.end.turns, 2);
    assert.deepEqual(mended.turns[1]?.refused?.reasons, ["it wrote too much"]);
    const { end } = await played(spoilt, "bad", spoilt, "good");
    assert.deepEqual([end.is, end.turns], ["failed", 3]);
  });

  it("are paid for together; a price that is not known of one is not known of all", async () => {
    const said = (text: string, spent: NonNullable<Said["spent"]>): Said => ({ is: "said", text, spent });
    const priced = await played(
      said("bad", { tokens: 10, microdollars: 5 }),
      said("worse", { tokens: 20, microdollars: 7, unaccounted: { calls: 1, tokens: 9 } }),
      said("good", { tokens: 1, microdollars: 1, unaccounted: { calls: 1, tokens: 1, microdollars: 2 } }),
    );
    const unaccounted = { calls: 2, tokens: 10 };
    assert.deepEqual(priced.end.spent, { tokens: 31, microdollars: 13, unaccounted });
    const unpriced = await played(said("bad", { tokens: 10, microdollars: 5 }), said("good", { tokens: 2 }));
    assert.deepEqual(unpriced.end.spent, { tokens: 12 });
  });
});
