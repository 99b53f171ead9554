/** Tests the check of plan files, and how `skein run --plan` waits for a yes. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../../test/support/folders.ts";
import { checkedBy, groundsOf } from "../../../app/plan-grounds.ts";
import { groundsParts } from "../../../compose/planning.ts";
import { readPlan } from "../../../planning/files/read-plan.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { renderMarkdown } from "../../../planning/render/markdown.ts";
import { approve, refusePlanFirst } from "../acts/plan-run.ts";
import type { Context } from "../context.ts";
import { processInput, type TypedInput } from "../input.ts";
import { planIn } from "../planning/file.ts";
import { planCheck } from "./plan-check.ts";

const TASKS = `[
  { "id": "a", "subject": "Write a", "description": "Write the file a.", "scope": ["a.txt"] },
  {
    "id": "b",
    "subject": "Write b",
    "description": "Write the file b.",
    "blockedBy": ["a"],
    "scope": ["b.txt"]
  }
]`;
const planText = (tasks = TASKS) =>
  `{\n"skein_plan": 1,\n"goal": "two files",\n"success_criteria": ["Both are there."],\n"tasks":\n${tasks}\n}\n`;

function contextIn(folder: string, more: { readonly json?: true; readonly isTerminal?: true } = {}) {
  const written = { out: "", err: "" };
  const size = more.isTerminal ? { size: () => ({ columns: 80, rows: 24 }) } : {};
  const sink = (name: "out" | "err") => ({
    hasColours: false,
    write: (text: string) => {
      written[name] += text;
    },
    ...size,
  });
  const { json = false } = more;
  const env = {};
  const context: Context = {
    out: sink("out"),
    err: sink("err"),
    json,
    env,
    folder,
    command: "skein",
    now: () => 0,
    input: processInput,
  };
  return { context, written };
}

const typing =
  (...lines: string[]) =>
  (): TypedInput => ({
    isTerminal: true,
    line: async () => lines.shift(),
    all: async (maxBytes) => Buffer.from(lines.join("\n")).subarray(0, maxBytes + 1),
    close: async () => {},
  });

async function check(
  text: string,
  {
    file = "plan.json",
    json,
    env = {},
  }: { readonly file?: string; readonly json?: true; readonly env?: Context["env"] } = {},
) {
  const folder = newFolder();
  writeFileSync(path.join(folder, file), text);
  const { context, written } = contextIn(folder, json && { json });
  const code = await planCheck({ ...context, env }, { file });
  return { code, ...written };
}

const LIMITS = "../../../../planning/limits.json";

describe("a check of a plan file", () => {
  it("says that a good one is ready, in JSON, in markdown and from standard input", async () => {
    const json = await check(planText());
    assert.deepEqual(
      [json.code, json.out.split("\n").at(-2), json.err],
      [0, "2 tasks in 2 waves, ready", ""],
    );
    const read = readPlan(planText());
    assert.ok(read.is === "plan");
    const markdown = await check(renderMarkdown(read.plan), { file: "plan.md" });
    assert.deepEqual([markdown.code, markdown.out], [0, "2 tasks in 2 waves, ready\n"]);
    const { context, written } = contextIn(newFolder());
    assert.equal(await planCheck({ ...context, input: typing(planText()) }, { file: "-" }), 0, written.err);
  });

  it("names every problem with its place and its line", async () => {
    const broken = TASKS.replace('["a"]', '["c"]').replace('"b.txt"', '"../b.txt"');
    const { code, out } = await check(planText(broken));
    assert.equal(code, 1);
    assert.match(out, /^plan\.json:12: tasks\[1\]\.blockedBy\[0\]: .*"c"/m);
    assert.match(out, /^plan\.json:13: tasks\[1\]\.scope\[0\]: .*leaves the repository/m);
    assert.match(out, /^2 errors: not ready$/m);
    const json = await check(planText(broken), { json: true });
    const { isReady, findings } = JSON.parse(json.out);
    assert.deepEqual(
      [
        json.code,
        isReady,
        findings.map(({ level, line }: { level: string; line: number }) => [level, line]).sort(),
      ],
      [
        1,
        false,
        [
          ["error", 12],
          ["error", 13],
        ],
      ],
    );
  });

  it("names the line on which a text stops being JSON", async () => {
    const { code, out } = await check(planText(TASKS.replace('"id": "b",', '"id": "b"')));
    assert.deepEqual([code, /^plan\.json:10: .*line 10, column/m.test(out)], [1, true], out);
  });

  it("reads a plan that is wrapped, and says what is wrong with one whose tasks are no list", async () => {
    const task = '{"id": "a",\n"subject": "Add a", "scope": ["x.ts"]}';
    const wrapped = await check(`{"plan": {"tasks": [${task},\n{"subject": "Add b", "scope": ["x.ts"]}]}}`);
    assert.match(wrapped.out, /^plan\.json:3: tasks\[1\]\.scope\[0\]: .*both write x\.ts/m);
    assert.match((await check(`{"tasks": {"a": ${task}}}`)).out, /tasks: must be a list/);
  });

  it("reads markdown as it reads JSON: the scratchpad's own path, and keys that nobody knows", async () => {
    const read = readPlan('{"tasks": [{"subject": "Review it", "output_file": "a.md"}]}');
    assert.ok(read.is === "plan");
    const text = renderMarkdown(read.plan)
      .replace("$CLAUDE_SCRATCHPAD_DIR/", "/scratch/")
      .replace('"reads":', '"raeds": [],\n"reads":');
    const { code, out } = await check(text, { file: "plan.md", env: { CLAUDE_SCRATCHPAD_DIR: "/scratch" } });
    assert.equal(code, 0, out);
    assert.match(out, /^note: "raeds" in tasks\[0\] is not known and was not read; did you mean reads\?$/m);
  });

  it("takes the repository's own limits", async () => {
    const folder = newFolder();
    execFileSync("git", ["init", "-q"], { cwd: folder });
    const own = path.join(folder, ".skein", "planning");
    mkdirSync(own, { recursive: true });
    const limits = JSON.parse(readFileSync(new URL(LIMITS, import.meta.url), "utf8"));
    const stricter = { ...limits, maxFilesModified: { value: 1, why: "One at a time." } };
    writeFileSync(path.join(own, "limits.json"), JSON.stringify(stricter));
    writeFileSync(path.join(folder, "plan.json"), '{"tasks": [{"subject": "Add it", "scope": ["x", "y"]}]}');
    const { context, written } = contextIn(folder);
    assert.equal(await planCheck(context, { file: "plan.json" }), 0);
    assert.match(written.out, /changes 2 files, more than 1$/m);
    const grounds = await groundsOf(folder, groundsParts, AbortSignal.timeout(20_000));
    assert.ok("facts" in grounds);
    const toRun = await planIn(context, "plan.json", async () => checkedBy(grounds));
    const [, warnings] = /ready \((\d+) warnings\)/.exec(written.out)!;
    assert.equal(toRun && "plan" in toRun && toRun.warnings, Number(warnings));
  });

  it("says so of what is no plan at all", async () => {
    for (const [text, file] of [
      ['{"name": "x"}', "package.json"],
      ["# A goal\n", "SPEC.md"],
      ["", "empty.json"],
      ["null", "plan.json"],
    ] as const)
      assert.equal((await check(text, { file })).code, 1, file);
    const { context, written } = contextIn(newFolder());
    assert.equal(await planCheck(context, { file: "gone.json" }), 2);
    assert.match(written.err, /there is no file gone\.json/);
    assert.equal(await planCheck(context, { file: "." }), 2);
  });
});

describe("a plan that waits for a yes", () => {
  const plan = (): ExecutionPlan => {
    const read = readPlan(planText());
    assert.ok(read.is === "plan");
    return read.plan;
  };
  const answered = async (...typed: string[]) => {
    const folder = newFolder();
    const { context, written } = contextIn(folder, { isTerminal: true });
    const code = await approve(context, { plan: plan(), warnings: 0 }, {}, typing(...typed));
    return { code, folder, ...written };
  };

  it("is shown, and goes on only with a yes", async () => {
    for (const yes of ["y", " Yes "]) assert.equal((await answered(yes)).code, undefined);
    for (const no of [["n"], [""], ["yess"], []]) {
      const { code, out, err } = await answered(...no);
      assert.deepEqual([code, out.includes("Write b"), /not started/.test(err)], [1, true, true]);
      assert.deepEqual([/^Next$/m.test(out), err.includes("] \n")], [false, no.length === 0]);
    }
    const { context } = contextIn(newFolder());
    assert.equal(await approve(context, { plan: plan(), warnings: 0 }, { yes: true }, typing()), undefined);
  });

  it("can be written to a file and edited, under a name that is free", async () => {
    const { code, out, folder } = await answered("e");
    assert.deepEqual([code, /wrote plan\.json; edit it/.test(out)], [1, true], out);
    assert.deepEqual(JSON.parse(readFileSync(path.join(folder, "plan.json"), "utf8")), plan());
    const { context } = contextIn(folder, { isTerminal: true });
    await approve(context, { plan: plan(), warnings: 0 }, {}, typing("e"));
    assert.ok(existsSync(path.join(folder, "plan-2.json")));
  });

  it("is refused beforehand where nobody could say yes", () => {
    const options = { goal: "x", plan: true } as const;
    const at = (isTerminal?: true, json?: true) =>
      contextIn("/", { ...(isTerminal && { isTerminal }), ...(json && { json }) });
    const refused = at();
    assert.equal(refusePlanFirst(refused.context, options, typing()), 2);
    assert.match(
      refused.written.err,
      /add --yes .*skein plan "x" --out plan\.json, then skein run plan\.json/,
    );
    assert.equal(refusePlanFirst(at(true, true).context, options, typing()), 2, "JSON is for programs");
    assert.equal(refusePlanFirst(at(true).context, options, typing()), undefined);
    assert.equal(refusePlanFirst(at().context, { ...options, yes: true }, typing()), undefined);
    for (const alone of [{ yes: true }, { by: "agent" }] as const)
      assert.equal(refusePlanFirst(at(true).context, { goal: "x", ...alone }, typing()), 2);
  });
});
