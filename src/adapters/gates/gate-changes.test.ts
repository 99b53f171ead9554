/** Tests which changes of a tree count as changes of its gate, and of what agents, CI and hooks obey. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import { hasFailed } from "../../core/result.ts";
import { flagOf, isOfGate } from "../../core/rules/gate-changes.ts";
import { gateChanges } from "./gate-changes.ts";
import { gateRules } from "./rules.ts";

const NEVER = new AbortController().signal;
type Files = Readonly<Record<string, string>>;
const manifest = (scripts: Files, more: object = {}) => JSON.stringify({ ...more, scripts });

type Look = readonly [change: Files, flags: readonly string[]];

/**
 * Makes each change, and checks that it counts as these changes of the detected gate (undefined) and the
 * configured ones.
 */
async function looksAs(files: Files, looks: readonly Look[], gates: readonly (string | undefined)[]) {
  await using repository = await makeRepository({ files });
  const { folder } = repository;
  const from = await repository.git("rev-parse", "HEAD");
  const commits: string[] = [];
  for (const [i, [change]] of looks.entries()) commits.push(await repository.branch(`b${i}`, change));
  for (const gate of gates) {
    const configured = gate === "" ? [] : [{ name: "gate", run: gate ?? "" }];
    const rules = gate === undefined ? gateRules("auto", folder) : gateRules(configured, folder);
    const said = await Promise.all(
      commits.map(async (to) => {
        const found = await gateChanges(folder, rules, { from, to }, NEVER);
        return hasFailed(found) ? found : found.map(flagOf);
      }),
    );
    const wanted = looks.map(([, flags]) => flags);
    assert.deepEqual(said, wanted, gate);
  }
}

const both = (changes: readonly Files[], flags: readonly (readonly string[])[]): readonly Look[] =>
  changes.map((change, i) => [change, flags[i]!]);

describe("a change of a gate of npm", () => {
  const scripts = {
    test: "run-s lint unit:* && pnpm extra",
    pretest: "node tools/before.js",
    lint: "eslint src/ && tsc -p tsconfig.test.json",
    "unit:a": "mocha test/a.js",
    extra: "CI=1 npx c8 node --require ./setup.cjs tools/extra.js src/a.js",
    start: "node src/a.js",
  };
  const files = {
    "package.json": manifest(scripts, { mocha: { ui: "bdd" }, dependencies: { a: "1" } }),
    "src/a.js": "1",
    "tools/before.js": "1",
    "tools/extra.js": "1",
    "setup.cjs": "1",
  };
  const changed = (name: string, run: string) => ({
    "package.json": manifest({ ...scripts, [name]: run }, { mocha: { ui: "bdd" } }),
  });

  it("is found in what it reaches, and nowhere else", async () => {
    const looks: readonly Look[] = [
      [changed("test", "true"), ["package.json: the script test"]],
      [changed("pretest", "true"), ["package.json: the script pretest"]],
      [changed("posttest", "true"), ["package.json: the script posttest"]],
      [changed("unit:a", "true"), ["package.json: the script unit:a"]],
      [changed("unit:b", "true"), ["package.json: the script unit:b"]],
      [changed("extra", "true"), ["package.json: the script extra"]],
      [changed("start", "true"), []],
      [{ "package.json": manifest(scripts, { mocha: { ui: "bdd" }, dependencies: { a: "2" } }) }, []],
      [
        { "package.json": manifest(scripts, { mocha: { ui: "tdd" } }) },
        ["package.json: its settings of mocha"],
      ],
      [{ "tools/before.js": "2" }, ["tools/before.js"]],
      [{ "tools/extra.js": "2" }, ["tools/extra.js"]],
      [{ "setup.cjs": "2" }, ["setup.cjs"]],
      [{ "src/a.js": "2", "src/b.js": "1", "test/a.js": "1", "package-lock.json": "{}" }, []],
      [{ "tsconfig.test.json": "{}" }, ["tsconfig.test.json"]],
      [{ "eslint.config.js": "" }, ["eslint.config.js"]],
      [{ ".mocharc.yml": "a: 1" }, [".mocharc.yml"]],
      [{ ".npmrc": "script-shell=/bin/true\n" }, [".npmrc: how scripts are run"]],
      [
        { ".npmrc": "registry=http://a\n", "pytest.ini": "", "Cargo.toml": "[[test]]", Makefile: "test:" },
        [],
      ],
      [{ "web/jest.config.js": "", "web/package.json": manifest({ test: "true" }) }, []],
    ];
    await looksAs(files, looks, [
      undefined,
      "npm test",
      "cd . && CI=1 npm run --silent test -- --bail",
      "sh -c 'npm t'",
    ]);
  });

  it("is not every edit, where a script names a folder or a source file", async () => {
    const pinia = {
      test: "vitest src && tsc --build && esbuild src/index.ts --bundle && node --test test/a.js",
    };
    const edits = [{ "src/index.ts": "2" }, { "src/b.ts": "1" }, { "test/a.js": "2" }];
    const base = { "package.json": manifest(pinia), "src/index.ts": "1", "test/a.js": "1" };
    await looksAs(base, both(edits, [[], [], []]), [undefined]);
  });

  it("is found in the packages of a repository, if their tests are run from its top", async () => {
    const base = {
      "package.json": manifest({ test: "pnpm -r test" }),
      "packages/a/package.json": manifest({ test: "jest" }),
    };
    const edits = [
      { "packages/a/package.json": manifest({ test: "true" }) },
      { "packages/a/package.json": manifest({ test: "jest", start: "x" }) },
      { "packages/a/jest.config.js": "" },
    ];
    await looksAs(
      base,
      both(edits, [["packages/a/package.json: the script test"], [], ["packages/a/jest.config.js"]]),
      [undefined],
    );
  });

  it("is found where a configured command goes to another folder", async () => {
    const base = { "web/package.json": manifest({ test: "sh ./all.sh" }), "web/all.sh": "1" };
    const edits = [
      { "web/package.json": manifest({ test: "true" }) },
      { "web/all.sh": "2" },
      { "all.sh": "1" },
    ];
    await looksAs(base, both(edits, [["web/package.json: the script test"], ["web/all.sh"], []]), [
      "cd web && npm test",
      "npm --prefix web test",
      "yarn --cwd web test",
    ]);
  });

  it("is another runner, another package manager, or none", async () => {
    const base = { "package.json": manifest({ test: "mocha" }) };
    const edits = [
      {
        "package.json": manifest({ test: "vitest run" }, { devDependencies: { vitest: "1" } }),
        "vitest.config.ts": "1",
      },
      { "yarn.lock": "1" },
      { "package.json": "{}" },
      { "package.json": "{}", "Cargo.toml": "" },
    ];
    await looksAs(
      base,
      both(edits, [
        ["package.json: the script test", "vitest.config.ts"],
        ["yarn.lock: it decides which commands the gate has"],
        ["package.json: the script test"],
        ["package.json: the script test", "Cargo.toml: it decides which commands the gate has"],
      ]),
      [undefined],
    );
  });
});

describe("a change of another gate", () => {
  it("of make is one of the rules that its target reaches, of their variables, or of what they run", async () => {
    const makefile = (changes: Files = {}) => {
      const rules = {
        all: "test -f main.c && cc -c main.c",
        unit: "$(RUN) tools/unit.py",
        helper: "./helper.sh",
        other: "echo",
        ...changes,
      };
      const { run = "python3", all, unit, helper, other } = rules as Record<string, string>;
      return `RUN := ${run}\nall: main.c\n\t${all}\ntest: unit\n\t@$(MAKE) helper\nunit: all\n\t${unit}\nhelper:\n\t${helper}\nother:\n\t${other}\n`;
    };
    const files = { Makefile: makefile(), "main.c": "1", "helper.sh": "1", "tools/unit.py": "1" };
    const edits: readonly Look[] = [
      [{ Makefile: makefile({ unit: "true" }) }, ["Makefile: the rule unit"]],
      [{ Makefile: makefile({ helper: "true" }) }, ["Makefile: the rule helper"]],
      [{ Makefile: makefile({ all: "true" }) }, ["Makefile: the rule all"]],
      [{ Makefile: makefile({ run: "true" }) }, ["Makefile: the rule unit"]],
      [{ Makefile: makefile({ other: "true" }) }, []],
      [{ Makefile: `SHELL = /bin/true\n${makefile()}` }, ["Makefile: the shell of its rules"]],
      [{ "main.c": "2" }, []],
      [{ "helper.sh": "2" }, ["helper.sh"]],
      [{ "tools/unit.py": "2" }, ["tools/unit.py"]],
    ];
    await looksAs(files, edits, [undefined, "make test", "make -C . --silent test"]);
  });

  it("of pytest is one of its settings, not of the packages beside them", async () => {
    const toml = (pytest: string, version = "1") =>
      `[project]\nversion = "${version}"\ndependencies = []\n\n[tool.pytest.ini_options]\n${pytest}\n[tool.black]\nx = 1\n`;
    const files = { "pyproject.toml": toml("a = 1"), "src/a.py": "1", "tests/conftest.py": "1" };
    const edits: readonly Look[] = [
      [{ "pyproject.toml": toml("addopts = '--co'") }, ["pyproject.toml: its pytest settings"]],
      [{ "pyproject.toml": toml("a = 1", "2") }, []],
      [{ "conftest.py": "1" }, ["conftest.py"]],
      [{ "pytest.py": "1" }, ["pytest.py"]],
      [{ "setup.cfg": "[metadata]\na = 1\n" }, []],
      [{ "setup.cfg": "[tool:pytest]\naddopts = --co\n" }, ["setup.cfg: its pytest settings"]],
      [{ "tox.ini": "[tox]\nenvlist = py\n" }, []],
      [{ "tests/conftest.py": "2", "src/a.py": "2" }, ["tests/conftest.py"]],
      [{ "tests/deep/conftest.py": "1" }, ["tests/deep/conftest.py"]],
      [{ "tests/pytest.ini": "[pytest]\n" }, ["tests/pytest.ini"]],
      [{ "tests/test_x.py": "1", "tests/helpers.py": "1", "src/a.py": "2", "package.json": "{}" }, []],
    ];
    await looksAs(files, edits, [undefined, "uv run pytest -q"]);
  });

  it("of cargo is which tests are built, not what a crate depends on", async () => {
    const toml = (more: string, version = "1") =>
      `[package]\nname = "a"\nversion = "${version}"\n\n[dependencies]\nb = "${version}"\n\n${more}`;
    const files = { "Cargo.toml": toml('[lib]\npath = "a.rs"\n'), "a.rs": "1" };
    const tests = "Cargo.toml: which tests are built and run";
    const edits: readonly Look[] = [
      [{ "Cargo.toml": toml('[lib]\npath = "a.rs"\n', "2") }, []],
      [{ "Cargo.toml": toml('[lib]\npath = "a.rs"\ntest = false\n') }, [tests]],
      [{ "Cargo.toml": toml('[lib]\npath = "a.rs"\n[[test]]\nname = "t"\nharness = false\n') }, [tests]],
      [{ ".cargo/config.toml": "[alias]\ntest = 'version'\n" }, [".cargo/config.toml"]],
      [{ "b/Cargo.toml": "[lib]\ndoctest = false\n" }, [`b/${tests}`]],
      [{ "a.rs": "2", "Cargo.lock": "1" }, []],
    ];
    await looksAs(files, edits, [undefined, "cargo test --quiet --no-fail-fast"]);
  });

  it("of go is nothing but the name of the module", async () => {
    const files = { "go.mod": "module a\n\ngo 1.21\n", "a.go": "package a\n" };
    const edits = [
      { "go.mod": "module a\n\ngo 1.22\n" },
      { "go.mod": "module b\n\ngo 1.21\n" },
      { "a.go": "" },
    ];
    await looksAs(files, both(edits, [[], ["go.mod: the module line"], []]), [undefined]);
  });

  it("is a file that a configured command runs; there is none where there is no gate", async () => {
    const files = { "check.sh": "true\n", "a.txt": "1" };
    const edits = [{ "check.sh": "exit 0\n" }, { "a.txt": "2" }];
    await looksAs(files, both(edits, [["check.sh"], []]), ["sh ./check.sh a.txt"]);
    await looksAs(files, both(edits, [[], []]), ["test ! -e a.txt", ""]);
  });
});

describe("a change of a gate of shell scripts", () => {
  const files = {
    "ci.sh":
      "#!/bin/sh\n# Don't stop.\nset -e\n. scripts/env.sh\nif sh sub/inner.sh; then ./go; fi\nnode tools/test.js src/a.js\n",
    "sub/inner.sh":
      'HERE="$(cd "$(dirname "$0")" && pwd)"\ncat <<END\nit\'s ./no.sh\nEND\n. "$HERE/lib/a.sh"\nsh ci.sh\n',
    "sub/lib/a.sh":
      'cd "$(git rev-parse --show-toplevel)"\nx="$(bash -euo pipefail tools/b)"\nnpm run unit # sh ./no.sh\n',
    go: "#!/usr/bin/env bash\npytest -q\n",
    "tools/b": "1\n",
    "tools/test.js": "require('../src/a.js')\n",
    "scripts/env.sh": "export A=1\n",
    "package.json": manifest({ unit: "mocha", start: "node ." }),
    "src/a.js": "1",
    "no.sh": "1",
  };
  const followed = [
    "ci.sh",
    "sub/inner.sh",
    "sub/lib/a.sh",
    "go",
    "tools/b",
    "tools/test.js",
    "scripts/env.sh",
  ];

  it("is one of each that is run in turn, wherever it is run, and of what they run", async () => {
    const looks: readonly Look[] = [
      ...followed.map((name): Look => [{ [name]: "true\n" }, [name]]),
      [{ "package.json": manifest({ unit: "true" }) }, ["package.json: the script unit"]],
      [{ "pytest.ini": "" }, ["pytest.ini"]],
      [{ "src/a.js": "2", "no.sh": "2" }, []],
      [{ "ci.sh": "sh new.sh\n", "new.sh": "true\n" }, ["ci.sh", "new.sh"]],
    ];
    await looksAs(files, looks, ["./ci.sh", "bash -eo pipefail ci.sh"]);
  });

  it("is not one of what a test runs elsewhere: it may be what it tests", async () => {
    const base = {
      "tests/run.sh": ". lib/name.sh\n. tests/help.sh\n",
      "scripts/test.sh": ". lib/env.sh\n",
      "lib/name.sh": "1",
      "tests/help.sh": "1",
    };
    const edits = [{ "lib/name.sh": "2" }, { "tests/help.sh": "2" }];
    await looksAs(base, both(edits, [[], ["tests/help.sh"]]), ["sh tests/run.sh"]);
    await looksAs(base, both([{ "lib/env.sh": "1" }], [["lib/env.sh"]]), ["scripts/test.sh"]);
  });

  it("is looked for in so many scripts, and in so much of each", async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`s${i}.sh`, `sh s${i + 1}.sh\n`] as const),
    );
    const base = { ...chain, "long.sh": `${"# x\n".repeat(30_000)}sh far.sh\n`, "far.sh": "1" };
    const edits = [{ "s49.sh": "" }, { "s55.sh": "" }, { "far.sh": "" }];
    await looksAs(base, both(edits, [["s49.sh"], [], []]), ["sh s0.sh"]);
    await looksAs(base, both([{ "far.sh": "" }], [[]]), ["sh long.sh"]);
  });
});

describe("what agents, CI, hooks and shells obey", () => {
  it("is told as what it is wherever it changes, with a gate and without; what agents are told in words is a document", async () => {
    const obeyed = {
      "skein.yaml": "it steers agents",
      ".mcp.json": "it steers agents",
      ".claude/settings.json": "it steers agents",
      ".husky/pre-commit": "git hooks run it",
      ".github/workflows/a.yml": "CI runs it",
      ".circleci/config.yml": "CI runs it",
      ".envrc": "shells load it",
    };
    const names = Object.keys(obeyed);
    const edits = [...names, "AGENTS.md", "docs/skein.yaml", ".github/CODEOWNERS"].map((name) => ({
      [name]: "1",
    }));
    const flags = Object.entries(obeyed).map(([name, words]) => [`${name}: ${words}`]);
    assert.ok(!flags.flat().some(isOfGate), "none is counted as a change of the gate");
    await looksAs({ "a.txt": "1" }, both(edits, [...flags, [], [], []]), [undefined, "", "true"]);
  });
});
