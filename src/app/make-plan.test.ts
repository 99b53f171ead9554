/** Tests how a plan is made by rules or by an agent, and what a person is asked before. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { defaultConfig } from "../config/read.ts";
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import { readOwnData } from "../planning/data-schema.ts";
import { NO_FACTS } from "../planning/facts.ts";
import type { AgentLooks } from "../ports/agent-looks.ts";
import type { MakePlanParts } from "./ask-planner.ts";
import { type MakePlanRequest, makePlan } from "./make-plan.ts";

const NEVER = new AbortController().signal;
const file = (name: string) => ({
  file: name,
  text: readFileSync(new URL(`../../planning/${name}`, import.meta.url), "utf8"),
});
const data = readOwnData({ words: file("words.json"), limits: file("limits.json") });
assert.ok("words" in data);

const REQUEST: MakePlanRequest = {
  request: "Build user auth with login, logout, register",
  grounds: {
    top: "/here",
    facts: NO_FACTS,
    data,
    agents: [],
    assumptions: ["Nothing was seen."],
    notices: [],
  },
  maxConcurrent: 4,
  isNamed: false,
  isOff: false,
  read: { config: defaultConfig(), origins: {}, notices: [] },
  person: () => undefined,
  consent: () => undefined,
  say: () => {},
  onAgent: () => NEVER,
};

const looks = {
  programs: { unstartable: async () => failure("agent-unreachable", "not there") },
  models: { servers: async () => [], prices: async () => ({ asOf: "", cost: () => 2_500_000 }) },
};
const parts: MakePlanParts = {
  env: { ANTHROPIC_API_KEY: "k" },
  agents: looks as unknown as AgentLooks,
  openProject: async () => ({ failure: failure("repository", "no repository here") }),
  alone: async () => assert.fail("nobody is asked"),
};

describe("a plan that is asked for", () => {
  it("is made by rules where that is said, with what could not be seen among its assumptions", async () => {
    const made = await makePlan({ ...REQUEST, by: "rules" }, parts, NEVER);
    assert.ok(!hasFailed(made));
    assert.equal(made.plan.tasks.length, 3);
    assert.ok(made.plan.assumptions.includes("Nothing was seen."));
    assert.equal(made.byRules, undefined);
  });

  it("says who was found and not asked, because nobody could agree to that", async () => {
    const made = await makePlan(REQUEST, parts, NEVER);
    assert.ok(!hasFailed(made));
    assert.equal(made.byRules?.kind, "agent-not-asked");
    assert.match(made.notices[0] ?? "", /ANTHROPIC_API_KEY is set, but anthropic\/\S+ was not asked/);
  });

  it("asks a person before it calls a found agent, with the most that it can cost", async () => {
    const offers: string[] = [];
    let closed = 0;
    const agrees = (answer: boolean) => () => ({
      agrees: async (offer: string) => offers.push(offer) > 0 && answer,
      close: async () => {
        closed += 1;
      },
    });
    const declined = await makePlan({ ...REQUEST, consent: agrees(false) }, parts, NEVER);
    assert.ok(!hasFailed(declined) && declined.byRules === undefined);
    assert.match(
      offers[0] ?? "",
      /Ask anthropic\/\S+ for the plan\? At most \d turns and .* tokens \(\$2\.50\)/,
    );
    const agreed = await makePlan({ ...REQUEST, consent: agrees(true) }, parts, NEVER);
    assert.ok(hasFailed(agreed) && agreed.because === "repository", "then its repository is needed");
    assert.equal(closed, 2);
  });
});
