/** Tests how a forecast is worded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultPolicy } from "../../../core/rules/policy.ts";
import type { ExecutionPlan, PlanTask } from "../../../planning/plan.ts";
import { assume, NOTHING_LEARNT } from "../../../simulation/assumed.ts";
import { type SpeedUp, speedUp } from "../../../simulation/speed-up.ts";
import { forecastText } from "./forecast.ts";

const taskOf = (id: string, blockedBy: readonly string[], dollars?: number): PlanTask => ({
  id,
  subject: id,
  description: id,
  activeForm: id,
  blockedBy,
  scope: ["src/shared.ts", `src/${blockedBy.length}.ts`],
  reads: [],
  delivers: "change",
  requirements: [],
  ...(dollars !== undefined && { estimate: { dollars } }),
  metadata: { wave: 0, phase_id: id, agent: "general-purpose", parallel: true, depth: 1 },
});

const HOSTILE = '<script>alert("1")</script>&\u0000\u001b[31m\ud800]]>\'';

const plan: ExecutionPlan = {
  skein_plan: 1,
  goal: HOSTILE,
  planner: "rules",
  max_concurrent: 3,
  success_criteria: [],
  assumptions: [],
  questions: [],
  context: { files: [], patterns: [], tests: [] },
  risks: [],
  tasks: [taskOf(HOSTILE, []), taskOf("b", [], 1.25), taskOf("c", ["b"])],
};

async function found(): Promise<SpeedUp> {
  const result = await speedUp({ plan, assumed: assume(NOTHING_LEARNT), policy: defaultPolicy });
  if ("failure" in result) throw new Error(result.failure.message);
  return result;
}

test("a task that has only a number is shown with what it is", async () => {
  const numbered = { ...plan, tasks: [{ ...taskOf("1", []), subject: "Add the parser" }] };
  const result = await speedUp({ plan: numbered, assumed: assume(NOTHING_LEARNT), policy: defaultPolicy });
  if ("failure" in result) throw new Error(result.failure.message);
  const page = forecastText(numbered, result, []).flatMap(({ lines }) => lines);
  assert.equal(page.filter((line) => line.startsWith("1 Add the parser  ")).length, 2);
});

test("a forecast in which something stays undone says so beside the numbers", async () => {
  const tasks = [{ ...taskOf("a", []), estimate: { minutes: 100_000 } }];
  const endless = { ...plan, tasks };
  const result = await speedUp({
    plan: endless,
    assumed: assume(NOTHING_LEARNT),
    policy: defaultPolicy,
  });
  if ("failure" in result) throw new Error(result.failure.message);
  const [numbers] = forecastText(endless, result, []);
  assert.match(numbers!.lines.join("\n"), /price unknown\n\nNot everything would be done.*$/);
});

test("a forecast in words names the useful number, the critical path, the hot file and what is not known", async () => {
  const sections = forecastText(plan, await found(), ["work: a guess"]);
  const page = sections.flatMap(({ title, lines }) => [title, ...lines]).join("\n");
  assert.match(page, /^workers +time +speed-up +efficiency +conflicts +gate runs +cost$/m);
  assert.match(page, /^1 +█+ +\S.*1\.0 × +100 %.*600,000 tokens, \$1\.25 and 2 jobs of unknown price$/m);
  assert.match(page, /enough|useful/);
  assert.match(page, /^Critical path: 22 min 00 s/m);
  assert.match(page, /^src\/shared\.ts +3 tasks +\d+ min \d\d s waited/m);
  assert.match(page, /^work: a guess$/m);
  assert.doesNotMatch(page, /\p{Cc}(?<!\n)/u);
});
