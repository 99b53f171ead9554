/** Tests the subjects and active forms of tasks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuMs } from "../../test/support/cpu.ts";
import { activeFormOf, subjectOf } from "./wording.ts";

const CONTINUOUS =
  "create creating, make making, run running, set setting, fix fixing, write writing, tie tying, debug debugging, " +
  "see seeing, free freeing, plan planning, format formatting, visit visiting, edit editing, open opening, " +
  "test testing, quit quitting, sync syncing, log logging, use using, queue queuing, deploy deploying, add adding, " +
  "stop stopping, dye dyeing, refer referring, offer offering, copy copying, mimic mimicking, re-run re-running, " +
  "show showing, relax relaxing, program programming, do doing, be being, read reading, upgrade upgrading";

test("a verb's present continuous is spelled right", () => {
  for (const pair of CONTINUOUS.split(", ")) {
    const [verb, form] = pair.split(" ");
    assert.equal(activeFormOf(verb!), form);
  }
});

test("the active form keeps all but the verb, and both verbs of a pair", () => {
  assert.equal(activeFormOf("Create project structure"), "Creating project structure");
  assert.equal(activeFormOf("Set up CI"), "Setting up CI");
  assert.equal(activeFormOf("Find and fix the leak"), "Finding and fixing the leak");
  assert.equal(activeFormOf("Add search and filters"), "Adding search and filters");
  assert.equal(activeFormOf("Lint"), "Linting");
});

test("what begins with no verb is worked on", () => {
  assert.equal(activeFormOf("Dark mode", false), "Working on Dark mode");
  assert.equal(activeFormOf("ログイン画面"), "Working on ログイン画面");
  assert.equal(activeFormOf(""), "Working on ");
});

test("a subject is one short line that ends at a word", () => {
  const subject = subjectOf(`fix\tthe\u0000 \u202Ereally ${"very ".repeat(100)}long thing.`, 80);
  assert.match(subject, /^Fix the really very .* very…$/);
  assert.ok(subject.length <= 80, `${subject.length}`);
  assert.equal(subjectOf("fix it...", 80), "Fix it");
  assert.equal(subjectOf("", 80), "");
  assert.equal(subjectOf(`${"a".repeat(79)}😀`, 80).isWellFormed(), true);
});

test("names that begin a sentence keep their letters", () => {
  assert.equal(subjectOf("iOS build", 80), "iOS build");
  assert.equal(subjectOf("src/a.ts is wrong", 80), "src/a.ts is wrong");
  assert.equal(subjectOf("élargir", 80), "Élargir");
});

test("100,000 blanks or marks take no time to speak of", () => {
  const start = cpuMs();
  for (const text of [" ".repeat(100_000), ".".repeat(100_000), ", ".repeat(50_000)]) subjectOf(text, 80);
  assert.ok(cpuMs() - start < 500);
});
