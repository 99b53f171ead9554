import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { nothingSeen, type RunView, see, viewOf } from "../../core/view.ts";
import { areaOf } from "./progress.ts";
import { reportOf, spentText } from "./report.ts";

const viewOfRun = (run: CoreRun): RunView => viewOf(run.log.reduce(see, nothingSeen()));
const AROUND = { target: "skein/r/target", command: "skein", isCheckedOut: false };
const textOf = (view: RunView) =>
  reportOf(view, AROUND)
    .map(({ text }) => text)
    .join("\n");

test("says what landed and why it could, and how to deliver it", () => {
  const run = CoreRun.planned([task("a")]);
  run.now = 4_000;
  run.finish("t.1");
  run.plan("t", []);
  run.check();
  const text = textOf(viewOfRun(run));
  assert.match(text, /^\nRun r is done: 1 of 1 task done, in 4\.0 s\.$/m);
  assert.match(text, /^ {2}commit-1 {2}a {2}the gate was green$/m);
  assert.match(text, /skein deliver r/);
  assert.doesNotMatch(text, /Not done|Left|Came to nothing/);
});

test("what is to be pasted can be: remarks are remarks, and a branch that is checked out is spoken of", () => {
  const run = CoreRun.planned([task("a")]);
  run.finish("t.1");
  run.plan("t", []);
  run.check();
  const around = { ...AROUND, command: "'/my tools/skein'", isCheckedOut: true };
  const lines = reportOf(viewOfRun(run), around).map(({ text }) => text);
  const hints = lines.slice(lines.indexOf("Look around") + 1);
  assert.equal(hints.length, 5);
  for (const hint of hints) assert.match(hint, /^ {2}(?:git log|'\/my tools\/skein') [^#]+ {2}# [a-z ]+$/);
  assert.match(hints.at(-1)!, /'\/my tools\/skein' deliver r --into-checkout {2}#/);
});

test("says what failed, what was skipped for it, and what is left; and offers nothing to deliver", () => {
  const run = CoreRun.planned([task("a"), task("b", { after: ["a"] })]);
  run.failForGood("t.1");
  for (let n = 0; n < 3 && !run.closed; n += 1) run.plan("t", []);
  const view = viewOfRun(run);
  const text = textOf(view);
  assert.notEqual(view.is, "done");
  assert.match(text, /Nothing landed\./);
  assert.match(text, /a failed: agent-failed/);
  assert.match(text, /b was skipped: a did not land/);
  assert.match(text, /^Left$/m);
  assert.doesNotMatch(text, /skein deliver/);
});

test("what an agent wrote cannot steer the terminal from the report or the live area", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.fail("work", "t.1", "agent-failed", "\u001b]0;owned\u0007\u001b[2J");
  run.work("t.2", { concerns: ["\u001b[31mred"] });
  run.land();
  const view = viewOfRun(run);
  for (const text of [
    ...reportOf(view, AROUND).map((line) => line.text),
    ...areaOf(view, { now: 5_000, startedAt: 0 }),
  ])
    assert.doesNotMatch(text, /\p{C}/u);
});

test("a price that is not known is said, and never counted as nothing", () => {
  const spent = { tokens: 1_200, microdollars: 0, unpriced: 2, exhausted: false };
  assert.equal(spentText(spent), "1,200 tokens, $0.00, and 2 jobs whose price is not known");
  assert.match(spentText({ ...spent, tokens: 0, unpriced: 0 }), /not reported/);
});

test("the live area shows a few of many jobs, and says how many more there are", () => {
  const run = CoreRun.planned(
    Array.from({ length: 12 }, (_, i) => task(`task-${i}`)),
    { capacity: { work: 12 } },
  );
  const lines = areaOf(viewOfRun(run), { now: 61_000, startedAt: 1_000 });
  assert.equal(lines.length, 11);
  assert.match(lines[1]!, /^ {2}1 min 01 s {2}task-0$/);
  assert.match(lines[9]!, /and 4 more$/);
  assert.match(lines[10]!, /0 of 12 tasks done · target base green · 1 min 00 s$/);
});
