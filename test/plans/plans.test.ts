/** Does every request of the collection still give the plan that was reviewed? With --write, the plans as they are now. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { BUILT_IN_SPECIALISTS } from "../../src/delegation/specialist-table.ts";
import { planByRules } from "../../src/planning/by-rules.ts";
import { factsFrom } from "../../src/planning/facts-from.ts";
import { readPlan } from "../../src/planning/files/read-plan.ts";
import { lintPlan } from "../../src/planning/lint.ts";
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import { wavesOf } from "../../src/planning/waves.ts";
import { around } from "./parts.ts";

type Repository = {
  readonly files: readonly string[];
  readonly bytes?: number;
  readonly manifests?: Record<string, string>;
};

/** A text, or how a long one is made. */
type Request =
  | string
  | { readonly begins: string; readonly repeats: string; readonly times: number; readonly ends?: string };

type Case = {
  /** What it shows. */
  readonly why: string;
  readonly request: Request;
  /** One of repositories.json. */
  readonly repository: string;
  readonly maxConcurrent?: number;
  readonly answers?: Record<string, string>;
  readonly prefix?: string;
  readonly plan?: ExecutionPlan;
};

const HERE = import.meta.dirname;
const readJson = <T>(...parts: string[]) => JSON.parse(readFileSync(path.join(HERE, ...parts), "utf8")) as T;
const REPOSITORIES = readJson<Record<string, Repository>>("repositories.json");
const FILES = ["seed", "own"].flatMap((folder) =>
  readdirSync(path.join(HERE, folder))
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => path.join(folder, name)),
);

const textOf = (request: Request) =>
  typeof request === "string"
    ? request
    : request.begins + request.repeats.repeat(request.times) + (request.ends ?? "");

const data = around().data;

function planOf({ request, repository, maxConcurrent = 8, answers = {}, prefix }: Case): ExecutionPlan {
  const { files, bytes = 2_000, manifests = {} } = REPOSITORIES[repository]!;
  const facts = factsFrom(
    files.map((file) => ({ path: file, bytes })),
    new Map(Object.entries(manifests)),
  );
  return planByRules(
    textOf(request),
    around({
      data,
      facts,
      maxConcurrent,
      answers: new Map(Object.entries(answers)),
      ...(prefix === undefined ? {} : { prefix }),
    }),
  );
}

if (process.argv.includes("--write")) writePlans();
else {
  for (const file of FILES) {
    const given = readJson<Case>(file);
    test(`${file}: ${given.why}`, () => {
      const plan = planOf(given);
      assert.deepEqual(JSON.parse(JSON.stringify(plan)), given.plan);
      checkWhole(plan);
      checkAsFile(plan, given);
    });
  }

  test("the collection has every worked example and 40 requests of its own", () => {
    assert.ok(FILES.filter((file) => file.startsWith("seed")).length >= 8);
    assert.ok(FILES.filter((file) => file.startsWith("own")).length >= 40);
  });
}

/** What holds for every plan, whatever it says. */
function checkWhole({ tasks, score }: ExecutionPlan): void {
  const ids = new Set(tasks.map(({ id }) => id));
  assert.equal(ids.size, tasks.length);
  const waves = wavesOf(tasks);
  assert.equal(waves.is, "waves");
  for (const { id, blockedBy, subject, metadata, description, delivers, scope } of tasks) {
    assert.ok(blockedBy.every((before) => ids.has(before)));
    assert.equal(metadata.wave, waves.is === "waves" ? waves.byId.get(id) : -1);
    assert.ok(subject.length > 0 && subject.length <= 80, subject);
    assert.doesNotMatch(subject + description, /\p{Cc}/u);
    assert.ok(metadata.depth >= score!.min_depth);
    assert.ok(delivers === "change" || scope.length === 0);
  }
  const outputs = tasks.flatMap(({ metadata }) => metadata.output_file ?? []);
  assert.equal(new Set(outputs).size, outputs.length);
}

/** It reads back as it is, and the only thing that may be wrong with it is that something must be answered. */
function checkAsFile(plan: ExecutionPlan, { prefix, repository }: Case): void {
  const { files } = REPOSITORIES[repository]!;
  const found = lintPlan(plan, { agents: BUILT_IN_SPECIALISTS, files });
  const errors = found.filter(({ level, place }) => level === "error" && !place.startsWith("questions"));
  assert.deepEqual(errors, []);
  const read = readPlan(JSON.stringify(plan));
  assert.ok(read.is === "plan");
  // A prefix is for others; ours is read without.
  if (prefix === undefined) assert.deepEqual(read.plan, plan);
}

function writePlans(): void {
  if (process.env["CI"]) throw new Error("plans are written for review by a person, not in CI");
  for (const file of FILES) {
    const { plan: _, ...given } = readJson<Case>(file);
    writeFileSync(path.join(HERE, file), `${JSON.stringify({ ...given, plan: planOf(given) }, null, 2)}\n`);
  }
}
