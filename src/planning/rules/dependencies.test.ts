/** Does a task wait for what it needs, and for nothing that follows from that? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clauseOf, draftOf } from "../../../test/plans/parts.ts";
import type { Clause } from "../reading.ts";
import { dependenciesOf } from "./dependencies.ts";
import type { Draft } from "./draft.ts";

const waits = (drafts: readonly Draft[], clauses: readonly Clause[] = []) =>
  Object.fromEntries(dependenciesOf(drafts, clauses));
const change = (key: string, given: Partial<Draft> = {}) =>
  draftOf({ key, clause: Number(key.split(".")[0]) - 1, ...given });
const report = (key: string) => change(key, { work: "report", delivers: "report" });
const say = (text: string, after: readonly number[] = []) => clauseOf({ text, after });

test("tasks that nothing joins wait for nothing", () => {
  assert.deepEqual(waits([change("1"), change("2")], [say("fix login"), say("fix search")]), {
    1: [],
    2: [],
  });
});

test("words of order bind all parts of both clauses", () => {
  const clauses = [say("build a and b"), say("ship c", [0])];
  assert.deepEqual(waits([change("1.1"), change("1.2"), change("2")], clauses), {
    "1.1": [],
    "1.2": [],
    2: ["1.1", "1.2"],
  });
});

test("two that write one file come one after the other, also through its folder", () => {
  const clauses = [say("fix a"), say("fix b"), say("fix c")];
  const drafts = [
    change("1", { scope: ["src/a.ts"] }),
    change("2", { scope: ["src/"] }),
    change("3", { scope: ["lib/c.ts"] }),
  ];
  assert.deepEqual(waits(drafts, clauses), { 1: [], 2: ["1"], 3: [] });
});

test("who reads a file waits for who writes it", () => {
  const clauses = [say("fix a"), say("look at b")];
  const drafts = [change("1", { scope: ["src/a.ts"] }), { ...report("2"), reads: ["src/a.ts"] }];
  assert.deepEqual(waits(drafts, clauses)["2"], ["1"]);
});

test("tests, docs and a release wait for the changes before them", () => {
  const clauses = [say("fix login"), say("add a test"), say("deploy")];
  const drafts = [
    change("1"),
    change("2", { work: "tests" }),
    change("3", { work: "operate", delivers: "report" }),
  ];
  assert.deepEqual(waits(drafts, clauses), { 1: [], 2: ["1"], 3: ["2"] });
});

test("docs of other files wait for nobody", () => {
  const clauses = [say("fix login"), say("document the parser")];
  const drafts = [
    change("1", { scope: ["src/login.ts"] }),
    change("2", { work: "docs", reads: ["src/parser.ts"] }),
  ];
  assert.deepEqual(waits(drafts, clauses)["2"], []);
});

test("who uses findings waits for who makes them", () => {
  const clauses = [say("analyze the logs"), say("fix the findings"), say("fix search")];
  assert.deepEqual(waits([report("1"), change("2"), change("3")], clauses), { 1: [], 2: ["1"], 3: [] });
});

test("a pronoun points to the clause before", () => {
  const clauses = [say("build a parser"), say("wire it into the app"), say("fix search")];
  assert.deepEqual(waits([change("1"), change("2"), change("3")], clauses), { 1: [], 2: ["1"], 3: [] });
});

test("what follows from other dependencies is left out", () => {
  const drafts = [change("1"), change("2", { after: ["1"] }), change("3", { after: ["1", "2"] })];
  assert.deepEqual(waits(drafts)["3"], ["2"]);
});

test("a circle is cut where it would close, and an unknown name is left out", () => {
  const drafts = [change("1", { after: ["2"] }), change("2", { after: ["1", "9", "2"] })];
  assert.deepEqual(waits(drafts), { 1: ["2"], 2: [] });
});

test("200 tasks that all wait for 100 others take no time to speak of", () => {
  const drafts = Array.from({ length: 200 }, (_, i) => change(i < 100 ? `1.${i}` : `2.${i}`));
  const start = performance.now();
  assert.equal(waits(drafts, [say("a"), say("b", [0])])["2.150"]!.length, 100);
  assert.ok(performance.now() - start < 1_000);
});
