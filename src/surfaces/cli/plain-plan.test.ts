import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Command } from "commander";
import { type Random, randomFrom } from "../../simulation/random.ts";
import { type PlainPlan, plainPlan } from "./plain-plan.ts";
import { addPlan } from "./verbs/plan.ts";

/** What the library makes of it; undefined if it refuses, or something else than a plan is meant. */
function byLibrary(args: readonly string[]): PlainPlan | undefined {
  const program = new Command("skein").option("--json").exitOverride();
  program.configureOutput({ writeOut: () => {}, writeErr: () => {} });
  addPlan(program, async () => {});
  let found: PlainPlan | undefined;
  const plan = program.commands.find((one) => one.name() === "plan")!;
  for (const one of [plan, ...plan.commands])
    one.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  plan.action((request: string, options: object) => {
    found = { ...options, request };
  });
  try {
    program.parse(args, { from: "user" });
  } catch {
    return undefined;
  }
  return found;
}

const WORDS = [
  ...[
    "--json",
    "--markdown",
    "--mermaid",
    "--force",
    "--ask",
    "--no-ask",
    "--out",
    "--max-concurrent",
    "--repo",
  ],
  ...[
    "--by",
    "rules",
    "--help",
    "-h",
    "--",
    "-",
    "check",
    "a b",
    "plan.json",
    "4",
    "",
    "--out=x",
    "-V",
    "--agent-prefix",
  ],
];

const lineFrom = (random: Random): readonly string[] => [
  "plan",
  ...Array.from({ length: random.between(0, 6) }, () => random.pick(WORDS)),
];

describe("a plan that is asked for plainly", () => {
  test("means what the library would have read, whatever it is asked for with", () => {
    const random = randomFrom(7);
    let understood = 0;
    for (let i = 0; i < 4_000; i += 1) {
      const line = lineFrom(random);
      const plain = plainPlan(line);
      if (plain === undefined) continue;
      understood += 1;
      assert.deepEqual(plain, byLibrary(line), JSON.stringify(line));
    }
    assert.ok(understood > 100, `only ${understood} were understood`);
  });

  test("is understood with every option that people use with it", () => {
    const line = [
      "plan",
      "add a search",
      "--out",
      "plan.json",
      "--no-ask",
      "--max-concurrent",
      "4",
      "--by",
      "rules",
      "--json",
    ];
    assert.deepEqual(plainPlan(line), {
      request: "add a search",
      out: "plan.json",
      ask: false,
      maxConcurrent: "4",
      by: "rules",
    });
  });

  test("is left to the library where there is anything else", () => {
    for (const line of [
      ["plan"],
      ["plan", "check"],
      ["plan", "a", "b"],
      ["plan", "a", "--help"],
      ["run", "a"],
    ])
      assert.equal(plainPlan(line), undefined, line.join(" "));
    for (const line of [
      ["plan", "a", "--by"],
      ["plan", "a", "--agent", "x"],
      ["plan", "a", "--out"],
      ["plan", "-"],
      ["plan", "a", "--out", "--json"],
    ])
      assert.equal(plainPlan(line), undefined, line.join(" "));
  });
});
