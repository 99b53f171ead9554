/** Tests `skein demo` from start to end: its plan, accidents, landings, figures, words and every commit that landed. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Event, EventOf } from "../../src/core/log/event.ts";
import { nameOf } from "../../src/core/log/state.ts";
import { nothingSeen, type RunView, see } from "../../src/core/view/view.ts";
import { openRepository, plainEnvironment } from "../support/repositories.ts";

const call = promisify(execFile);
const SKEIN = fileURLToPath(new URL("../../bin/skein", import.meta.url));

test("the demo takes its project from SPEC.md to commits that each pass the project's own tests", async () => {
  const outer = await mkdtemp(path.join(tmpdir(), "skein-demo-test-"));
  try {
    const folder = path.join(outer, "a demo");
    const env = { ...plainEnvironment(), HOME: outer };
    const { stdout } = await call(process.execPath, [SKEIN, "demo", "--folder", folder], { env });
    assert.match(
      stdout,
      /^Everything but the model is real: git, workspaces, processes, the gate, the log\.$/m,
    );
    assert.match(stdout, /one breaks a test/);
    const intro = stdout.slice(0, stdout.indexOf("\nrun "));
    assert.ok(
      intro.split("\n").every((line) => line.length <= 80),
      intro,
    );
    await pasteHints(stdout, env);
    assert.match(stdout, /is done: 19 of 19 tasks done/);
    for (const accident of [
      /ordinal, attempt 1: .*killed by SIGKILL.* → done/,
      /zodiac, attempt 1: the worker changed no file and says that it is so already, which is not verified.* → done/,
      /season, attempt 1: changed files outside its scope: README\.md → done/,
      /week, attempt 1: breaks the gate: .*gives the days around New Year.* → done/,
      /page, attempt 1: breaks the gate; it passes without this change: .*a page has a head.* → done/,
      /sky-facts, attempt 1: conflicts with the target in src\/index\.js → done/,
      /the planner of calendar: the agent could not reach its model/,
    ])
      assert.match(stdout, accident);
    assert.match(stdout, /^Failed attempts \(retried\): 7$/m);
    assert.deepEqual((await readdir(folder)).sort(), ["almanac", "cache", "script.json", "state"]);
    assert.deepEqual(await readdir(outer), ["a demo"], "nothing is left elsewhere");
    const project = path.join(folder, "almanac");
    const [, run = ""] = /^run +(\S+)$/m.exec(stdout) ?? [];
    const at = { cwd: project, env: { ...env, SKEIN_STATE_DIR: path.join(folder, "state") } };
    const log = await call(process.execPath, [SKEIN, "logs", run, "--json"], at);
    const landings = checkLog(log.stdout);
    const shown = await call(process.execPath, [SKEIN, "show", run, "--json"], at);
    checkTally((JSON.parse(shown.stdout) as Pick<RunView, "tally">).tally, landings);
    checkWords(stdout, landings);
    const outputs = await call(process.execPath, [SKEIN, "show", run, "--gates", "--json"], at);
    checkOutputs(JSON.parse(outputs.stdout).gateRuns);
    await testEveryLanding(project, outer, landings);
  } finally {
    await rm(outer, { recursive: true, force: true, maxRetries: 3 });
  }
});

type GateRunShown = {
  readonly of: string;
  readonly green?: boolean;
  readonly text: { readonly is: string };
};

/**
 * Every gate run that came to an end kept its output, and so did the newest probe; an earlier probe had no passing test
 * to use.
 */
function checkOutputs(runs: readonly GateRunShown[]): void {
  const lost = runs.filter(({ green, text }) => green !== undefined && text.is !== "kept");
  assert.deepEqual(lost, []);
  assert.equal(runs.findLast(({ of }) => of === "probe")?.text.is, "kept");
}

/** Runs the printed hints in a shell as they stand, and checks those that are not run. */
async function pasteHints(stdout: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [, text = ""] = stdout.split("\nTo look around in the demo project\n");
  const hints = text.trimEnd().split("\n");
  assert.deepEqual(
    hints.map((line) => /^(?:'([^']*)'|(\S+))/.exec(line.trim())?.slice(1).join("")),
    ["cd", "export", SKEIN, SKEIN, "git", SKEIN, "rm"],
  );
  assert.match(hints.at(-1)!, /^ {2}rm -rf '.*\/a demo' {2}# delete the demo$/);
  const script = ["set -e", ...hints.slice(0, 3)].join("\n");
  const { stdout: shown } = await call("sh", ["-c", script], {
    env: { ...env, PATH: `${path.dirname(process.execPath)}:${env["PATH"]}` },
  });
  assert.match(shown, /the goal +done/);
}

/** Checks what only the log shows, and gives the number of landings. */
function checkLog(text: string): number {
  const log = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
  const { state } = log.reduce(see, nothingSeen());
  const all = <T extends Event["type"]>(type: T) =>
    log.filter((event): event is EventOf<T> => event.type === type);
  const names = (members: readonly { readonly task: string }[]) =>
    members.map(({ task }) => nameOf(state, task as Parameters<typeof nameOf>[1]));
  const batches = all("batch.landed").map(({ members }) => names(members));

  // The base is red: a rule makes a fix task from the test's output; the fix lands first, and alone.
  const fixes = all("repair.planned").flatMap(({ into }) => into);
  assert.deepEqual(
    fixes.map(({ spec }) => [spec.key, [...spec.scope].sort()]),
    [["fix-tests-1", ["src/date.js", "test/date.test.js"]]],
  );
  assert.deepEqual(batches[0], ["fix-tests-1"]);
  const facts = ["leap", "weekday", "week", "season", "moon", "zodiac", "ordinal", "roman"];
  const mended = log.findIndex(({ type }) => type === "batch.landed");
  const waiting = log.slice(0, mended).flatMap((event) => (event.type === "task.handed-off" ? [event] : []));
  assert.deepEqual(new Set(names(waiting)), new Set([...facts, "fix-tests-1"]), "the others wait for it");

  // Then all eight facts are in one candidate. Its gate runs again, then on "week", which the output names, then on the
  // target; no other task is refused.
  const candidates = all("job.started").flatMap(({ job }) =>
    job.kind === "land" ? [names(job.members)] : [],
  );
  assert.deepEqual(candidates.slice(1, 3), [facts, facts]);
  const phases = all("landing.turned").map(({ phase }) => phase);
  const bisects = phases.flatMap((phase) => (phase.is === "bisect" ? [names(phase.next)] : []));
  const base = phases.findIndex(({ is }) => is === "base");
  assert.deepEqual(
    phases.slice(base - 2, base + 3).map(({ is }) => is),
    ["again", "bisect", "base", "bisect", "open"],
  );
  assert.deepEqual(bisects, [["week"], ["week"]]);
  const together = batches.find((members) => members.includes("season"));
  assert.deepEqual(together?.slice(0, 3), ["leap", "weekday", "season"]);

  const refused = all("task.retried").filter(({ failure }) => failure.kind === "gate-red");
  assert.deepEqual(names(refused), ["week", "page"]);
  // The next attempt is told the gate's output.
  assert.match(refused[1]!.failure.detail ?? "", /test\/page\.test\.js/);
  // Two changes that git merges: "page" was made before "day-names" landed, and is gated on top of it.
  const at = (find: (event: Event) => boolean) => log.findIndex(find);
  const named = (name: string) => (event: { readonly task: string }) => names([event])[0] === name;
  const began = at((e) => e.type === "job.started" && e.job.kind === "work" && named("page")(e.job));
  const other = at((e) => e.type === "batch.landed" && e.members.some(named("day-names")));
  const handedOff = at((e) => e.type === "task.handed-off" && named("page")(e));
  assert.ok(began < other && other < handedOff, `${began} ${other} ${handedOff}`);

  const flaky = all("batch.landed").filter((event) => event.flaky.length > 0);
  assert.deepEqual(
    flaky.map((event) => event.flaky),
    [["node test/all.js: test/command.test.js > starts from a warm cache"]],
  );
  assert.ok(names(flaky[0]!.members).includes("command"));
  return batches.length;
}

function checkTally(tally: RunView["tally"], landings: number): void {
  const { agents, gate, losses, flaky, red } = tally;
  assert.ok(agents.mostAtOnce >= 8 && agents.share > 0 && agents.share <= 1, JSON.stringify(agents));
  assert.deepEqual([gate.landings, gate.tasks], [landings, 18]);
  assert.ok(gate.largestBatch >= 5 && gate.perTask < 2, JSON.stringify(gate));
  assert.deepEqual(losses.map(({ reason, count }) => [reason, count]).sort(), [
    ["conflict", 1],
    ["died", 1],
    ["empty change", 1],
    ["gate red", 2],
    ["out of scope", 1],
    ["outage", 1],
  ]);
  // For "week": the eight twice, "week" alone twice, and the target. For "page": "page" twice, and the target.
  assert.equal(losses.find(({ reason }) => reason === "gate red")?.gateRuns, 8);
  assert.equal(losses.find(({ reason }) => reason === "conflict")?.gateRuns, 0);
  assert.deepEqual([flaky.tests.length, flaky.gateRuns], [1, 1]);
  assert.deepEqual(
    red.spans.map(({ isOver, by }) => [isOver, by.map(({ name }) => name)]),
    [[true, ["fix-tests-1"]]],
  );
}

/** A person who only reads the output sees each of these moments. */
function checkWords(stdout: string, landings: number): void {
  for (const line of [
    /Gate fails on the base: .*numbers days, before 1970 too$/m,
    /Created fix-tests-1 to repair the base; landing is blocked until then$/m,
    /fix-tests-1 landed as \w+: the target is repaired$/m,
    /Gate failed with 8 tasks; re-running in case it is flaky: .*New Year/m,
    /Gate failed again; checking whether the target itself fails$/m,
    /Gate failed again, in files that only week changed: testing that alone$/m,
    /Gate failed with week; re-running to be sure$/m,
    /week, attempt 1: breaks the gate/m,
    /page, attempt 1: breaks the gate; it passes without this change/m,
    /command.* landed as \w+; flaky, failed and then passed on the same tree: .*warm cache$/m,
    /^ {2}\d+ agents, \d+ % busy$/m,
    /^ {2}the gate failed on the target for .*, until fix-tests-1 landed: /m,
    /^Cost of failed attempts$/m,
    new RegExp(`^Verified: each of the ${landings} commits that landed`, "m"),
  ])
    assert.match(stdout, line);
}

/** Takes each landed tree out of git and runs its tests again, independently of what Skein reports. */
async function testEveryLanding(project: string, outer: string, landings: number): Promise<void> {
  const { git } = openRepository(project);
  assert.equal(await git("status", "--porcelain"), "");
  const target = await git("for-each-ref", "--format=%(refname)", "refs/heads/skein/*/target");
  const [first, ...rest] = (await git("rev-list", "--first-parent", "--reverse", target)).split("\n");
  assert.equal(rest.length, landings);
  const tested = async (commit: string) => {
    const tree = path.join(outer, commit);
    await mkdir(tree);
    await git(`--work-tree=${tree}`, "read-tree", commit);
    await git(`--work-tree=${tree}`, "checkout-index", "--all");
    // With this variable the tests would report in the format of the test runner.
    const { NODE_TEST_CONTEXT: _, ...env } = plainEnvironment();
    await call(process.execPath, ["test/all.js"], { cwd: tree, env });
  };
  const isRed = ({ stdout }: { readonly stdout?: string }) =>
    /✖ numbers days|not ok .* numbers days/.test(`${stdout}`);
  await assert.rejects(tested(first!), isRed, "it is red to begin with");
  for (const commit of rest) await tested(commit);
}

test("the demo says what it needs where there is no git", async () => {
  const outer = await mkdtemp(path.join(tmpdir(), "skein-demo-test-"));
  try {
    const folder = path.join(outer, "demo");
    const env = { HOME: outer, PATH: outer };
    await assert.rejects(call(process.execPath, [SKEIN, "demo", "--folder", folder], { env }), {
      code: 3,
      stderr: `skein: git init failed in ${path.join(folder, "almanac")}\ntry: git 2.38 or newer must be installed\n`,
    });
  } finally {
    await rm(outer, { recursive: true, force: true });
  }
});
