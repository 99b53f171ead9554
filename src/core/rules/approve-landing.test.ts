/** Tests landings of tasks that change the gate: refused, flagged, or approved by a person. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, MINUTE, type PolicyChanges, task } from "../../../test/support/core-run.ts";
import { emptyStory } from "../view/story.ts";
import { viewOf } from "../view/view.ts";
import { waitOf } from "../view/view-wait.ts";
import type { GateChange } from "./gate-changes.ts";
import type { Policy } from "./policy.ts";

const TEST: GateChange = { of: "gate", file: "package.json", what: "package.json: the script test" };
const MCP: GateChange = { of: "agents", file: ".mcp.json", what: ".mcp.json" };
const FLAG = "package.json: the script test";

const planned = (gateChanges: Policy["gateChanges"], scope: readonly string[], more: PolicyChanges = {}) =>
  CoreRun.planned([task("a", { scope }), task("b")], { gateChanges, ...more });
const flags = (run: CoreRun) =>
  viewOf({ state: run.state, story: emptyStory() }).gateChanges.map(({ is, flags: of }) => [is, ...of]);

describe("a task that changes what the gate runs", () => {
  it("is refused outside of its scope, also where any task may touch the file, and the next attempt hears why", () => {
    for (const gateChanges of ["scope", "ask", "refuse"] as const) {
      const run = planned(gateChanges, ["a.ts"], { sharedFiles: ["package.json"] });
      run.work("t.1", { filesChanged: ["a.ts", "package.json"], gateChanges: [TEST] });
      const [past] = run.brief("work", "t.1").past;
      assert.equal(past?.failure.kind, "out-of-scope");
      assert.match(past?.failure.message ?? "", /package\.json: the script test.*outside its scope/);
      assert.deepEqual(run.candidate(), []);
    }
  });

  it("inside lands by its own commands, and is told of; as before where the run was begun before", () => {
    for (const gateChanges of ["scope", "flag"] as const) {
      const run = planned(gateChanges, ["package.json", ".mcp.json"]);
      run.work("t.1", { gateChanges: [TEST, MCP] });
      assert.deepEqual(flags(run), [["landing", FLAG, ".mcp.json: it steers agents"]]);
      assert.equal(run.brief("land").ownRules, gateChanges === "scope" ? true : undefined);
      run.land();
      assert.deepEqual(flags(run), [["landed", FLAG, ".mcp.json: it steers agents"]]);
    }
    const before = planned("flag", ["a.ts"], { sharedFiles: ["package.json"] });
    before.work("t.1", { filesChanged: ["package.json"], gateChanges: [TEST] });
    assert.deepEqual(before.candidate(), ["t.1"]);
  });

  it("is refused inside of its scope, too, where that is wanted", () => {
    const run = planned("refuse", ["package.json"]);
    run.work("t.1", { gateChanges: [TEST] });
    const [past] = run.brief("work", "t.1").past;
    assert.equal(past?.failure.kind, "rule-broken");
    assert.match(past?.failure.message ?? "", /not allowed here \(gateChanges: refuse\)/);
  });

  it("does not believe a worker about what it changes", () => {
    const run = planned("ask", ["package.json"]);
    run.work("t.1", { flags: ["nothing"] } as object);
    assert.deepEqual(flags(run), []);
    assert.deepEqual(run.candidate(), ["t.1"]);
  });
});

describe("a landing that a person is asked about", () => {
  it("waits, while everything else goes on, and lands once it is approved of", () => {
    const run = planned("ask", ["package.json"]);
    run.work("t.1", { gateChanges: [TEST] });
    assert.deepEqual(flags(run), [["proposed", FLAG]]);
    run.finish("t.2");
    assert.deepEqual(run.candidate(), []);
    assert.deepEqual(run.running(), []);
    assert.match(waitOf(run.state, run.policy, run.now)?.what ?? "", /^a needs your approval to land/);
    run.wait(10 * MINUTE);
    run.check();
    run.wait(100 * 60 * MINUTE);
    assert.deepEqual([run.running(), run.closed], [[], undefined], "it waits for ever");
    run.say({ type: "approve", task: run.task("t.1").id });
    assert.deepEqual(run.candidate(), ["t.1"]);
    run.land();
    run.plan("t", []);
    run.check();
    assert.equal(run.closed?.how, "done");
  });

  it("is meant by an approval without a name, with all others that wait, unless a plan waits", () => {
    const run = CoreRun.planned([task("a"), task("b")], { gateChanges: "ask" });
    const change = (file: string) => ({ gateChanges: [{ ...TEST, file }] });
    run.work("t.1", change("a.ts"));
    run.work("t.2", change("b.ts"));
    run.say({ type: "approve" });
    assert.deepEqual(run.candidate(), ["t.1", "t.2"]);
    const both = CoreRun.planned([task("a"), task("b")], { gateChanges: "ask", approval: "every" });
    both.say({ type: "approve" });
    both.work("t.1", change("a.ts"));
    both.finish("t.2");
    both.say({ type: "steer", message: "more" });
    both.plan("t", [task("c")]);
    both.say({ type: "approve" });
    assert.deepEqual(both.events("landing.approved"), []);
    both.say({ type: "approve" });
    assert.equal(both.events("landing.approved").length, 1);
  });

  it("is made again with the reason when it is declined, and fails in the end like any that is refused", () => {
    const run = planned("ask", ["package.json"]);
    for (let n = 0; n < 3; n += 1) {
      run.work("t.1", { gateChanges: [TEST] });
      run.say({ type: "decline", task: run.task("t.1").id, reason: "keep mocha" });
    }
    assert.match(
      run.events("task.retried")[0]?.failure.message ?? "",
      /declined .*the script test\): keep mocha/,
    );
    assert.equal(run.is("t.1"), "failed");
    assert.equal(run.state.unapproved.size, 0);
  });

  it("is over when it is cancelled; what does not wait cannot be approved of", () => {
    const run = planned("ask", ["package.json"]);
    const { id } = run.task("t.1");
    run.say({ type: "approve", task: id });
    assert.match(run.events("command.refused")[0]?.reason ?? "", /does not wait for approval/);
    run.work("t.1", { gateChanges: [TEST] });
    run.say({ type: "cancel", task: id });
    assert.equal(run.state.unapproved.size, 0);
    assert.equal(run.is("t.1"), "cancelled");
  });

  it("keeps a run open whose budget is spent", () => {
    const budget = { maxTokens: 10, reserveTokens: 1, reserveMicrodollars: 0, landingShare: 0 };
    const run = planned("ask", ["package.json"], { budget, capacity: { work: 1 } });
    run.work("t.1", { gateChanges: [TEST], spent: { tokens: 100 } });
    assert.equal(run.state.spent.exhausted, true);
    assert.equal(run.closed, undefined);
    run.say({ type: "approve" });
    run.land();
    assert.equal(run.is("t.1"), "done");
  });

  it("does not have a red target looked at again and again while its fix waits", () => {
    const run = new CoreRun({ gateChanges: "ask" });
    run.checkRed(["test: x"], "package.json");
    run.work("t.1", { gateChanges: [TEST] });
    const looks = run.events("job.started").length;
    run.wait(10 * 60 * MINUTE);
    const more = run.events("job.started").slice(looks);
    assert.deepEqual(
      more.filter(({ job }) => job.kind === "check"),
      [],
    );
  });
});
