/** Tests the report of a run: what landed, what failed, what is left, and what it cost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, large, task } from "../../../../test/support/core-run.ts";
import type { JobId } from "../../../core/job.ts";
import type { TaskId } from "../../../core/task.ts";
import { nothingSeen, type RunView, see, viewOf } from "../../../core/view/view.ts";
import { reportOf } from "./report.ts";
import { linesOf } from "./sections.ts";

const viewOfRun = (run: CoreRun): RunView => viewOf(run.log.reduce(see, nothingSeen()));
const AROUND = { target: "skein/r/target", command: "skein", bring: { is: "refused" } } as const;
const textOf = (view: RunView) =>
  linesOf(reportOf(view, AROUND))
    .map(({ text }) => text)
    .join("\n");

test("says what landed and why it could, and offers no delivery that would be refused", () => {
  const run = CoreRun.planned([task("a")]);
  run.now = 4_000;
  run.finish("t.1");
  run.plan("t", []);
  run.check();
  const text = textOf(viewOfRun(run));
  assert.match(text, /^\nRun r is done: 1 of 1 task done, in 4\.0 s\.$/m);
  assert.match(text, /^ {2}commit-1 {2}a {2}gate passed$/m);
  assert.doesNotMatch(text, /skein deliver/);
  assert.doesNotMatch(text, /Not done|Unfinished|Failed attempts/);
});

test("says that what landed was gated by a gate that was not probed", () => {
  const run = CoreRun.green({ probe: true });
  const [probe = ""] = run.running("check");
  run.answer(probe, { is: "probed", probed: { is: "not-probed", why: "there are no tests" } });
  run.plan("t", [task("a")]);
  run.finish("t.1");
  run.plan("t", []);
  run.check();
  assert.match(textOf(viewOfRun(run)), /^ {2}The gate was not probed \(there are no tests\)/m);
});

test("what is to be pasted can be: remarks are remarks, and a branch that is checked out is spoken of", () => {
  const run = CoreRun.planned([task("a")]);
  run.finish("t.1");
  run.plan("t", []);
  run.check();
  const bring = { is: "ready", command: "skein deliver r --into-checkout" } as const;
  const around = { ...AROUND, command: "'/my tools/skein'", bring };
  const lines = linesOf(reportOf(viewOfRun(run), around)).map(({ text }) => text);
  const hints = lines.slice(lines.indexOf("Next") + 1);
  assert.equal(hints.length, 5);
  for (const hint of hints) assert.match(hint, /^ {2}(?:git log|'\/my tools\/skein') [^#]+ {2}# [a-z, ]+$/);
  assert.match(hints.at(-1)!, /'\/my tools\/skein' deliver r --into-checkout {2}#/);
});

test("a run that follows a plan says where results are, and nothing of planners", () => {
  const run = CoreRun.planned([task("a")]);
  run.work("t.1", { concerns: ["a is odd"] });
  run.land();
  const ids = [...run.state.planners.get("t" as TaskId)!.concerns.values()].map(({ id }) => ({
    concern: id,
  }));
  run.plan("t", [], { addressed: ids });
  run.check();
  const view = viewOfRun(run);
  assert.match(textOf(view), /planner turns/);
  assert.match(textOf(view), /Concerns that the planner has dealt with \(1\)/);
  const textWith = (follows: { readonly results?: string }) =>
    linesOf(reportOf(view, { ...AROUND, follows }))
      .map(({ text }) => text)
      .join("\n");
  assert.match(textWith({ results: "/a b/scratchpad" }), /^ {2}ls '\/a b\/scratchpad' {2}# /m);
  assert.doesNotMatch(textWith({}), /planner|^ {2}ls /m);
  assert.match(textWith({}), /^Concerns \(1\)\n {2}a: a is odd$/m);
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
  assert.doesNotMatch(text, /^Unfinished$/m, "all of it was said of the tasks");
  assert.doesNotMatch(text, /skein deliver/);
});

test("says at the end of a run how a target on which the gate fails can be delivered", () => {
  const run = CoreRun.planned([task("a")]);
  run.failForGood("t.1");
  for (let n = 0; n < 3 && !run.closed; n += 1) run.plan("t", []);
  const view = { ...viewOfRun(run), left: ["the gate fails on the target: test: x"] };
  const bring = { is: "red", hint: "deliver it all the same: skein deliver r --red" } as const;
  const text = linesOf(reportOf(view, { ...AROUND, bring }))
    .map((line) => line.text)
    .join("\n");
  assert.match(text, /^Unfinished\n.*test: x\n {2}Deliver it all the same: skein deliver r --red$/m);
});

test("a failure far below is given once, and those above it name what failed", () => {
  const run = CoreRun.planned([large("parser"), task("docs")]);
  run.plan("t.1", [task("lexer", { scope: ["parser/a.ts"] })]);
  for (let n = 0; n < 3; n += 1) run.fail("work", "t.1.1", "agent-failed", "exit code 9");
  run.finish("t.2");
  for (let n = 0; n < 5 && !run.closed; n += 1) {
    for (const job of run.running("plan")) run.plan(job.replace(/^plan:|#.*$/g, ""), []);
    if (!run.closed && run.running("check").length > 0) run.check();
  }
  assert.equal(run.closed?.how, "incomplete");
  const text = textOf(viewOfRun(run));
  const [, notDone = ""] = text.split("Not done");
  assert.match(notDone, /parser failed, because parser\/lexer failed\n/);
  assert.match(notDone, /parser\/lexer failed: exit code 9 \(3 times\)\n/);
  assert.equal(notDone.split("exit code 9").length, 2, notDone);
  assert.doesNotMatch(notDone, /^Concerns|^Unfinished$/m);
});

test("what was split lands through its parts, so that the numbers agree", () => {
  const run = CoreRun.planned([large("parser")]);
  run.plan("t.1", [task("lexer", { scope: ["parser/a.ts"] })]);
  run.finish("t.1.1");
  for (let n = 0; n < 5 && !run.closed; n += 1) {
    for (const job of run.running("plan")) run.plan(job.replace(/^plan:|#.*$/g, ""), [], { done: true });
    if (!run.closed && run.running("check").length > 0) run.check();
  }
  assert.match(textOf(viewOfRun(run)), /^ {2}1 more task is done: it was split, and all its parts landed$/m);
});

test("every concern is in the report, also what a planner has dealt with, and not without end", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.work("t.1", { concerns: ["a is odd", ...Array.from({ length: 30 }, (_, i) => `thing ${i}`)] });
  run.land();
  run.work("t.2", { concerns: ["b is odd"] });
  run.land();
  const ids = [...run.state.planners.get("t" as TaskId)!.concerns.values()];
  const odd = ids.filter(({ text }) => text === "b is odd");
  run.plan("t", [], { addressed: odd.map(({ id }) => ({ concern: id })) });
  const text = textOf(viewOfRun(run));
  assert.match(text, /^Open concerns \(31\)\n {2}a: a is odd$/m);
  assert.match(text, /^ {2}and 11 more$/m);
  assert.match(text, /^Concerns that the planner has dealt with \(1\)\n {2}b: b is odd$/m);
});

test("what an agent wrote cannot steer the terminal from the report or the live area", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.fail("work", "t.1", "agent-failed", "\u001b]0;owned\u0007\u001b[2J");
  run.work("t.2", { concerns: ["\u001b[31mred"] });
  run.land();
  const view = viewOfRun(run);
  for (const { text } of linesOf(reportOf(view, AROUND))) assert.doesNotMatch(text, /\p{C}/u);
});

test("says how well the agents were spread, what the gate took, what was flaky, and how long the target was red", () => {
  const run = new CoreRun();
  run.now = 1_000;
  run.checkRed(["test: adds"]);
  run.plan("t", [task("a")]);
  const fix = run.running("work").map((job) => job.slice("work:".length, -2))[0]!;
  run.now = 3_000;
  run.work(fix);
  const { members } = run.landing();
  run.answer("land#1", { is: "landed", commit: "c1", members, conflicts: [], proof: "green" });
  run.check();
  run.work(run.running("work")[0]!.slice("work:".length, -2));
  run.now = 4_000;
  run.landRed(["test: odd"]);
  run.land();
  const text = textOf(viewOfRun(run));
  for (const line of [
    "2 agents, 63 % busy",
    "6 gate runs (2.0 s): 2 tasks landed in 2 batches of up to 1 task, 3.0 gate runs per task",
    "the gate failed on the target for 2.0 s, until fix-tests-1 landed: test: adds",
    "flaky: test: odd; cost 1 gate run (1.0 s); no task was refused for it",
  ])
    assert.ok(text.includes(`\n  ${line}\n`), text);
});

test("says what workspaces took to be made ready, where that was long", () => {
  const run = CoreRun.planned([task("a")]);
  run.wait(12_000);
  run.say({ type: "prepared", job: "work:t.1#1" as JobId, ms: 12_000, doing: "running workspace.setup" });
  run.finish("t.1");
  const said = /^ {2}copying and set-up of workspaces: 12 s in all$/m;
  assert.match(textOf(viewOfRun(run)), said);
  assert.doesNotMatch(textOf(viewOfRun(CoreRun.planned([task("a")]))), said);
});

test("what a refusal cost is said by reason, the dearest first, with what was spent on it", () => {
  const run = CoreRun.planned([task("a"), task("b"), task("c")]);
  run.now = 2_000;
  run.work("t.1", { spent: { tokens: 1_000, microdollars: 20_000 } });
  run.work("t.2", { filesChanged: [] });
  for (const _ of [1, 2]) {
    run.now += 500;
    run.landRed();
  }
  run.check();
  const text = textOf(viewOfRun(run));
  assert.match(
    text,
    /^Cost of failed attempts\n {2}gate failed {3}1 time {2}2\.0 s of work {2}3 gate runs \(1\.0 s\), 1,000 tokens, \$0\.02\n {2}empty change {2}1 time {2}2\.0 s of work$/m,
  );
  assert.doesNotMatch(textOf(viewOfRun(CoreRun.planned([task("a")]))), /Cost of failed/);
});

test("what the worker of a failed task suggests is told with it, and what took its place, too", () => {
  const run = CoreRun.planned([task("a"), task("b")], { retry: { maxFailed: 1 } });
  run.work("t.1", { status: "blocked", summary: "no key", suggestions: ["get a key"] });
  run.work("t.2", { status: "failed", summary: "no time" });
  run.plan("t", [task("a2")], { addressed: [{ concern: "c1", by: "a2" }] });
  run.finish("t.3");
  run.plan("t", [], { addressed: [{ concern: "c2", because: "it can wait" }] });
  run.check();
  const view = viewOfRun(run);
  assert.deepEqual(
    view.undone.map(({ reported }) => [reported?.status, reported?.suggestions]),
    [
      ["blocked", ["get a key"]],
      ["failed", []],
    ],
  );
  const text = textOf(view);
  assert.match(
    text,
    /^ {2}a failed: the worker reported blocked: no key \(replaced by a2\)\n {4}its worker suggests: get a key$/m,
  );
  assert.match(
    text,
    /^Unfinished\n {2}given up: b failed: the worker reported failed: no time; the planner's reason: it can wait$/m,
  );
});
