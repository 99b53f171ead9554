/** Tests that a gate tells when it could not be run or had nothing to run, with recorded outputs of real tools. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { type Files, makeRepository } from "../../../test/support/repositories.ts";
import { failuresOf, isGreen } from "../../core/gate.ts";
import type { JobId } from "../../core/job.ts";
import { hasFailed } from "../../core/result.ts";
import type { GateRun } from "../../ports/gate.ts";
import type { ProgramEnd, Programs } from "../../ports/programs.ts";
import { CommandGate } from "./command.ts";
import { gateRules } from "./rules.ts";

const OUTPUTS = path.join(import.meta.dirname, "..", "..", "..", "test", "fixtures", "set-up-output");
const recorded = (name: string) => readFileSync(path.join(OUTPUTS, `${name}.txt`), "utf8");

const MAKE: Files = { Makefile: "check: hello\n\t./hello\n" };

/** What a command wrote, and how it ended. */
type Said = { readonly text: string; readonly code?: number; readonly end?: ProgramEnd };

/** Runs the gate of `before`, or of the tree itself, with commands that write this. */
async function gated(
  files: Files,
  commands: Readonly<Record<string, Said>>,
  before?: Files,
): Promise<GateRun> {
  await using repository = await makeRepository({ files: before ?? files });
  const { folder } = repository;
  const rules = await repository.git("rev-parse", "HEAD");
  const commit = before ? await repository.commit(files) : rules;
  const says = Object.values(commands)[Symbol.iterator]();
  const programs: Programs = {
    run: async ({ onOutput }) => {
      const { text, code = 1, end } = says.next().value as Said;
      onOutput?.(text.replaceAll("/workspace", folder));
      return end ?? { is: "exited", code, output: "", errors: "", tail: text.slice(-200) };
    },
    endLeftovers: async () => 0,
  };
  const gate = new CommandGate({
    repository: folder,
    rules: gateRules(
      Object.keys(commands).map((run) => ({ name: run, run })),
      "",
    ),
    conflicts: { in: async () => [] },
    workspaces: {
      take: async ({ job }) => ({ job, folder, commit, environment: {}, notices: [] }),
      keep: async () => ({ commit: undefined, left: [] }),
      release: async () => {},
      heldBy: async () => undefined,
      leftovers: async () => ({ left: [], removed: [] }),
    },
    programs,
    transcripts: {
      open: () => ({ write: () => {}, close: async () => {} }),
      openNext: (name) => ({ name, write: () => {}, close: async () => {} }),
    },
    limits: { maxMs: 60_000, maxOutputBytes: 1_000_000, maxFileBytes: 1_000_000 },
    redact: (text) => text.replaceAll("s3cr3t", "…"),
    maxAtOnce: 1,
  });
  const run = await gate.run({ job: "check:1" as JobId, commit, rules }, new AbortController().signal);
  assert.ok(!hasFailed(run));
  return run;
}

const NPM: Files = {
  "package.json": JSON.stringify({ name: "shop", devDependencies: { mocha: "^11.0.0", express: "5" } }),
  "test/a.test.js": "",
};

describe("a gate that cannot be run", () => {
  it("says the command, the place, the tool's own words, and the lines that would mend it", async () => {
    const files = { ...NPM, "package-lock.json": "{}" };
    const { setup, report } = await gated(files, {
      "TOKEN=s3cr3t npm test": { text: recorded("npm-mocha"), code: 127 },
    });
    assert.equal(setup?.kind, "setup");
    assert.match(
      setup.message,
      /^the gate's command "TOKEN=\[redacted\] npm test" cannot be run in a fresh clone of [0-9a-f]{7}, without what git ignores: mocha was not found\nsh: 1: mocha: not found$/,
    );
    assert.equal(setup.next, "let each workspace be set up, in skein.yaml:\nworkspace:\n  setup: npm ci");
    assert.deepEqual(failuresOf(report), ["TOKEN=[redacted] npm test: cannot be run: mocha was not found"]);
  });

  const NEXT: readonly (readonly [what: string, files: Files, said: Said, next: RegExp])[] = [
    ["npm without a lock file", NPM, { text: recorded("node-package") }, /\n {2}setup: npm install$/],
    [
      "pnpm",
      { ...NPM, "pnpm-lock.yaml": "" },
      { text: recorded("pnpm-run") },
      /setup: pnpm install --frozen/,
    ],
    [
      "python",
      { "requirements.txt": "flask\n", "tests/test_app.py": "" },
      { text: recorded("pytest-package"), code: 2 },
      /setup: python3 -m venv \.venv && echo "\*" > \.venv\/\.gitignore && \.venv\/bin\/pip install -r requirements\.txt pytest\ngate:\n {2}- \.venv\/bin\/python -m pytest -q$/,
    ],
    [
      "python without pytest",
      { "uv.lock": "", "pyproject.toml": "", "tests/test_app.py": "" },
      { text: recorded("pytest-missing") },
      /setup: uv sync$/,
    ],
    [
      "cargo",
      { "Cargo.toml": "", "Cargo.lock": "", "src/lib.rs": "" },
      { text: recorded("cargo-network"), code: 101 },
      /setup: cargo fetch --locked$/,
    ],
    [
      "a compiler",
      { Makefile: "", "prog.c": "" },
      { text: recorded("make-compiler"), code: 2 },
      /^install it where Skein runs, or name another gate in skein.yaml:\ngate:\n/,
    ],
    [
      "gotest",
      { "go.mod": "module x\n", "a_test.go": "" },
      { text: recorded("gotest"), code: 127 },
      /^install it where Skein runs/,
    ],
    ["a port", NPM, { text: recorded("node-port-taken") }, /^start it before the run, or name a gate/],
    [
      "a database",
      { ...NPM, "compose.yaml": "" },
      { text: recorded("node-postgres") },
      /setup: docker compose up --detach --wait$/,
    ],
  ];
  for (const [what, files, said, next] of NEXT)
    it(`says what to do: ${what}`, async () => {
      const { setup, report } = await gated(files, { test: said });
      assert.match(setup?.next ?? "", next);
      assert.ok(!isGreen(report));
    });

  it("is one whose program is not on this machine, and not one that the machine has no room for", async () => {
    const unstartable = (kind: "agent-failed" | "interrupted"): Said => ({
      text: "",
      end: { is: "unstartable", failure: { kind, message: "npm was not found on the PATH" } },
    });
    const { setup, report } = await gated(NPM, { "npm test": unstartable("agent-failed") });
    assert.match(setup?.message ?? "", /"npm test" cannot be run: npm was not found on the PATH/);
    assert.ok(!isGreen(report));
    await assert.rejects(gated(NPM, { "npm test": unstartable("interrupted") }));
  });

  it("shortens what the tool wrote", async () => {
    const { setup } = await gated(NPM, {
      test: { text: `sh: 1: ${"x".repeat(190)}: not found\n${"y".repeat(1500)}`, code: 127 },
    });
    assert.ok(setup!.message.length < 1_100, `${setup!.message.length}`);
  });

  it("is not one that is red: what failed keeps its names", async () => {
    const { setup, report } = await gated(NPM, { test: { text: recorded("node-relative") } });
    assert.equal(setup, undefined);
    assert.match(failuresOf(report)[0] ?? "", /^test: test\/app\.test\.js$/);
  });
});

describe("a gate that has nothing to run", () => {
  const LANGUAGES = {
    "node-none": [0, "test/a.test.js"],
    "mocha-none": [1, "test/a.test.js"],
    "jest-none": [1, "src/a.spec.ts"],
    "vitest-none": [1, "src/a.test.ts"],
    "pytest-none": [5, "tests/test_a.py"],
    "unittest-none": [5, "tests/test_a.py"],
    "go-none": [0, "a_test.go"],
    "cargo-none": [0, "tests/a.rs"],
  } as const;
  for (const [name, [code, test]] of Object.entries(LANGUAGES)) {
    it(`is green for now where there is no test, and says so: ${name}`, async () => {
      const { report, setup } = await gated(
        { "README.md": "", "docs/test.md": "" },
        { test: { text: recorded(name), code } },
      );
      assert.deepEqual(report.commands, [{ name: "test", green: true, failures: [], nothingYet: true }]);
      assert.equal(setup, undefined);
    });

    it(`cannot be run where there is one: ${name}`, async () => {
      const { report, setup } = await gated({ [test]: "" }, { test: { text: recorded(name), code } });
      assert.match(setup?.message ?? "", /no test was collected, although there are test files\n/);
      assert.ok(!isGreen(report));
    });

    it(`cannot be run on a change that deletes the only one: ${name}`, async () => {
      const { report } = await gated(
        { [test]: null },
        { test: { text: recorded(name), code } },
        { [test]: "", "a.md": "" },
      );
      assert.ok(!isGreen(report));
    });
  }

  it("may be one of several, if another runs the tests", async () => {
    const none = { text: recorded("node-none"), code: 0 };
    const some = { text: "ℹ tests 3\nℹ pass 3\n", code: 0 };
    const both = await gated(NPM, { unit: some, e2e: none });
    assert.deepEqual([isGreen(both.report), both.setup], [true, undefined]);
    const single = await gated(NPM, { lint: { text: "fine\n", code: 0 }, e2e: none });
    assert.deepEqual([isGreen(single.report), single.setup?.kind], [false, "setup"]);
  });

  it("is one whose script, file or manifest is still to be written, in a tree without tests", async () => {
    const SAID: Readonly<Record<string, Said>> = {
      "npm test": { text: recorded("npm-enoent"), code: 254 },
      "npm run test": { text: 'npm error Missing script: "test"\n' },
      "./run-tests.sh": { text: recorded("shell-own"), code: 127 },
      "make check": { text: "make: *** No rule to make target 'check'.  Stop.\n", code: 2 },
    };
    for (const [line, said] of Object.entries(SAID)) {
      const { report, setup } = await gated({ "README.md": "" }, { [line]: said });
      assert.deepEqual([report.commands[0]?.nothingYet, setup], [true, undefined], line);
      assert.equal((await gated(NPM, { [line]: said })).setup?.kind, "setup", line);
    }
    const near: readonly (readonly [string, Said, Files, RegExp])[] = [
      [
        "make chekc",
        { text: "make: *** No rule to make target 'chekc'.  Stop.\n", code: 2 },
        MAKE,
        /mean check\?/,
      ],
      [
        "sh verfy",
        { text: "sh: 0: cannot open verfy: No such file\n", code: 2 },
        { verify: "" },
        /mean verify\?/,
      ],
      ["node --tset", { text: "node: bad option: --tset\n", code: 9 }, NPM, /the option --tset is not known/],
      ["node --test tests/", { text: "Could not find '/workspace/tests'\n" }, NPM, /there is no tests/],
    ];
    for (const [line, said, files, words] of near)
      assert.match((await gated(files, { [line]: said })).setup?.message ?? "", words, line);
    const needed = "make: *** No rule to make target 'hello.c', needed by 'hello'.  Stop.\n";
    assert.ok(
      !isGreen((await gated({ "README.md": "" }, { "make check": { text: needed, code: 2 } })).report),
    );
    const lost = await gated(
      { "run-tests.sh": null, "b.md": "" },
      { "./run-tests.sh": SAID["./run-tests.sh"]! },
      { "run-tests.sh": "" },
    );
    assert.ok(!isGreen(lost.report));
    const script = JSON.stringify({ scripts: { test: "true" } });
    const gone = await gated(
      { "package.json": "{}" },
      { "npm run test": SAID["npm run test"]! },
      { "package.json": script },
    );
    assert.deepEqual(failuresOf(gone.report), ["npm run test: not configured"]);
  });

  it("is no excuse for a program that is missing: that will not be there later, either", async () => {
    const { setup } = await gated(
      { "README.md": "" },
      { "gotest ./...": { text: recorded("gotest"), code: 127 } },
    );
    assert.match(setup?.message ?? "", /gotest was not found/);
  });
});
