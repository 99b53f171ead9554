import assert from "node:assert/strict";
import { test } from "node:test";
import { WORDS } from "../../../test/support/reading.ts";
import { readRequest } from "../reading/read-request.ts";
import { scoreOf } from "./score.ts";

const score = (request: string) => scoreOf(readRequest(request, WORDS), WORDS);

const COUNTED: readonly (readonly [request: string, counted: Partial<ReturnType<typeof score>>])[] = [
  ["Create calculator with add, subtract, multiply, divide", { verbs: 2, connectors: 2, total: 4, tier: 1 }],
  ["Build user auth with login, logout, register", { verbs: 2, connectors: 2, domain: 2, total: 6, tier: 2 }],
  ["Implement CRUD operations", { verbs: 2, total: 2, tier: 1 }],
  ["Review 16 agent files", { verbs: 2, scope: 3, total: 5, tier: 2 }],
  ["Fix the typo", { verbs: 2, connectors: 0, total: 2, tier: 1 }],
  ["Fix the typo and rename `deploy and migrate`", { verbs: 4, connectors: 2, risk: 0 }],
  ["Fix a, b, c. Add d. Write e. Move f. Send g. Print h.", { verbs: 10 }],
  ["Add a and b and c and d and e and f", { connectors: 8 }],
  ["Redesign the architecture", { domain: 2 }],
  ["Redesign the architecture, encrypt the tokens, integrate Stripe", { domain: 5 }],
  ["Edit src/a.ts and src/b.ts", { scope: 3 }],
  ["Edit every module", { scope: 3 }],
  ["Connect the frontend to the backend", { scope: 3 }],
  ["Edit the files of the frontend and the backend", { scope: 6 }],
  ["Migrations ran slowly in production: speed up the slow ones", { risk: 5 }],
  ["", { total: 0, tier: 1, min_depth: 1 }],
  ["dark mode", { verbs: 0, total: 0, tier: 1 }],
];

for (const [request, counted] of COUNTED) {
  test(`counts ${JSON.stringify(request)}`, () => {
    const found = score(request);
    for (const [key, value] of Object.entries(counted))
      assert.equal(found[key as keyof typeof found], value, key);
    const { verbs, connectors, domain, scope, risk, total, tier, min_depth } = found;
    assert.equal(total, verbs + connectors + domain + scope + risk);
    assert.equal(min_depth, tier);
  });
}

test("tier 2 is from 5 to 15", () => {
  const at = (request: string) => {
    const { total, tier } = score(request);
    return `${total}: ${tier}`;
  };
  assert.equal(at("Fix the typo and the link"), "4: 1");
  assert.equal(at("Edit src/a.ts or src/b.ts"), "5: 2");
  assert.equal(
    at("Fix a bug. Edit b. Write c. Move d. Send e. Add the api, the cli and the slow parts"),
    "16: 3",
  );
  assert.equal(at("Fix a bug. Edit b. Write c. Move d. Send e. Add the api and the cli"), "15: 2");
});

test("a team's own thresholds decide", () => {
  const reading = readRequest("Fix the typo", WORDS);
  assert.equal(scoreOf(reading, WORDS, { tier2From: 0, tier3Above: 1 }).tier, 3);
});
