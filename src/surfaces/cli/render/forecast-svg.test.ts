import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultPolicy } from "../../../core/rules/policy.ts";
import type { ExecutionPlan, PlanTask } from "../../../planning/plan.ts";
import { assume, NOTHING_LEARNT } from "../../../simulation/assumed.ts";
import { type SpeedUp, speedUp } from "../../../simulation/speed-up.ts";
import { forecastText } from "./forecast.ts";
import { forecastSvg } from "./forecast-svg.ts";

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

/** Tags that are opened and closed in order, with nothing between them that XML cannot hold. */
function checkXml(xml: string): void {
  const open: string[] = [];
  let at = 0;
  for (const { 0: tag, index } of xml.matchAll(
    /<\/?[a-z]+(?: [a-zA-Z-]+(?::[a-z]+)?="[^"<&]*(?:&[a-z#0-9]+;[^"<&]*)*")*\/?>/g,
  )) {
    const between = xml.slice(at, index);
    assert.doesNotMatch(between, /[<>]|&(?!amp;|lt;|gt;|quot;|#39;)/);
    at = index + tag.length;
    const name = /[a-z]+/.exec(tag)![0];
    if (tag.startsWith("</")) assert.equal(open.pop(), name);
    else if (!tag.endsWith("/>")) open.push(name);
  }
  assert.deepEqual(open, []);
  assert.equal(xml.slice(at), "\n");
  assert.ok(xml.isWellFormed());
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  assert.doesNotMatch(xml, /[\u0000-\u0009\u000b-\u001f]/);
}

test("the picture is XML without scripts, whatever the plan says, with a bar for each attempt", async () => {
  const { useful, forecast, critical } = await found();
  const names = new Set(critical.tasks);
  const svg = forecastSvg({ title: plan.goal, timeline: forecast, workers: useful, critical: names });
  checkXml(svg);
  assert.doesNotMatch(svg, /<script|href|<foreignObject|\son\w+=/);
  assert.match(svg, /&lt;script&gt;alert/);
  const count = (pattern: RegExp) => svg.match(pattern)?.length ?? 0;
  assert.equal(count(/<rect class="lane"/g), useful);
  // One more of each is in the legend.
  assert.equal(count(/<rect class="(?:bar|critical|lost)"/g), forecast.bars.length + 3);
  assert.equal(count(/<rect class="critical"/g), critical.tasks.length + 1);
  assert.equal(count(/class="landing" d=/g), forecast.landings.length + 1);
  assert.match(svg, /prefers-color-scheme: dark/);
});

test("a bar without room for its name has none, instead of its first letter", async () => {
  const { forecast } = await found();
  const short = { lane: 0, attempt: 1, isLost: false, fromMs: 0 };
  const bars = [
    { ...short, task: "parser", toMs: forecast.makespanMs / 50 },
    { ...short, task: "printer", toMs: forecast.makespanMs / 10 },
  ];
  const timeline = { ...forecast, bars };
  const svg = forecastSvg({ title: "x", timeline, workers: 1, critical: new Set() });
  assert.deepEqual(svg.match(/(?<=class="on">)[^<]+/g), ["printer"]);
});

test("a task that has only a number is shown with what it is", async () => {
  const numbered = { ...plan, tasks: [{ ...taskOf("1", []), subject: "Add the parser" }] };
  const result = await speedUp({ plan: numbered, assumed: assume(NOTHING_LEARNT), policy: defaultPolicy });
  if ("failure" in result) throw new Error(result.failure.message);
  const page = forecastText(numbered, result, []).flatMap(({ lines }) => lines);
  assert.equal(page.filter((line) => line.startsWith("1 Add the parser  ")).length, 2);
  const svg = forecastSvg({ title: "x", timeline: result.forecast, workers: 1, critical: new Set() });
  assert.deepEqual(svg.match(/(?<=class="on">)[^<]+/g), ["1 Add the parser"]);
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
