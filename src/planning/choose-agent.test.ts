/** Tests that each task gets the specialist whose keywords it mentions, and a read-only agent no task that writes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withBuiltIn } from "../delegation/specialist-table.ts";
import { chooserOf } from "./choose-agent.ts";
import type { Draft } from "./turns.ts";

const choose = chooserOf(withBuiltIn([]));
const draftOf = (subject: string, description: string, delivers: Draft["delivers"]): Draft => ({
  ...{ subject, description, delivers, words: description },
  ...{
    scope: [],
    reads: [],
    requirements: [],
    after: [],
    isImperative: true,
    isCollected: false,
    names: [],
  },
});
const report = (subject: string, description = `${subject}.`) => draftOf(subject, description, "report");
const change = (subject: string, description = `${subject}.`) => draftOf(subject, description, "change");

test("two distinct keywords win, most win, one is chance", () => {
  assert.equal(choose(change("Refactor and optimize the parser")).agent, "code-cleanup-optimizer");
  assert.equal(choose(change("Refactor the parser")).agent, "general-purpose");
  assert.equal(choose(change("Refactor, refactor, refactor")).agent, "general-purpose");
  assert.equal(
    choose(change("Upgrade the packages, then test and deploy to docker: infrastructure")).agent,
    "devops-experience-architect",
  );
});

test("of equals the first in the table wins", () => {
  // "verify" and "test" for the third row, "document" and "explain" for the seventh.
  assert.equal(choose(change("Verify and test, document and explain")).agent, "task-completion-verifier");
});

test("singular and plural are the same keyword", () => {
  assert.equal(choose(change("Install a package that is a dependency")).agent, "dependency-manager");
});

test("a reader gets what is only read, and then there is no output file", () => {
  assert.deepEqual(choose(report("Scan and summarize the logs")), { agent: "Explore", hasOutput: false });
  assert.deepEqual(choose(report("Explore and understand the parser")), {
    agent: "codebase-context-analyzer",
    hasOutput: false,
  });
});

for (const word of ["write", "create", "save", "generate", "produce", "output", "Writing", "generates"]) {
  test(`a reader gets nothing whose description says "${word}"`, () => {
    const { agent, hasOutput } = choose(
      report("Scan and summarize the logs", `Scan, summarize, ${word} a list.`),
    );
    assert.notEqual(agent, "Explore");
    assert.equal(hasOutput, true);
  });
}

test("a reader gets neither a change nor what another task reads from a file", () => {
  assert.equal(choose(change("Scan and summarize the logs")).agent, "general-purpose");
  const collected = { ...report("Scan and summarize the logs"), isCollected: true };
  assert.deepEqual(choose(collected), { agent: "general-purpose", hasOutput: true });
});

test("who decides or judges gets no building, by the table or by the name of a user's own role", () => {
  const design = "Design the approach, evaluate the security";
  assert.equal(choose(report(design)).agent, "tech-lead-architect");
  assert.equal(choose(change(design)).agent, "general-purpose");
  assert.equal(choose(change("Setup the docker infrastructure")).agent, "devops-experience-architect");
  const row = { name: "api-reviewer", keywords: ["endpoint", "route"], isReadOnly: false };
  const own = (decides?: boolean) => chooserOf([{ ...row, ...(decides !== undefined && { decides }) }]);
  assert.equal(own()(change("Add an endpoint and a route")).agent, "general-purpose");
  assert.equal(own(false)(change("Add an endpoint and a route")).agent, "api-reviewer");
  assert.equal(own()(report("Compare an endpoint and a route")).agent, "api-reviewer");
});

test("what stands in brackets explains a word, and is no kind of work", () => {
  const said = "Write a README for each package (what it is, install, upgrade)";
  assert.equal(choose(change(`${said.slice(0, -2)}…`, said)).agent, "general-purpose");
  assert.equal(choose(change("Install each package, and upgrade it")).agent, "dependency-manager");
});

test("names of files are no keywords", () => {
  assert.equal(choose(report("Review code-reviewer.md, test/verify/check.md")).agent, "general-purpose");
});

test("a prefix is put before every name, and taken off those that have it", () => {
  const rows = [{ name: "workflow-orchestrator:cleaner", keywords: ["tidy", "sweep"], isReadOnly: false }];
  const prefixed = chooserOf(rows, "workflow-orchestrator:");
  assert.equal(prefixed(change("Tidy and sweep")).agent, "workflow-orchestrator:cleaner");
  assert.equal(prefixed(change("Something else")).agent, "workflow-orchestrator:general-purpose");
});

test("only the task's own words count, not the whole request below them", () => {
  const draft = { ...change("Add a", "Add a.\n\nRefactor and optimize the parser."), words: "Add a." };
  assert.equal(choose(draft).agent, "general-purpose");
});
