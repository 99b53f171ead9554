/** Is what could go wrong said, with what it was seen by, and nothing else? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, factsOf } from "../../../test/plans/parts.ts";
import { planByRules } from "../by-rules.ts";
import { NO_FACTS, type RepositoryFacts } from "../facts.ts";

const shop = factsOf(["src/a.test.ts", "src/a.ts", "src/b.ts", "src/cart/cart.ts"]);
const risks = (request: string, facts: RepositoryFacts = shop) =>
  planByRules(request, around({ facts })).risks;

test("a small change where there are tests has none", () =>
  assert.deepEqual(risks("Rename x to y in src/a.ts"), []));

for (const [request, said] of [
  ["Deploy the shop to production", /production \("production" and "deploy"\)/],
  ["Drop the orders column from the database", /stored data \("database"\)/],
  ["Rotate the API secrets", /security \("secret"\)/],
  ["Make the cart faster", /performance \("faster"\)/],
  ["Run `rm -rf build`", /destroys/],
  ["Print /etc/passwd", /not in the repository: "\/etc\/passwd"/],
] as const)
  test(`${JSON.stringify(request)} is risky, and it is said why`, () =>
    assert.match(risks(request).join("\n"), said));

test("changes without tests are seen late; docs are not", () => {
  const bare = factsOf(["src/a.ts"]);
  assert.match(risks("Fix the parser", bare)[0]!, /No tests were found/);
  assert.deepEqual(risks("Fix the typo in README.md", bare), []);
  assert.deepEqual(risks("Create a parser", NO_FACTS), []);
});

test("a file that many tasks change is named", () => {
  const said = risks("Create src/calc.ts with add, subtract, multiply, divide", NO_FACTS).join("\n");
  assert.match(said, /4 tasks change src\/calc\.ts/);
});

test("a task that stays large is named with the reasons", () => {
  const many = factsOf(Array.from({ length: 6 }, (_, i) => `app/${i}.ts`));
  assert.match(
    risks("Compare app/0.ts, app/1.ts, app/2.ts, app/3.ts, app/4.ts and app/5.ts", many).join("\n"),
    /it reads 6 files/,
  );
});

test("a long chain and a request that was cut are said", () => {
  const chain = Array.from({ length: 7 }, (_, i) => `Fix page ${i} in src/a.ts.`).join(" ");
  assert.match(risks(chain).join("\n"), /7 waves|8 waves/);
  assert.match(
    risks(`Fix the cart. ${"x ".repeat(20_000)}`).join("\n"),
    /characters of the request were not read/,
  );
});

test("of a repository that is too large it is said how much was looked at, as the rest was not counted", () =>
  assert.deepEqual(risks("Rename x to y in src/a.ts", { ...shop, filesLeftOut: 1 }), [
    "Only 4 files of the repository were looked at: there are more.",
  ]));
