/** Tests the figures of a run's report, its advice, and comparing two runs. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import type { JobId, Spent } from "../job.ts";
import type { TaskId } from "../task.ts";
import { compareRuns } from "./compare-runs.ts";
import { runReport } from "./report.ts";
import { nothingSeen, see } from "./view.ts";

const seenOf = (run: CoreRun) => run.log.reduce(see, nothingSeen());
const reportOf = (run: CoreRun, maxWorkers?: number) =>
  runReport(seenOf(run), maxWorkers === undefined ? {} : { maxWorkers });

const spent = (tokens: number, microdollars?: number): Spent => ({
  tokens,
  ...(microdollars !== undefined && { microdollars }),
});
const lines = (linesAdded: number, linesRemoved: number) => ({ linesAdded, linesRemoved });

/** a lands; b is refused once for a conflict in the file that both change, and lands then. */
function refusedOnce(price?: number): CoreRun {
  const run = CoreRun.planned([task("a"), task("b")], { sharedFiles: ["shared.ts"] });
  run.now = 10_000;
  run.work("t.1", { filesChanged: ["a.ts", "shared.ts"], ...lines(10, 1), spent: spent(1_000, price) });
  run.now = 12_000;
  run.land();
  run.now = 20_000;
  run.work("t.2", { filesChanged: ["b.ts", "shared.ts"], ...lines(99, 99), spent: spent(3_000, price) });
  run.now = 21_000;
  run.land([{ task: "t.2" as TaskId, files: ["shared.ts"], against: "target" }]);
  run.now = 30_000;
  run.work("t.2", { filesChanged: ["b.ts"], ...lines(4, 2), spent: spent(1_000, price) });
  run.now = 34_000;
  run.land();
  return run;
}

describe("the numbers of a run", () => {
  it("count what landed, what was refused, and what each cost", () => {
    const { figures, landings } = reportOf(refusedOnce(500));
    assert.deepEqual(
      landings.map(({ commit, linesAdded, linesRemoved }) => [commit, linesAdded, linesRemoved]),
      [
        ["commit-1", 10, 1],
        ["commit-2", 4, 2],
      ],
      "of the attempt that landed, not of the one that was refused",
    );
    const { landedTasks, refused, linesAdded, linesRemoved, mergeSuccessShare } = figures;
    assert.deepEqual([landedTasks, refused, linesAdded, linesRemoved], [2, 1, 14, 3]);
    assert.equal(mergeSuccessShare, 2 / 3);
    assert.deepEqual([figures.tokens, figures.repairTokens, figures.repairShare], [5_000, 3_000, 0.6]);
    assert.deepEqual([figures.tokensPerTask, figures.microdollarsPerTask], [2_500, 750]);
    assert.deepEqual([figures.tokensPerLine, figures.microdollarsPerLine], [5_000 / 17, 1_500 / 17]);
  });

  it("say that a price is not known, where not all of it is", () => {
    const run = refusedOnce();
    const { microdollars, microdollarsPerTask, microdollarsPerLine, tokens } = reportOf(run).figures;
    assert.deepEqual(
      [microdollars, microdollarsPerTask, microdollarsPerLine, tokens],
      [null, null, null, 5_000],
    );
    const silent = CoreRun.planned([task("a")]);
    silent.finish("t.1");
    const { figures } = reportOf(silent);
    assert.deepEqual(
      [figures.tokens, figures.microdollars, figures.repairShare, figures.tokensPerTask, figures.modelCalls],
      [null, null, null, null, null],
    );
  });

  it("count the tokens of a fix task as repair, its failed attempts once", () => {
    const run = CoreRun.green();
    run.plan("t", [task("a")]);
    run.work("t.1", { spent: spent(600) });
    run.land();
    run.wait(60 * 60_000);
    run.checkRed();
    const fix = run.running("work")[0]!.replace(/^work:|#.*$/g, "");
    run.work(fix, { status: "failed", spent: spent(100) });
    run.wait(60_000);
    run.work(fix, { spent: spent(300) });
    assert.equal(reportOf(run).figures.repairTokens, 400);
  });

  it("leave out a landing that somebody took back", () => {
    const run = refusedOnce();
    run.plan("t", [task("c")]);
    run.work("t.3");
    run.landMoved({ tip: "base", landings: [], lost: ["commit-2"] });
    const { figures } = reportOf(run);
    assert.deepEqual([figures.landings, figures.landedTasks, figures.linesAdded], [1, 1, 10]);
  });
});

describe("the time of a run", () => {
  it("is told once for each moment, and adds up", () => {
    const { time, figures, chain } = reportOf(refusedOnce());
    assert.deepEqual(
      time.parts.filter(({ ms }) => ms > 0),
      [
        { is: "work", ms: 29_000 },
        { is: "gate", ms: 5_000 },
      ],
    );
    assert.deepEqual([time.totalMs, time.allBusyMs, time.mostWorkers], [34_000, 10_000, 2]);
    assert.deepEqual(
      chain.map(({ name, ms }) => [name, ms]),
      [["b", 29_000]],
    );
    assert.deepEqual([figures.criticalMs, figures.efficiencyShare], [29_000, 29 / 34]);
  });

  it("ends for an interrupted worker with the last that was heard of the run", () => {
    const run = CoreRun.planned([task("a")]);
    run.now = 5_000;
    const job = run.running("work")[0] as JobId;
    run.say({ type: "quiet", job, ms: 1_000 });
    run.now = 60_000;
    run.say({ type: "interrupted", job });
    const { time, figures } = reportOf(run);
    const of = (part: string) => time.parts.find(({ is }) => is === part)?.ms;
    assert.deepEqual([of("work"), of("stopped"), time.totalMs], [5_000, 55_000, 60_000]);
    assert.equal(figures.wallMs, 5_000);
  });

  it("has the slowest landings and checks first", () => {
    const { gates } = reportOf(refusedOnce());
    assert.deepEqual(
      gates.slice(0, 3).map(({ kind, ms, tasks }) => [kind, ms, tasks.map(({ name }) => name)]),
      [
        ["land", 4_000, ["b"]],
        ["land", 2_000, ["a"]],
        ["land", 1_000, ["b"]],
      ],
    );
  });
});

describe("the advice", () => {
  it("names the file in which tasks met, with what that cost", () => {
    const { advice, hotFiles } = reportOf(refusedOnce());
    const file = { path: "shared.ts", tasks: ["b", "a"], waitedMs: 0, conflicts: 1 };
    assert.deepEqual(hotFiles, [file]);
    assert.deepEqual(
      advice.find(({ is }) => is === "hot-file"),
      { is: "hot-file", ms: 20_000, file },
    );
  });

  it("names the file that a task waited for", () => {
    const run = CoreRun.planned([task("a", { scope: ["x.ts"] }), task("b", { scope: ["x.ts"] })]);
    run.now = 7_000;
    run.finish("t.1");
    run.now = 9_000;
    run.finish("t.2");
    const { hotFiles } = reportOf(run);
    assert.deepEqual(hotFiles, [{ path: "x.ts", tasks: ["a", "b"], waitedMs: 7_000, conflicts: 0 }]);
  });

  it("asks for more workers only where all that were allowed were busy", () => {
    const run = CoreRun.planned(
      ["a", "b", "c", "d"].map((id) => task(id)),
      { capacity: { work: 2 } },
    );
    for (const [id, at] of [
      ["t.1", 10_000],
      ["t.2", 10_000],
      ["t.3", 20_000],
      ["t.4", 20_000],
    ] as const) {
      run.now = at;
      run.finish(id);
    }
    const [more] = reportOf(run, 2).advice;
    assert.deepEqual(more, { is: "more-workers", ms: 10_000, workers: 2, isLimit: true });
    assert.ok(reportOf(run, 8).advice.every(({ is }) => is !== "more-workers"));
  });

  it("says that more workers do not help where one task after the other takes the time", () => {
    const run = CoreRun.planned([task("a"), task("b", { after: ["a"] })]);
    run.now = 30_000;
    run.finish("t.1");
    run.now = 40_000;
    run.finish("t.2");
    const [first] = reportOf(run, 1).advice;
    assert.ok(first?.is === "shorter-chain");
    assert.deepEqual([first.longest.name, first.ms, first.tasks, first.share], ["a", 30_000, 2, 1]);
  });

  it("asks for no faster gate where none ran, however long landing took", () => {
    const run = new CoreRun();
    const check = [...run.state.running.keys()].find((id) => id.startsWith("check"));
    run.answer(check!, { is: "checked", tip: "base", report: { commands: [] }, problems: [] });
    run.plan("t", [task("a")]);
    run.now = 1_000;
    run.work("t.1");
    run.now = 6_000;
    const { members } = run.landing();
    const land = [...run.state.running.keys()].find((id) => id.startsWith("land"));
    run.answer(land!, { is: "landed", commit: "c1", members, conflicts: [], proof: "ungated" });
    assert.ok(reportOf(run).advice.every(({ is }) => is !== "faster-gate"));
  });

  it("is silent on a run without a number that speaks for any", () => {
    assert.deepEqual(reportOf(CoreRun.planned([task("a")])).advice, []);
  });
});

describe("two runs", () => {
  it("are equal to themselves", () => {
    const run = refusedOnce();
    const side = { state: run.state, report: reportOf(run) };
    const { isEqual, tasks, figures } = compareRuns(side, side);
    assert.deepEqual([isEqual, tasks], [true, []]);
    assert.ok(figures.every(({ before, after }) => before === after));
  });

  it("differ in figures and in how their tasks ended", () => {
    const [one, other] = [refusedOnce(500), CoreRun.planned([task("a"), task("c")])];
    other.failForGood("t.1");
    const compared = compareRuns(
      { state: one.state, report: reportOf(one) },
      { state: other.state, report: reportOf(other) },
    );
    assert.equal(compared.isEqual, false);
    assert.deepEqual(
      compared.tasks.map(({ name, before, after }) => [name, before, after]),
      [
        ["a", "done", "failed"],
        ["b", "done", null],
        ["c", null, "working"],
      ],
    );
    const of = (figure: string) => compared.figures.find((one) => one.figure === figure);
    assert.deepEqual(of("landedTasks"), { figure: "landedTasks", before: 2, after: 0, change: -2 });
    assert.deepEqual(of("tokens"), { figure: "tokens", before: 5_000, after: null, change: null });
  });
});
