/** Tests every number of a report: the demo's project by a model, counted by the server, git and the gate. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { demoGoal, demoProject } from "../../src/surfaces/demo/project.ts";
import { CACHE_VARIABLE, demoScript, demoSettings } from "../../src/surfaces/demo/script.ts";
import type { Answerer, SeenCall } from "../support/model-server/model-server.ts";
import { byRecords, playsScript } from "../support/model-server/plays-script.ts";
import { placeIn } from "../support/place.ts";
import { counted, jobOf, PRICES, priceOf } from "./model-accounting.ts";
import { type ModelPlace, makeModelPlace } from "./model-place.ts";
import { checkGate, checkLosses, checkTasks, noting, numbersIn, type Told } from "./report-checks.ts";
import { calls, handsOff } from "./subtask-moves.ts";

/** Each run of the gate writes a line with its times to a file outside of the project. */
const GATE = `f=$(date +%s%3N); node test/all.js; c=$?; echo $f $(date +%s%3N) >> "$${CACHE_VARIABLE}/gate-runs"; exit $c`;
const SETTINGS = {
  ...demoSettings,
  "retry.first": "50ms",
  gate: [`sh -c '${GATE}'`],
  gateProbe: "off",
  prices: PRICES,
};
const sets = Object.entries(SETTINGS).flatMap(([key, value]) => [
  "--set",
  `${key}=${typeof value === "object" ? JSON.stringify(value) : value}`,
]);

/**
 * The worker of the guide first asks a question, then has a subtask write the guide, and hands in the subtask's work.
 */
function delegatesTheGuide(answer: Answerer): Answerer {
  const write = demoScript().work["guide"]?.[0]?.steps?.find((step) => step.do === "write");
  assert.ok(write);
  const guide = {
    "1": calls("ask", { question: "Which hemisphere?", default: "the north", wait_s: 1 }),
    "2": calls("spawn_subtask", { type: "writing", description: "write the guide", inputs: {} }),
    "3": handsOff("the guide is written"),
  };
  return (call, signal) => {
    const { key, task, number } = placeOf(call);
    if (key === "guide") return guide[`${number}` as keyof typeof guide];
    if (!/^t(?:\.\d+){2}$/.test(task) || !/write the guide/.test(textsOf(call))) return answer(call, signal);
    const isWritten = call.messages.some(({ toolCalls }) => toolCalls.some(({ name }) => name === "write"));
    return isWritten ? handsOff("it is there") : calls("write", { path: write.path, content: write.text });
  };
}

const textsOf = ({ messages }: SeenCall) => messages.map(({ text }) => text).join("\n");
const placeOf = (call: SeenCall) =>
  call.messages.map(({ role, text }) => (role === "user" ? placeIn(text) : undefined)).findLast(Boolean)!;

describe("the report of the demo's project, with a subtask and a question in it", () => {
  it("has the numbers that the model's server, git and the gate have counted", {
    timeout: 300_000,
  }, async () => {
    let jobs = "";
    const until = byRecords(() => {
      [jobs = jobs] = globSync(path.join(place.state, "*/runs/*/jobs"));
      return jobs;
    });
    await using place = await makeModelPlace({
      files: demoProject(),
      answer: counted(delegatesTheGuide(playsScript(demoScript(), { until }))),
    });
    const { skein } = place.with({ env: { [CACHE_VARIABLE]: place.folder } });
    const begun = Date.now();
    const ran = await skein("run", demoGoal, ...sets);
    assert.equal(ran.code, 0, ran.out + ran.err);
    const printed = JSON.parse((await skein("report", "--json")).out) as Told;
    const checked = new Set<string>();
    const told = noting(printed, checked);
    checkModel(told, place.server.calls);
    await checkGit(told, place);
    const runs = readFileSync(path.join(place.folder, "gate-runs"), "utf8").trimEnd().split("\n");
    checkGate(
      told,
      runs.map((line) => line.split(" ").map(Number)).map(([from = 0, to = 0]) => ({ from, to })),
    );
    checkTasks(told, place.server.calls, subtaskIn(place.server.calls));
    checkLosses(told, FAILING, { from: begun, to: Date.now() });
    checkTimes(told, place.server.calls);
    assert.deepEqual([...numbersIn(printed)].filter((number) => !checked.has(number)).sort(), []);
    checkText(told, (await skein("report")).out);
    const same = await skein("diff", told.run, told.run);
    assert.equal(same.out, `\nRuns ${told.run} and ${told.run} are equal.\n`);
    const compared = JSON.parse((await skein("diff", told.run, told.run, "--json")).out);
    assert.deepEqual([compared.isEqual, compared.tasks], [true, []]);
  });
});

/** The subtask that writes the guide. */
const subtaskIn = (all: readonly SeenCall[]) =>
  placeOf(all.find((call) => /write the guide/.test(textsOf(call)) && placeOf(call).key !== "guide")!).task;

/** Checks calls, tokens and money, in all and for repair. */
function checkModel({ report: { figures }, counts }: Told, all: readonly SeenCall[]): void {
  const answered = all.filter(({ usage }) => usage !== undefined);
  const tokensOf = (some: readonly SeenCall[]) =>
    some.reduce((sum, { usage }) => sum + usage!.input + usage!.output, 0);
  const tokens = tokensOf(answered);
  const microdollars = answered.reduce((sum, { usage }) => sum + priceOf(usage!), 0);
  assert.equal(figures.modelCalls, answered.length);
  assert.equal(figures.tokens, tokens);
  assert.equal(figures.microdollars, microdollars);
  assert.equal(figures.tokensPerTask, tokens / counts.done);
  assert.equal(figures.microdollarsPerTask, microdollars / counts.done);
  // Repair: the attempts that the script makes fail, and the task that mends the base.
  const repair = answered.filter((call) => {
    const { key, number } = placeOf(call);
    const isFirst = number === 1 && jobOf(call).startsWith("work:");
    return key === "fix-tests-1" || (isFirst && FAILING.includes(key));
  });
  assert.ok(repair.length > 0);
  assert.equal(figures.repairTokens, tokensOf(repair));
  assert.equal(figures.repairShare, tokensOf(repair) / tokens);
  const jobsOf = (pattern: RegExp) => new Set(all.map(jobOf).filter((job) => pattern.test(job))).size;
  assert.equal(figures.subtasks, 1);
  assert.equal(figures.questions, 1);
  assert.ok(jobsOf(/^work:/) > figures.tasks, "a retried task has several jobs");
}

/**
 * Refused at landing, by the gate or a conflict. The other failing tasks crash, leave their scope, or change nothing.
 */
const REFUSED = ["week", "sky-facts", "page"];
const FAILING = ["ordinal", "season", "zodiac", ...REFUSED];

/** Checks commits and lines on the target, and the proofs in its notes. */
async function checkGit({ run, base, landings, report }: Told, { repository }: ModelPlace): Promise<void> {
  const { git } = repository;
  const range = `${base}..skein/${run}/target`;
  const { figures } = report;
  const commits = (await git("rev-list", "--first-parent", "--reverse", range)).split("\n");
  assert.deepEqual(
    report.landings.map(({ commit }) => commit),
    commits,
  );
  assert.equal(figures.landings, commits.length);
  for (const { commit, tasks, linesAdded, linesRemoved } of report.landings) {
    const counted = await git("log", "-1", "--first-parent", "-m", "--numstat", "--format=", commit);
    assert.deepEqual([linesAdded, linesRemoved], linesIn(counted), commit);
    const proof = JSON.parse(await git("notes", `--ref=skein/${run}`, "show", commit)) as {
      readonly proof: string;
      readonly members: readonly { readonly task: string }[];
    };
    assert.equal(tasks, proof.members.length);
    const landing = landings.find((one) => one.commit === commit)!;
    assert.deepEqual(
      [landing.proof, landing.members.map(({ task }) => task)],
      [proof.proof, proof.members.map(({ task }) => task)],
    );
  }
  const all = linesIn(await git("log", "--first-parent", "-m", "--numstat", "--format=", range));
  assert.deepEqual([figures.linesAdded, figures.linesRemoved], all);
  assert.equal(figures.tokensPerLine, figures.tokens! / (all[0] + all[1]));
  assert.equal(figures.microdollarsPerLine, figures.microdollars! / (all[0] + all[1]));
  assert.equal(figures.landedTasks, landings.flatMap(({ members }) => members).length);
  assert.equal(figures.refused, REFUSED.length);
  assert.equal(figures.mergeSuccessShare, figures.landedTasks / (figures.landedTasks + REFUSED.length));
}

function linesIn(numstat: string): readonly [added: number, removed: number] {
  const rows = numstat.split("\n").filter((line) => line !== "");
  const sum = (column: number) => rows.reduce((all, row) => all + Number(row.split("\t")[column]), 0);
  return [sum(0), sum(1)];
}

/** The server sees only the calls: a job lasts longer than the time between its first and its last call. */
function checkTimes({ report: { figures, time }, tally }: Told, all: readonly SeenCall[]): void {
  const spanOf = (some: readonly SeenCall[]) => some.at(-1)!.at - some[0]!.at;
  const seen = Map.groupBy(all, jobOf)
    .values()
    .reduce((sum, some) => sum + spanOf(some), 0);
  assert.ok(figures.agentsMs >= seen, `${figures.agentsMs} ms, and the server has seen ${seen}`);
  assert.ok(figures.wallMs >= spanOf(all));
  assert.equal(figures.speedUp, figures.agentsMs / figures.wallMs);
  assert.ok(figures.criticalMs > 0 && figures.criticalMs <= figures.wallMs);
  assert.equal(figures.efficiencyShare, figures.criticalMs / figures.wallMs);
  assert.equal(
    time.parts.reduce((sum, { ms }) => sum + ms, 0),
    time.totalMs,
  );
  const onlyPreparing = time.parts.find(({ is }) => is === "prepare")?.ms ?? 0;
  assert.ok(tally.prepareMs >= onlyPreparing && tally.prepareMs < figures.wallMs, "side by side, it is more");
  assert.ok(figures.redMs > 0 && figures.redMs < figures.wallMs, "the demo's base fails at first");
  assert.deepEqual([figures.flakyTests, tally.flaky.tests.length], [1, 1]);
}

/** The text that people read has the same numbers as the JSON. */
function checkText({ report: { figures: f } }: Told, text: string): void {
  const number = (n: number) => n.toLocaleString("en", { maximumFractionDigits: 0 });
  for (const words of [
    `${f.tasksDone} of ${f.tasks} done; 1 subtask, 1 question`,
    `${f.landedTasks} tasks in ${f.landings} landings, +${f.linesAdded} −${f.linesRemoved} lines`,
    `${f.landedTasks} landed, ${REFUSED.length} refused`,
    `at least ${number(f.tokens!)} tokens, $${(f.microdollars! / 1e6).toFixed(2)}`,
    `${number(f.tokensPerTask!)} tokens, $${(f.microdollarsPerTask! / 1e6).toFixed(2)}`,
    `${number(f.repairTokens!)} tokens`,
    `${f.gateRuns} runs, `,
  ])
    assert.ok(text.includes(words), `${words}\nis not in\n${text}`);
}
