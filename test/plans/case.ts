/** Checks a request's plan against properties: number of tasks, order, scope and coverage; it compares no snapshot. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { withBuiltIn } from "../../src/delegation/specialist-table.ts";
import { planByRules } from "../../src/planning/by-rules.ts";
import { factsFrom } from "../../src/planning/facts.ts";
import { readPlan } from "../../src/planning/files/read-plan.ts";
import { lintPlan } from "../../src/planning/lint.ts";
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import { parseMarkdown, renderMarkdown } from "../../src/planning/render/markdown.ts";
import { checkCoverage } from "./coverage.ts";
import { around } from "./parts.ts";

export type Case = {
  /** What the case shows. */
  readonly why: string;
  /** The request as lines, or as one text. */
  readonly request: string | readonly string[];
  /** A name in repositories.json; "shop" by default. */
  readonly repository?: string;
  readonly maxConcurrent?: number;
  readonly answers?: Readonly<Record<string, string>>;
  readonly prefix?: string;
  readonly is: Properties;
};

/** Properties that are left out are not checked. Lists have one entry for each task. */
export type Properties = {
  /** The number of tasks in each wave; their sum is the number of tasks. */
  readonly waves: readonly number[];
  /** Words in each subject. */
  readonly subjects?: readonly string[];
  readonly blockedBy?: readonly (readonly string[])[];
  readonly scope?: readonly (readonly string[])[];
  readonly reads?: readonly (readonly string[])[];
  readonly agents?: readonly string[];
  readonly delivers?: readonly ("change" | "report")[];
  readonly outputs?: readonly (string | null)[];
  /** Words in each description. */
  readonly says?: readonly string[];
  /** Words that the description of every task contains. */
  readonly shared?: readonly string[];
  /** Entries among the requirements of every task. */
  readonly requires?: readonly string[];
  /** Words in the question; false: there is no question. */
  readonly question?: string | false;
  readonly assumptions?: readonly string[];
  readonly risks?: readonly string[];
};

const HERE = import.meta.dirname;
const readJson = <T>(name: string) => JSON.parse(readFileSync(path.join(HERE, name), "utf8")) as T;

type Repository = {
  readonly files: readonly string[];
  readonly bytes?: number;
  readonly testCommand?: string;
};
const REPOSITORIES = readJson<Readonly<Record<string, Repository>>>("repositories.json");

export const casesIn = (file: string): readonly Case[] => readJson(path.join("cases", file));

export const requestOf = ({ request }: Case): string =>
  typeof request === "string" ? request : request.join("\n");

export function planOf(given: Case): ExecutionPlan {
  const { repository = "shop", maxConcurrent = 8, answers = {}, prefix } = given;
  const { files, bytes = 2_000, testCommand } = REPOSITORIES[repository]!;
  const facts = factsFrom(
    files.map((file) => ({ path: file, bytes })),
    testCommand,
  );
  return planByRules(
    requestOf(given),
    around({
      ...{ facts, maxConcurrent, answers: new Map(Object.entries(answers)) },
      ...(prefix === undefined ? {} : { prefix }),
    }),
  );
}

export function checkCase(given: Case): void {
  const plan = planOf(given);
  checkProperties(plan, given.is);
  checkCoverage(requestOf(given), plan);
  checkAsFile(plan, given);
  checkWaveList(plan);
}

function checkProperties({ tasks, questions, assumptions, risks }: ExecutionPlan, is: Properties): void {
  const same = <T>(wanted: readonly T[] | undefined, found: readonly T[]) =>
    wanted && assert.deepEqual(found, wanted);
  const sizes = Map.groupBy(tasks, ({ metadata }) => metadata.wave);
  same(
    is.waves,
    [...sizes.keys()].sort((a, b) => a - b).map((wave) => sizes.get(wave)!.length),
  );
  for (const [at, words] of (is.subjects ?? []).entries())
    assert.ok(tasks[at]!.subject.includes(words), tasks[at]!.subject);
  for (const [at, words] of (is.says ?? []).entries())
    assert.ok(tasks[at]!.description.includes(words), tasks[at]!.description);
  same(
    is.blockedBy,
    tasks.map(({ blockedBy }) => blockedBy),
  );
  same(
    is.scope,
    tasks.map(({ scope }) => scope),
  );
  same(
    is.reads,
    tasks.map(({ reads }) => reads),
  );
  same(
    is.agents,
    tasks.map(({ metadata }) => metadata.agent),
  );
  same(
    is.delivers,
    tasks.map(({ delivers }) => delivers),
  );
  same(
    is.outputs,
    tasks.map(({ metadata }) => metadata.output_file ?? null),
  );
  for (const words of is.shared ?? [])
    for (const { description } of tasks) assert.ok(description.includes(words), description);
  for (const words of is.requires ?? [])
    for (const { requirements } of tasks) assert.ok(requirements.includes(words), requirements.join("\n"));
  if (is.question === false) assert.deepEqual(questions, []);
  else if (is.question !== undefined) assert.ok(questions[0]?.question.includes(is.question));
  for (const words of is.assumptions ?? []) assert.ok(assumptions.join("\n").includes(words));
  for (const words of is.risks ?? []) assert.ok(risks.join("\n").includes(words), risks.join("\n"));
}

/** Every task has a line of its own in its wave: no sums, no ranges, no "4 files". */
function checkWaveList(plan: ExecutionPlan): void {
  const [, list = ""] = renderMarkdown(plan).split(/^#+ Wave Breakdown$/m);
  const lines = list
    .split(/^#+ (?!Wave)/m)[0]!
    .split("\n")
    .filter((line) => / -> /.test(line.replaceAll("\\", "")));
  assert.equal(lines.length, plan.tasks.length, list.slice(0, 500));
}

/** The plan reads back as it is, from JSON and from markdown, and lint finds no errors but open questions. */
function checkAsFile(plan: ExecutionPlan, { prefix, repository = "shop" }: Case): void {
  const { files } = REPOSITORIES[repository]!;
  const found = lintPlan(plan, { agents: withBuiltIn([]), files });
  assert.deepEqual(
    found.filter(({ level, place }) => level === "error" && !place.startsWith("questions")),
    [],
  );
  const read = readPlan(JSON.stringify(plan));
  assert.ok(read.is === "plan", JSON.stringify(read));
  assert.deepEqual(read.notes, []);
  // A prefix is for other tools; Skein's own plans are read without one.
  if (prefix === undefined) assert.deepEqual(read.plan, plan);
  const markdown = parseMarkdown(renderMarkdown(plan));
  assert.deepEqual(markdown.is === "plan" ? markdown.plan : markdown, read.plan);
}
