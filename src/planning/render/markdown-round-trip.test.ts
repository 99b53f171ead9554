/** Tests that random plans are read back unchanged from their markdown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { arbitraryPlan } from "../../../test/planning/arbitrary-plan.ts";
import { type Random, randomFrom } from "../../simulation/random.ts";
import { parseMarkdown, renderMarkdown } from "./markdown.ts";

const PLANS = 5_000;

test(`${PLANS} plans are read back from their markdown as they were`, () => {
  for (let seed = 0; seed < PLANS; seed++) {
    const plan = arbitraryPlan(randomFrom(seed), { maxTasks: 3, hostile: 0.3 });
    const parsed = parseMarkdown(renderMarkdown(plan));
    assert.deepEqual(parsed.is === "plan" ? parsed.plan : parsed, plan, `seed ${seed}`);
  }
});

test("nothing in it is invisible, whatever the texts of a plan contain", () => {
  for (let seed = 0; seed < PLANS / 5; seed++) {
    const random = randomFrom(seed);
    const plan = arbitraryPlan(random, { maxTasks: 2 });
    const text = renderMarkdown({ ...plan, goal: rough(random), risks: [rough(random)] });
    assert.doesNotMatch(text, /[^\P{C}\n]|[^\S \n]| $/mu, `seed ${seed}`);
  }
});

const ROUGH = [
  ..."\\`*_[]<>#+-|~$&:\"' \t\r\n\v\f\0\u007f\u0085\u00a0\u2028\u2029\u200d\u202e\ufeff\u{1f469}",
  ...["\ud83d", "\udc69", "_none_", "\nRisks", "\n- x", "\n```\n", "&#10;", "a_b", "مرحبا", "a"],
];

const rough = (random: Random): string =>
  Array.from({ length: random.below(6) }, () => random.pick(ROUGH)).join("");
