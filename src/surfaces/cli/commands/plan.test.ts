/** Tests `skein plan` within this process. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { newFolder } from "../../../../test/support/folders.ts";
import { type Asked, ask, CALCULATOR, jsonOf } from "../../../../test/support/plan-asked.ts";
import { makeRepository, type TestRepository } from "../../../../test/support/repositories.ts";
import { readPlan } from "../../../planning/files/read-plan.ts";
import { parseMarkdown } from "../../../planning/render/markdown.ts";
import type { PlanOptions } from "./options.ts";

let repository: TestRepository;
before(async () => {
  const script = JSON.stringify({ scripts: { test: "node --test" } });
  repository = await makeRepository({
    files: { "package.json": script, "src/a.ts": "", "test/a.test.ts": "" },
  });
});
after(() => repository[Symbol.asyncDispose]());
const here = () => repository.folder;

describe("a plan on the command line", () => {
  it("is the same plan in every form", async () => {
    const json = await ask({ folder: here(), json: true });
    const read = readPlan(json.out);
    assert.ok(read.is === "plan" && json.code === 0 && json.err === "");
    assert.deepEqual(
      read.plan.tasks.map(({ metadata }) => metadata.wave),
      [0, 0, 0, 0],
    );
    const markdown = parseMarkdown((await ask({ folder: here() }, { markdown: true })).out);
    assert.ok(markdown.is === "plan");
    assert.deepEqual(markdown.plan, read.plan);
    const text = await ask({ folder: here() });
    for (const { subject } of read.plan.tasks) assert.ok(text.out.includes(subject));
    const two = await ask({ folder: here(), json: true }, { markdown: true });
    assert.deepEqual(
      [two.code, JSON.parse(two.err).error.message],
      [2, "--json and --markdown exclude each other"],
    );
  });

  it("knows the repository around a folder, and does without one", async () => {
    const inside = await jsonOf({ folder: path.join(here(), "src") });
    assert.deepEqual(inside.context.tests, ["test/"]);
    const outside = await jsonOf({ folder: newFolder() });
    assert.match(outside.assumptions.join("\n"), /no repository here: the plan was made without reading/);
    const gone = await ask({ folder: here() }, { repo: "gone" });
    assert.deepEqual([gone.code, /there is no folder .*gone/.test(gone.err)], [3, true]);
  });

  it("takes a file, or standard input, within a megabyte", async () => {
    const folder = newFolder();
    writeFileSync(path.join(folder, "SPEC.md"), CALCULATOR);
    assert.equal((await jsonOf({ folder, request: "SPEC.md" })).tasks.length, 4);
    assert.equal((await jsonOf({ folder, request: "-", stdin: CALCULATOR })).tasks.length, 4);
    const long = await ask({ folder, request: "-", stdin: "x".repeat(1_000_001) });
    assert.deepEqual([long.code, /longer than 1 MB/.test(long.err)], [2, true]);
    for (const request of ["", " \n", "...", "SPEK.md", "-"])
      assert.equal((await ask({ folder, request })).code, 2, request);
    assert.equal((await ask({ folder, request: "-", stdin: CALCULATOR }, { ask: true })).code, 2);
  });

  it("refuses what makes no sense in its options", async () => {
    const cases: readonly (readonly [PlanOptions, RegExp])[] = [
      [{ by: "magic" }, /--by must be rules or agent, not magic/],
      [{ by: "rules", agent: "claude" }, /--by rules asks no agent/],
      [{ agentPrefix: "two words" }, /--agent-prefix must be a word/],
    ];
    for (const [options, words] of cases) {
      const { code, err } = await ask({ folder: here() }, options);
      assert.deepEqual([code, words.test(err)], [2, true], err);
    }
    const { tasks } = await jsonOf({ folder: here() }, { agentPrefix: true });
    assert.equal(tasks[0]?.metadata.agent, "workflow-orchestrator:general-purpose");
  });

  it("says where the repository's own word lists are broken", async () => {
    await using own = await makeRepository({ files: { ".skein/planning/limits.json": '{"version": 2}' } });
    const { code, err } = await ask({ folder: own.folder });
    assert.deepEqual([code, /\.skein\/planning\/limits\.json: version: must be 1/.test(err)], [3, true], err);
    await own.write({ ".skein/planning/words.json": '{"version": 1, "actionVerbs": ["add"]}' });
    const many = (await ask({ folder: own.folder })).err.split("\n");
    assert.ok(many.length < 15 && many.some((line) => /^ {2}and \d+ more$/.test(line)), many.join("\n"));
    assert.match(many.join("\n"), /^try: start from a full copy/m);
  });
});

describe("what is not clear", () => {
  const VAGUE = "fix it";

  it("is taken from the default where nobody can be asked, and said", async () => {
    const { questions, assumptions, tasks } = await jsonOf({ folder: here(), request: VAGUE });
    assert.deepEqual([questions.filter(({ blocking }) => blocking), tasks.length > 0], [[], true]);
    assert.match(assumptions.join("\n"), /meant by "fix it"\?.*npm run test/);
    const text = await ask({ folder: here(), request: VAGUE, typed: ["the login"] });
    assert.ok(!text.out.includes("login") && text.err === "", "no terminal, no question");
  });

  it("is asked on a terminal, and the answer is planned with", async () => {
    const asked = await ask({ folder: here(), request: VAGUE, typed: ["the login form"], isTerminal: true });
    assert.match(asked.err, /^What exactly is meant by "fix it"\? \(Default: [^)]*\)\n> $/);
    assert.match(asked.out, /login form/);
    for (const typed of [[""], []]) {
      const usual = await ask({ folder: here(), request: VAGUE, typed }, { ask: true });
      assert.deepEqual([usual.code, /npm run test/.test(usual.out)], [0, true]);
    }
    const silent = await ask({ folder: here(), request: VAGUE, isTerminal: true }, { ask: false });
    assert.equal(silent.err, "");
  });
});

describe("how many agents a plan is for", () => {
  const count = async (asked: Omit<Asked, "folder"> & { folder?: string }, options?: PlanOptions) =>
    (await jsonOf({ folder: here(), ...asked }, options)).max_concurrent;

  it("is the flag's, the configuration's, the environment's, or 8", async () => {
    const env = { CLAUDE_MAX_CONCURRENT: "5" };
    assert.equal(await count({}), 8);
    assert.equal(await count({ env }), 5);
    assert.equal(await count({ env: { ...env, MAX_WORKERS: "6" } }), 6);
    assert.equal(await count({ env }, { maxConcurrent: "3" }), 3);
    assert.equal(await count({ env }, { set: ["workers=2"] }), 2);
    await using own = await makeRepository({ files: { "skein.yaml": "workers: 4\n" } });
    assert.equal(await count({ env, folder: own.folder }), 4);
    await using other = await makeRepository({ files: { "skein.yaml": "approve: first\n" } });
    assert.equal(await count({ env, folder: other.folder }), 5);
  });

  it("is refused by name where it is nonsense", async () => {
    for (const maxConcurrent of ["0", "-1", "1.5", "many", "1e3", "", "1001"]) {
      const { code, err } = await ask({ folder: here() }, { maxConcurrent });
      assert.deepEqual([code, /^skein: --max-concurrent must be a whole number/.test(err)], [2, true], err);
    }
    const { code, err } = await ask({ folder: here(), env: { CLAUDE_MAX_CONCURRENT: "0" } });
    assert.deepEqual([code, /CLAUDE_MAX_CONCURRENT: workers must be/.test(err)], [3, true], err);
    await using own = await makeRepository({ files: { "skein.yaml": "workers: 0\n" } });
    const file = await ask({ folder: own.folder });
    assert.deepEqual([file.code, /skein\.yaml:1/.test(file.err)], [3, true], file.err);
  });
});

describe("a plan in a file", () => {
  it("is JSON or markdown by its name, and replaces an older plan", async () => {
    const folder = newFolder();
    const at = (name: string) => readFileSync(path.join(folder, name), "utf8");
    assert.equal((await ask({ folder }, { out: "plan.json" })).code, 0);
    assert.equal((await ask({ folder, request: "add a --quiet option" }, { out: "plan.json" })).code, 0);
    const read = readPlan(at("plan.json"));
    assert.ok(read.is === "plan" && read.plan.goal.includes("--quiet"));
    assert.equal((await ask({ folder }, { out: "plan.md" })).code, 0);
    assert.equal(parseMarkdown(at("plan.md")).is, "plan");
    assert.deepEqual(readdirSync(folder).sort(), ["plan.json", "plan.md"], "no draft is left");
  });

  it("does not replace anything else, nor write through a link, unless it is forced", async () => {
    const folder = newFolder();
    const at = (name: string) => path.join(folder, name);
    writeFileSync(at("other.json"), '{"name":"mine"}');
    assert.equal((await ask({ folder }, { out: "target.json" })).code, 0);
    const before = readFileSync(at("target.json"), "utf8");
    symlinkSync("target.json", at("link.json"));
    mkdirSync(at("folder.json"));
    for (const out of ["other.json", "link.json", "folder.json"]) {
      const { code, err } = await ask({ folder, request: "add x" }, { out });
      assert.deepEqual([code, /exists and is not a plan; nothing was written/.test(err)], [1, true], out);
    }
    assert.equal(readFileSync(at("other.json"), "utf8"), '{"name":"mine"}');
    for (const out of ["other.json", "link.json"])
      assert.equal((await ask({ folder, request: "add x" }, { out, force: true })).code, 0);
    execFileSync("mkfifo", [at("pipe.json")]); // Stands for a device, which only root could lose.
    const pipe = await ask({ folder, request: "add x" }, { out: "pipe.json", force: true });
    assert.deepEqual([pipe.code, /cannot be written: it is not a file/.test(pipe.err)], [1, true]);
    assert.ok(lstatSync(at("pipe.json")).isFIFO());
    assert.ok(!lstatSync(at("link.json")).isSymbolicLink());
    assert.equal(readFileSync(at("target.json"), "utf8"), before);
    const missing = await ask({ folder }, { out: "no/such/plan.json" });
    assert.deepEqual([missing.code, /cannot be written/.test(missing.err)], [1, true]);
    assert.doesNotMatch(missing.err, /\.new\b/, "the name for a moment tells nobody anything");
  });
});
