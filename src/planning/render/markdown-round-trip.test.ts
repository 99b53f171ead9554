import assert from "node:assert/strict";
import { test } from "node:test";
import { arbitraryPlan } from "../../../test/planning/arbitrary-plan.ts";
import { type Random, randomFrom } from "../../simulation/random.ts";
import type { ExecutionPlan } from "../plan.ts";
import { renderMarkdown } from "./markdown.ts";
import { draftOf } from "./markdown-draft.ts";
import { sectionsOf } from "./markdown-sections.ts";
import { parseMarkdown } from "./parse-markdown.ts";

const PLANS = 5_000;

test(`${PLANS} plans are read back from their markdown as they were`, () => {
  for (let seed = 0; seed < PLANS; seed++) {
    const plan = arbitraryPlan(randomFrom(seed), { maxTasks: 3, hostile: 0.3 });
    const parsed = parseMarkdown(renderMarkdown(plan));
    assert.deepEqual(parsed.is === "plan" ? parsed.plan : parsed, plan, `seed ${seed}`);
  }
});

const ROUGH_PLANS = 2_000;

test("any text at all is read back, also from a file that an editor or git has been at", () => {
  for (let seed = 0; seed < ROUGH_PLANS; seed++) {
    const random = randomFrom(seed);
    const plan = roughened(arbitraryPlan(random, { maxTasks: 2 }), random);
    const text = renderMarkdown(plan);
    // Nothing that cannot be seen, nor at a line's end, where it would be cut off.
    assert.doesNotMatch(text, /[^\P{C}\n]|[^\S \n]| $/mu, `seed ${seed}`);
    for (const same of [text, `\ufeff${text.replaceAll("\n", "\r\n")}`]) {
      const sections = sectionsOf(same)!;
      const { value, problems } = draftOf(sections);
      assert.deepEqual(problems, [], `seed ${seed}`);
      assert.deepEqual(JSON.parse(JSON.stringify(value)), plan, `seed ${seed}`);
    }
  }
});

/** The same plan with other texts, which no reader of plan files would let pass. */
function roughened(plan: ExecutionPlan, random: Random): ExecutionPlan {
  const ids = new Map(plan.tasks.map(({ id }, index) => [id, `${rough(random)}${index}`]));
  const other = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => other(one, key));
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, other(one, name)]));
    return typeof value === "string" ? (ids.get(value) ?? rough(random)) : value;
  };
  return other(plan, "") as ExecutionPlan;
}

const ROUGH = [
  ..."\\`*_{}[]()<>#+-.!|~$&;:=\"'%@^0123456789 \t\r\n\v\f\0\u007f\u0085\u00a0\u2028\u2029\u200d\u202e\ufeff\u{1f469}",
  ...[
    "\ud83d",
    "\udc69",
    "_none_",
    "_empty_",
    "\nRisks",
    "\n- x",
    "\n```\n",
    "&#10;",
    "&#x41;",
    "a_b",
    "__proto__",
  ],
  ...[
    "\n→ CONTINUE TO EXECUTION",
    "\n### Wave 9",
    "Goal: x",
    "TaskCreate:",
    "none",
    "1.",
    "1)",
    "~~~",
    "مرحبا",
    "a",
  ],
];

const rough = (random: Random): string =>
  Array.from({ length: random.below(6) }, () => random.pick(ROUGH)).join("");
