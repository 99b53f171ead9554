/** Tests the demo's script and project: every task has work, and each accident happens as intended. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { takeStep } from "../../adapters/agents/scripted-steps.ts";
import { type AnsweredTask, readPlanAnswer } from "../../core/answers/plan-answer.ts";
import { defaultPolicy, shouldDecompose } from "../../core/rules/policy.ts";
import { contains } from "../../core/scope.ts";
import { readScript, type WorkAttempt } from "../../ports/agent-script.ts";
import { demoProject } from "./project.ts";
import { CACHE_VARIABLE, demoScript, demoSettings } from "./script.ts";

const script = demoScript();
/** The id that the reconciler gives to its first task for a failing test. */
const FIX = "fix-tests-1";

function tasksOf(planner: string): readonly AnsweredTask[] {
  return script.plans[planner]!.flatMap((turn) => {
    if (!("answer" in turn)) return [];
    const read = readPlanAnswer(JSON.stringify(turn.answer));
    assert.equal(read.is, "answer", JSON.stringify(read));
    return read.is === "answer" ? read.answer.tasks : [];
  });
}

/** The tasks in an order in which they can land one by one, with the calendar's tasks in its place. */
const inOrder = tasksOf("t").flatMap((task) => (script.plans[task.id] ? tasksOf(task.id) : [task]));

describe("the demo's script", () => {
  it("is a script that its reader accepts", () => {
    const read = readScript(JSON.stringify(script));
    assert.deepEqual(read, { is: "script", script: JSON.parse(JSON.stringify(script)) });
  });

  it("has work for every task that its planners name, and for no other", () => {
    assert.deepEqual([FIX, ...inOrder.map(({ id }) => id)].sort(), Object.keys(script.work).sort());
    assert.ok(inOrder.length >= 14 && inOrder.length <= 20, `${inOrder.length} tasks`);
  });

  it("has several sprints, eight tasks that wait for nobody, and a task for a subplanner", () => {
    assert.ok(script.plans["t"]!.length >= 3);
    const workers = tasksOf("t").filter((task) => !shouldDecompose(task, defaultPolicy.decompose, 0));
    assert.ok(workers.filter((task) => task.after.length === 0).length >= 8);
    assert.equal(tasksOf("t").length - workers.length, 1);
    assert.ok(demoSettings.workers >= 8);
  });

  it("waits only for what comes about without it", () => {
    const waits = Object.entries(script.work).flatMap(([task, attempts]) =>
      attempts.flatMap(({ steps = [] }) =>
        steps.flatMap((step) => (step.do === "await" ? [{ task, step }] : [])),
      ),
    );
    assert.deepEqual(
      waits.filter(({ step }) => step.until === "landed").map(({ task, step }) => [task, step.task]),
      [
        ["sky-facts", "calendar-facts"],
        ["page", "day-names"],
      ],
    );
    // Ready by its last attempt, because an earlier one is refused.
    for (const { task, step } of waits.filter(({ step }) => step.until === "ready")) {
      assert.equal(task, FIX);
      const refusedAtWork = new Set(["season", "zodiac", "ordinal"]);
      assert.equal(step.attempt, refusedAtWork.has(step.task) ? script.work[step.task]!.length : 1);
    }
    const facts = tasksOf("t").filter(({ after, id }) => after.length === 0 && id !== FIX);
    assert.deepEqual(
      waits.flatMap(({ task, step }) => (task === FIX ? [step.task] : [])).sort(),
      facts.map(({ id }) => id).sort(),
    );
    assert.ok(demoSettings.workers > facts.length, "who waits must not keep the others from starting");
  });

  it("has a crash, an outage, a stray, an empty change and a red gate, each in a first try alone", () => {
    const first = (task: string) => script.work[task]![0]!;
    assert.equal(first("ordinal").end, "crash");
    assert.deepEqual(script.plans["calendar"]![0], { end: "outage" });
    for (const attempts of Object.values(script.work)) {
      assert.ok(typeof attempts.at(-1)!.end === "object" && "handoff" in (attempts.at(-1)!.end as object));
    }
  });
});

describe("the demo's project", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "skein-demo-"));
    for (const [name, text] of Object.entries(demoProject())) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    git("init", "--quiet");
    git("config", "user.name", "demo");
    git("config", "user.email", "demo@localhost");
    commit("begun");
  });
  after(() => rmSync(folder, { recursive: true }));

  const git = (...args: readonly string[]) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  const commit = (message: string) => {
    git("add", "--all");
    git("commit", "--quiet", "--message", message);
    return git("rev-parse", "HEAD");
  };
  const discard = () => git("stash", "push", "--include-untracked", "--quiet");
  const changed = () =>
    git("status", "--porcelain", "-uall")
      .split("\n")
      .filter(Boolean)
      .map((line) => line.slice(2).trim());
  const test = (more: NodeJS.ProcessEnv = {}) =>
    spawnSync(process.execPath, ["test/all.js"], {
      cwd: folder,
      encoding: "utf8",
      env: { ...withoutTestMarks, ...more },
    });
  const make = ({ steps = [] }: WorkAttempt) => {
    for (const step of steps)
      assert.equal(
        takeStep(step.do === "say" || step.do === "await" ? { do: "wait", ms: 0 } : step, folder, () => {}),
        undefined,
      );
  };
  const beginning = () => git("rev-list", "--max-parents=0", "HEAD");
  const isInside = (task: string, files = changed()) => {
    const { scope } = inOrder.find(({ id }) => id === task)!;
    return files.every((file) => contains(scope, file));
  };

  it("is red before in one test, whose failure leads to the file that the fix mends", () => {
    const { status, stdout } = test();
    assert.notEqual(status, 0);
    assert.match(
      stdout,
      /^✖ failing tests:\n\ntest at test\/date\.test\.js:\d+:1\n✖ numbers days, before 1970 too/m,
    );
    assert.match(stdout, /at dayNumber \(.*src\/date\.js:\d+:\d+\)/);
    make(script.work[FIX]!.at(-1)!);
    assert.deepEqual(changed(), ["src/date.js"]);
    assert.equal(test().status, 0);
    commit(FIX);
  });

  it("is green after the fix, and after each task as it lands", () => {
    for (const { id } of inOrder) {
      make(script.work[id]!.at(-1)!);
      const files = changed();
      assert.ok(files.length > 0 && isInside(id, files), `${id} changes ${files}`);
      const { status, stdout } = test();
      assert.equal(status, 0, `${id}: ${stdout}`);
      commit(id);
    }
  });

  it("prints in the end what its specification shows", () => {
    const page = execFileSync(process.execPath, ["bin/almanac.js", "2026-11-13"], {
      cwd: folder,
      encoding: "utf8",
    });
    const shown = demoProject()
      ["SPEC.md"]!.split("\n")
      .filter((line) => line.startsWith("    "))
      .map((line) => line.slice(4));
    assert.deepEqual(
      page.split("\n").filter((line) => line !== ""),
      shown,
    );
  });

  it("refuses the first tries for the reasons that they are there for", () => {
    git("checkout", "--quiet", beginning());
    make(script.work[FIX]!.at(-1)!);
    commit(FIX);
    make(script.work["season"]![0]!);
    assert.equal(isInside("season"), false);
    discard();
    make(script.work["zodiac"]![0]!);
    assert.deepEqual(changed(), []);
    make(script.work["week"]![0]!);
    assert.ok(isInside("week"));
    assert.match(test().stdout, /gives the days around New Year/);
    assert.notEqual(test().status, 0);
    discard();
  });

  it("has two tasks that git merges and that are green each alone, and red together until one is made again", () => {
    for (const { id } of inOrder.slice(
      0,
      inOrder.findIndex(({ id }) => id === "day-names"),
    )) {
      make(script.work[id]!.at(-1)!);
      commit(id);
    }
    const both = git("rev-parse", "HEAD");
    const [names, page] = ["day-names", "page"].map((id) => {
      git("checkout", "--quiet", both);
      make(script.work[id]![0]!);
      assert.ok(isInside(id));
      assert.equal(test().status, 0, id);
      return commit(id);
    });
    git("checkout", "--quiet", names!);
    git("merge", "--quiet", "--no-edit", page!);
    const { status, stdout } = test();
    assert.notEqual(status, 0);
    assert.match(stdout, /✖ a page has a head, the facts and the month/);
    git("checkout", "--quiet", names!);
    make(script.work["page"]!.at(-1)!);
    assert.equal(test().status, 0);
    commit("page");
  });

  it("has a test that fails where it is run for the first time, and never again", () => {
    make(script.work["command"]!.at(-1)!);
    const cache = mkdtempSync(path.join(tmpdir(), "skein-demo-cache-"));
    const runs = [1, 2, 3].map(() => test({ [CACHE_VARIABLE]: cache }));
    rmSync(cache, { recursive: true });
    assert.deepEqual(
      runs.map(({ status }) => status),
      [1, 0, 0],
    );
    assert.match(runs[0]!.stdout, /✖ starts from a warm cache/);
    assert.equal(test().status, 0, "nobody else is bothered by it");
    discard();
  });

  it("has two tasks that conflict when they are made at once, in either order, and not when made again", () => {
    const base = beginning();
    const [one, other] = (["calendar-facts", "sky-facts"] as const).map((id) => {
      git("checkout", "--quiet", base);
      make(script.work[id]!.at(-1)!);
      return commit(id);
    });
    const merge = spawnSync("git", ["merge-tree", "--write-tree", "--name-only", one!, other!], {
      cwd: folder,
      encoding: "utf8",
    });
    assert.equal(merge.status, 1);
    assert.match(merge.stdout, /^src\/index\.js$/m);
    const both = [
      [one!, "sky-facts"],
      [other!, "calendar-facts"],
    ].map(([first, then]) => {
      git("checkout", "--quiet", first!);
      make(script.work[then!]!.at(-1)!);
      commit(then!);
      return git("rev-parse", "HEAD^{tree}");
    });
    assert.equal(both[0], both[1]);
  });
});

/**
 * Removes the variable by which Node's test runner marks its children, because the project's own test run is not one.
 */
const { NODE_TEST_CONTEXT: _, ...withoutTestMarks } = process.env;
