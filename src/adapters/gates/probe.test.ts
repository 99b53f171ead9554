/** Tests that a probe tells a gate that tests its own tree from one that does not. With real git and programs. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { type Files, makeRepository } from "../../../test/support/repositories.ts";
import type { GateReport } from "../../core/gate.ts";
import type { JobId } from "../../core/job.ts";
import { hasFailed } from "../../core/result.ts";
import { LocalPrograms } from "../programs/local.ts";
import { CloneWorkspaces } from "../workspaces/clones.ts";
import { CommandGate } from "./command.ts";
import { provedGatesIn } from "./proved-gates.ts";
import { gateRules } from "./rules.ts";

const MAX = { timeout: 60_000 };
const quiet = new AbortController().signal;

type Options = {
  /** Lines of the gate; without them the gate is detected. */
  readonly gate?: readonly string[];
  readonly maxMs?: number;
  readonly setup?: string;
  readonly onOutput?: (text: string) => void;
};

/** Makes a repository of these files with its gate, and the folders where a probe could leave something. */
async function place(files: Files, options: Options = {}) {
  const repository = await makeRepository({ files });
  const state = newFolder();
  const programs = new LocalPrograms({ folder: path.join(state, "programs") });
  const limits = { maxMs: options.maxMs ?? 60_000, maxOutputBytes: 1_000_000, maxFileBytes: 1e9 };
  const { gate: lines, maxMs: _, onOutput, ...more } = options;
  const workspaces = new CloneWorkspaces({
    repository: repository.folder,
    folder: state,
    programs,
    environment: process.env,
    limits: { ...limits, maxMs: 60_000 },
    maxFileBytes: 1e6,
    ...more,
  });
  const written: string[] = [];
  const write = (text: string) => {
    written.push(text);
    onOutput?.(text);
  };
  const gate = new CommandGate({
    repository: repository.folder,
    rules: lines
      ? gateRules(
          lines.map((run) => ({ name: run, run })),
          "",
        )
      : gateRules("auto", repository.folder),
    conflicts: { in: async () => [] },
    workspaces,
    programs,
    transcripts: {
      open: () => ({ write, close: async () => {} }),
      openNext: (name) => ({ name, write, close: async () => {} }),
    },
    limits,
    redact: (text) => text,
    maxAtOnce: 1,
    proved: provedGatesIn(state),
  });
  const tree = async () => {
    const commit = await repository.git("rev-parse", "HEAD");
    return { job: "check#1" as JobId, commit, rules: commit };
  };
  const probe = async (report: GateReport, signal = quiet) => gate.probe(await tree(), report, signal);
  const green = async (): Promise<GateReport> => {
    const run = await gate.run(await tree(), quiet);
    assert.ok(!hasFailed(run));
    assert.ok(
      run.report.commands.every((command) => command.green),
      run.tail,
    );
    return run.report;
  };
  const said = () => written.join("");
  const left = () => readdirSync(path.join(state, "workspaces")).filter((name) => name.startsWith("probe"));
  const dispose = async () => {
    await workspaces.close();
    await repository[Symbol.asyncDispose]();
  };
  return {
    repository,
    state,
    gate,
    tree,
    green,
    probe,
    said,
    left,
    workspaces,
    [Symbol.asyncDispose]: dispose,
  };
}

async function probed(files: Files, options: Options = {}) {
  await using here = await place(files, options);
  const result = await here.probe(await here.green());
  assert.ok("is" in result, JSON.stringify(result));
  assert.deepEqual(here.left(), [], "no workspace is left");
  assert.equal(await here.repository.git("status", "--porcelain"), "", "the checkout is as it was");
  return result;
}

const NODE: Files = {
  "package.json": '{"type":"module","scripts":{"test":"node --test"}}',
  "package-lock.json": "{}",
  "src/add.js": "export const add = (a, b) => a + b;\n",
  "test/add.test.js":
    'import {test} from "node:test"; import {add} from "../src/add.js"; test("adds", () => { if (add(1, 2) !== 3) throw 1; });\n',
};

const PYTHON: Files = {
  "sums/__init__.py": "def add(a, b):\n    return a + b\n",
  "tests/__init__.py": "",
  "tests/test_add.py":
    "import unittest\nfrom sums import add\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
};

const SHELL: Files = {
  "bin/greet": { text: "#!/bin/sh\necho hello\n", executable: true },
  "lib/name.sh": "name=world\n",
  "tests/run.sh": 'set -e\n[ "$(bin/greet)" = hello ]\n. lib/name.sh\n[ "$name" = world ]\n',
};

const MAKE: Files = {
  Makefile:
    "check: test_add\n\t./test_add\n\ntest_add: tests/test_add.c src/add.c\n\tcc -o $@ -Isrc tests/test_add.c src/add.c\n",
  ".gitignore": "test_add\n",
  "src/add.h": "int add(int a, int b);\n",
  "src/add.c": '#include "add.h"\nint add(int a, int b) { return a + b; }\n',
  "tests/test_add.c": '#include "add.h"\nint main(void) { return add(1, 2) != 3; }\n',
};

describe("a gate that looks at its tree", MAX, () => {
  for (const [name, files, options] of [
    ["npm", NODE, {}],
    ["python's unittest", PYTHON, { gate: ["python3 -m unittest discover"] }],
    ["a shell script", SHELL, { gate: ["sh tests/run.sh"] }],
    ["make", MAKE, {}],
    ["a line of several", NODE, { gate: ["node --test && echo linted"] }],
    ["a tool of its own", { ...NODE, ...ownTool() }, {}],
  ] as const satisfies readonly (readonly [string, Files, Options])[]) {
    it(`is proved: ${name}`, async () => {
      assert.deepEqual(await probed(files, options), { is: "proved" });
    });
  }

  it("is proved by its tests alone: what only builds or reads is not asked", async () => {
    await using here = await place(NODE, { gate: ["true build", "node --test", "true lint"] });
    assert.deepEqual(await here.probe(await here.green()), { is: "proved" });
    assert.equal(here.said().match(/^\$ /gm)?.length, 4, "three by the gate, and one by the probe");
  });
});

function ownTool(): Files {
  const run =
    'import {add} from "../src/add.js"; import {is} from "./is.js"; is(add(1, 2), 3); console.log("ran");\n';
  return {
    "package.json": '{"type":"module","scripts":{"test":"npm run -s inner","inner":"node tools/test.js"}}',
    "tools/test.js": run,
    "tools/is.js": "export const is = (a, b) => { if (a !== b) throw 1; };\n",
  };
}

describe("a gate that does not look at its tree", MAX, () => {
  it("is unproven where Python takes the package from elsewhere", async () => {
    const elsewhere = await makeRepository({ files: PYTHON });
    await using _ = elsewhere;
    const files: Files = {
      ...PYTHON,
      "tests/test_add.py": `${PYTHON["tests/test_add.py"]}unittest.main()\n`,
    };
    const gate = [`PYTHONPATH='${elsewhere.folder}' python3 tests/test_add.py`];
    const result = await probed(files, { gate });
    assert.ok(result.is === "unproven", JSON.stringify(result));
    assert.equal(result.failure.kind, "setup");
    assert.match(result.failure.message, /^your tests pass without your code: "PYTHONPATH=/);
    assert.match(
      result.failure.next ?? "",
      /uv run pytest[\s\S]*workspace:\n {2}setup: [\s\S]*\ngateProbe: off$/,
    );
    assert.equal(result.failure.detail, "made unusable: sums/__init__.py");
  });

  it("is unproven where the set-up installed a copy of the code, which no later change reaches", async () => {
    const files: Files = {
      ...NODE,
      ".gitignore": "node_modules\n",
      "test/add.test.js": String(NODE["test/add.test.js"]).replace("../src/add.js", "sums/add.js"),
    };
    const setup = "mkdir -p node_modules/sums && cp src/add.js node_modules/sums/add.js";
    const result = await probed(files, {
      setup: `${setup} && echo '{"type":"module"}' > node_modules/sums/package.json`,
    });
    assert.ok(result.is === "unproven", JSON.stringify(result));
    assert.match(result.failure.next ?? "", /setup: npm ci\n/);
  });

  for (const [lockFile, next] of [
    ["pnpm-lock.yaml", /setup: pnpm install --frozen-lockfile\n/],
    ["package-lock.json", /setup: npm ci\n/],
    ["bun.lock", /setup: bun install --frozen-lockfile\n/],
  ] as const)
    it(`says how to mend it by the lock file that is there: ${lockFile}`, async () => {
      const files = { ...NODE, [lockFile]: "", "test/add.test.js": 'import "node:test";\n' };
      const result = await probed(files, { gate: ["node --test"] });
      assert.ok(result.is === "unproven");
      assert.match(result.failure.next ?? "", next);
    });

  it("is unproven where the tests read nothing of it", async () => {
    const files = { ...NODE, "test/add.test.js": 'import "node:test";\n' };
    const result = await probed(files, { gate: ["node --test"] });
    assert.ok(result.is === "unproven");
    assert.match(
      result.failure.message,
      /"node --test" passed in a workspace whose only source file \(src\/add.js\) was made unusable$/,
    );
  });

  it("is judged by command: one that looks does not excuse another", async () => {
    const result = await probed(NODE, {
      gate: ["node --test", "node --test --test-name-pattern=none test/x.test.js; true"],
    });
    assert.ok(result.is === "unproven");
    assert.match(result.failure.message, /test-name-pattern=none/);
  });
});

describe("a gate that cannot be probed", MAX, () => {
  const why = async (files: Files, options: Options = {}) => {
    const result = await probed(files, options);
    assert.ok(result.is === "not-probed", JSON.stringify(result));
    return result.why;
  };

  it("has only what the gate itself runs, or no sources at all", async () => {
    const { "src/add.js": _, ...tests } = NODE;
    assert.match(
      await why({ ...tests, "test/add.test.js": "" }, { gate: ["node --test"] }),
      /^there are no source files/,
    );
    assert.match(
      await why({ "tools/check.sh": "true\n" }, { gate: ["sh tools/check.sh"] }),
      /no source files/,
    );
  });

  it("has no tests: nothing in the gate runs them, or there are no test files", async () => {
    assert.equal(await why(NODE, { gate: ["true lint"] }), "no command of the gate runs tests");
    const { "test/add.test.js": _, ...sources } = NODE;
    assert.match(
      await why(sources, { gate: ["node -e '' test"] }),
      /test passes without the sources, but no test files were found/,
    );
  });

  it("fails for another reason: a program that is not there, no tests found, or too long a time", async () => {
    const then = (line: string) => ({ gate: [`sh tests/run.sh || { ${line}; }`] });
    assert.match(await why(SHELL, then("no-such-program-here")), /cannot be started/);
    assert.match(await why(SHELL, then("echo; echo No tests found, exiting; exit 1")), /finds no tests/);
    const lasting = { ...then("sleep 60"), maxMs: 3_000 };
    assert.match(await why(SHELL, lasting), /takes longer than the gate may/);
    const within: Files = { ...SHELL, Makefile: "check:\n\tsh tests/run.sh || no-such-program-here\n" };
    assert.match(await why(within, { gate: ["make check"] }), /cannot be started/);
  });

  it("was red before", async () => {
    await using here = await place(NODE);
    const report = { commands: [{ name: "test", green: false, failures: [] }] };
    assert.deepEqual(await here.probe(report), { is: "not-probed", why: "its tests did not pass before" });
  });

  it("was red in part: what failed is not proved by the rest, and not remembered as such", async () => {
    const gate = ["node --test", "node --test test/add.test.js"];
    await using here = await place(NODE, { gate });
    const [first, second] = (await here.green()).commands;
    const report = { commands: [first!, { ...second!, green: false }] };
    assert.deepEqual(await here.probe(report), {
      is: "not-probed",
      why: "node --test test/add.test.js failed before it",
    });
    assert.ok(!existsSync(path.join(here.state, "proved.json")));
  });
});

describe("a probe", MAX, () => {
  it("is remembered while commands, lock files and configuration are the same, and only when proved", async () => {
    await using here = await place(NODE, { gate: ["node --test"] });
    const report = await here.green();
    const count = () => here.said().match(/^\$ /gm)?.length ?? 0;
    const file = path.join(here.state, "proved.json");
    const is = async () => JSON.stringify(await here.probe(report));
    const proved = '{"is":"proved"}';
    const started = count();
    assert.equal(await is(), proved);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(await is(), proved);
    assert.equal(count(), started + 1, "remembered");
    await here.repository.commit({ "src/add.js": "export const add = (a, b) => b + a;\n" });
    assert.equal(await is(), proved);
    assert.equal(count(), started + 1, "a source does not matter");
    await here.repository.commit({ "package-lock.json": '{"version":2}' });
    assert.equal(await is(), proved);
    assert.equal(count(), started + 2, "a lock file does");
    writeFileSync(file, "{");
    assert.equal(await is(), proved);
    assert.equal(count(), started + 3, "a damaged file says nothing");
    assert.equal(JSON.parse(readFileSync(file, "utf8")).keys.length, 1);
    await here.repository.commit({ "test/add.test.js": "", "vitest.config.js": "" });
    for (let n = 0; n < 2; n += 1) assert.match(await is(), /unproven/);
    assert.equal(count(), started + 5, "unproven is not remembered");
  });

  it("remembers the last fifty", async () => {
    const folder = newFolder();
    const gates = provedGatesIn(folder);
    for (let n = 0; n < 52; n += 1) await gates.add(`${n}`);
    assert.deepEqual(
      [await gates.has("1"), await gates.has("2"), await gates.has("51")],
      [false, true, true],
    );
    chmodSync(folder, 0o500);
    await gates.add("not written"); // As root it can be written; in either case nothing is thrown.
    chmodSync(folder, 0o700);
    assert.deepEqual(readdirSync(folder), ["proved.json"]);
  });

  it("that is stopped midway leaves nothing, and what it built is in no gate's place", async () => {
    const stop = new AbortController();
    const onOutput = (text: string) => /^begun/m.test(text) && stop.abort();
    const gate = ["sh tests/run.sh || { echo begun; sleep 60; }"];
    await using here = await place(SHELL, { gate, onOutput });
    const result = await here.probe(await here.green(), stop.signal);
    assert.ok(hasFailed(result) && result.failure.kind === "cancelled", JSON.stringify(result));
    assert.deepEqual(here.left(), []);
    assert.deepEqual(await here.workspaces.holders(), []);
    assert.ok(!existsSync(path.join(here.state, "proved.json")));
    await here.green();
  });
});
