/** Tests that real tools' output about a missing program, package or service is told from a red tree. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import type { Manifest } from "../src/adapters/gates/tool-output/named-packages.ts";
import { readOutput } from "../src/adapters/gates/tool-output/read-output.ts";
import { type SetupFailure, setupFailureOf } from "../src/adapters/gates/tool-output/set-up.ts";
import { sheetOf } from "../src/adapters/gates/tool-output/sheet.ts";
import { settingFor } from "../src/adapters/gates/tool-output/surroundings.ts";
import { testCount } from "../src/adapters/gates/tool-output/test-count.ts";
import { cpuMs } from "./support/cpu.ts";

const FOLDER = path.join(import.meta.dirname, "fixtures", "set-up-output");
const RED = path.join(import.meta.dirname, "fixtures", "tool-output");

const MANIFESTS: readonly Manifest[] = [
  {
    path: "package.json",
    text: JSON.stringify({
      name: "shop",
      scripts: { calc: "true" },
      dependencies: { express: "^5.0.0", lodash: "^4.0.0" },
      devDependencies: { mocha: "^11.0.0" },
    }),
  },
  { path: "requirements.txt", text: "flask==3.0\n" },
  { path: "pyproject.toml", text: '[project]\nname = "calc"\n' },
  { path: "go.mod", text: "module example.com/shop\n\ngo 1.19\n" },
];

const wordsOf = (name: string, folder = FOLDER) => readFileSync(path.join(folder, `${name}.txt`), "utf8");

type Given = {
  readonly command?: string;
  readonly files?: readonly string[];
  readonly manifests?: typeof MANIFESTS;
};

function judge(text: string, code: number, given: Given = {}): SetupFailure | undefined {
  const { command = "npm test", files = ["src/shop/__init__.py"], manifests = MANIFESTS } = given;
  const folder = "/workspace";
  const reading = readOutput({ text, folder });
  return setupFailureOf({ command, code, text, folder, reading, files, manifests });
}

type Row = readonly [name: string, code: number, what: string | undefined, given?: Given];

const PROGRAMS: readonly Row[] = [
  ["npm-mocha", 127, "mocha was not found"],
  ["yarn1-run", 127, "mocha was not found"],
  ["pnpm-exec", 254, "mocha was not found"],
  ["gotest", 127, "gotest was not found"],
  ["bash-missing", 127, "gotest was not found"],
  ["make-compiler", 2, "missing-cc was not found"],
  ["make-compiler-shell", 2, "missing-cc was not found"],
  ["cargo-linker", 101, "cc was not found"],
  ["cargo-command", 101, "cargo nextest was not found"],
  ["go-version", 1, "go 1.99.0 was not found"],
  ["rustup-default", 1, "rustup has no toolchain to run cargo with"],
  ["rustup-pinned", 1, "toolchain 1.70.0-x86_64-unknown-linux-gnu was not found"],
  ["rustup-read-only", 1, "rustup cannot install the toolchain that the tree asks for"],
  ["rustup-network", 1, "rustup cannot install the toolchain that the tree asks for"],
  ["npm-engine", 1, 'this is not the version that package.json asks for: {"node":">=99"}'],
  ["corepack-other", 1, "package.json asks for pnpm as its package manager"],
  ["pyenv-version", 1, "Python 3.4.99 was not found"],
  ["shell-denied", 126, "run.sh cannot be started, or the program in its first line", { files: ["run.sh"] }],
  [
    "shell-interpreter",
    127,
    "run.sh cannot be started, or the program in its first line",
    { files: ["run.sh"] },
  ],
  ["shell-own", 127, "there is no run-tests.sh", { command: "./run-tests.sh" }],
  ["shell-own", 127, undefined, { command: "npm test" }],
  ["sh-file", 2, "there is no tests/run.sh", { command: "sh tests/run.sh" }],
  ["node-mistyped", 1, "there is no test/al.js", { command: "node test/al.js" }],
  ["node-mistyped", 1, undefined, { command: "npm test" }],
  ["node-mistyped-test", 1, "there is no test/b.test.js", { command: "node --test test/b.test.js" }],
  ["pytest-mistyped", 4, "there is no tests/test_b.py", { command: "python3 -m pytest -q tests/test_b.py" }],
  ["npm-enoent", 254, "there is no package.json"],
  ["make-own-script", 2, undefined],
];

const PACKAGES: readonly Row[] = [
  ["npx-canceled", 1, "npx lacks mocha@12.0.3"],
  ["npx-offline", 1, "npm cannot get its packages (ECONNREFUSED)"],
  ["pnpm-run", 1, "node_modules is missing"],
  ["pnpm-verify", 1, "pnpm cannot use its packages (VERIFY_DEPS_BEFORE_RUN)"],
  ["yarn-mocha", 1, "packages are not installed: yarn install was not run"],
  ["yarn-state", 1, "node_modules is missing"],
  ...["node-package", "node-package-tap", "node-package-some", "node-require"].map(
    (name): Row => [name, 1, "the package express is named in package.json, and not installed"],
  ),
  ...["jest-package", "vitest-package", "mocha-package"].map(
    (name): Row => [name, 1, "the package lodash is named in package.json, and not installed"],
  ),
  ["node-package", 1, undefined, { manifests: [] }],
  ["node-relative", 1, undefined],
  ["pytest-missing", 1, "Python has no module pytest"],
  ["pytest-plugin", 4, "a plugin of pytest is missing, that knows --cov=src"],
  ...(["pytest-package", "pytest-package-some", "unittest-package", "pytest-conftest"] as const).map(
    (name): Row => [name, 2, "the package of the Python module flask is not installed"],
  ),
  ["pytest-package", 2, undefined, { manifests: [] }],
  ["pytest-package-red", 1, undefined],
  ["pytest-unwritten", 2, undefined],
  ["pytest-own-src", 2, "the tree's own package shop is not installed"],
  ["pip-network", 1, "pip cannot get flask==3.0"],
  ["cargo-network", 101, "cargo cannot get ledger"],
  ["cargo-offline", 101, "cargo cannot get ledger"],
  ["cargo-path", 101, "cargo cannot get ledger"],
  ["cargo-own-path", 101, undefined],
  ["cargo-red", 101, undefined],
  ["go-sum", 1, "go cannot get github.com/go-chi/chi/v5"],
  ["go-dial", 1, "go cannot get its modules"],
  ["go-unrequired", 1, "go has no module for github.com/go-chi/chi/v5"],
  ["go-own", 1, undefined],
];

const SURROUNDINGS: readonly Row[] = [
  ["go-too-old", 1, "go is too old: go 1.21 or newer is wanted (it has no package slices)"],
  ["cargo-too-old", 101, "rustc is too old: rustc 1.299 or newer is wanted"],
  ["npm-audit-refused", 1, "the advisory service does not answer (npm audit)"],
  ["npm-audit-unreachable", 1, "the advisory service does not answer (npm audit)"],
  ["node-read-only", 1, "/usr/cache/shop cannot be written"],
  ["cargo-read-only", 101, "/usr/share/targetr0foEY cannot be written"],
  ["node-network", 1, "the network is not there: api.example.com cannot be reached"],
  ["tsc-packages", 2, "all 4 errors are inside installed packages (node_modules)"],
];

const SERVICES: readonly Row[] = [
  ["node-postgres", 1, "nothing answers at 127.0.0.1:5432"],
  ["node-postgres-some", 1, "nothing answers at 127.0.0.1:5432"],
  ["node-own-port", 1, undefined],
  ["node-port-taken", 1, "a port that it needs is taken: 38742"],
  ["pytest-redis", 1, "a service does not answer"],
];

describe("a set-up failure", () => {
  for (const [name, code, what, given] of [...PROGRAMS, ...PACKAGES, ...SURROUNDINGS, ...SERVICES])
    test(`${name}${given ? ` (${JSON.stringify(given)})` : ""}: ${what ?? "red"}`, () => {
      const found = judge(wordsOf(name), code, given);
      assert.equal(found?.what, what);
      if (found) assert.ok(found.words !== "" && found.words.split("\n").length <= 4, found.words);
    });

  test("is recorded in few words that tell nothing of the machine they were made on", () => {
    for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".txt"))) {
      const text = readFileSync(path.join(FOLDER, file), "utf8");
      assert.ok(text.length < 10_000, file);
      assert.doesNotMatch(text, /\/(?:root|home|Users|work)\/|registry/, file);
    }
  });

  test("is in no output that was recorded of a red tree, but for what is not configured", () => {
    for (const file of readdirSync(RED).filter((name) => name.endsWith(".txt"))) {
      const name = file.slice(0, -".txt".length);
      const { tree: files, notConfigured } = JSON.parse(readFileSync(path.join(RED, `${name}.json`), "utf8"));
      assert.equal(judge(wordsOf(name, RED), 1, { files })?.what, notConfigured, name);
    }
  });

  test("is not what one of many failures says, or what a script survived", () => {
    const both = `${wordsOf("node-postgres")}\ntest at test/b.test.js:1:1\n✖ adds (1ms)\n  AssertionError: 1 !== 2\n`;
    assert.equal(judge(both, 1), undefined);
    assert.equal(
      judge("check.sh: line 3: tput: command not found\nFAIL: the output differs\n", 1),
      undefined,
    );
    assert.equal(judge("check.sh: line 3: jq: command not found\n", 1)?.what, "jq was not found");
    const prove = "Error: connect ECONNREFUSED 127.0.0.1:4711\nFailed 1/300 test programs.\n";
    assert.equal(judge(prove, 1), undefined);
  });

  test("is not the network or an advisory where a test failed beside it, nor a mistyped package of the tree", () => {
    const audit = wordsOf("npm-audit-refused")
      .replace("# pass 1", "# pass 0")
      .replace("ok 1 - adds", "not ok 1 - adds");
    assert.equal(judge(audit, 1), undefined);
    const network = wordsOf("node-network").replace("ℹ pass 0", "ℹ pass 7").replace("ℹ tests 1", "ℹ tests 8");
    assert.equal(judge(network, 1), undefined);
    const mistyped = wordsOf("go-too-old").replaceAll("slices", "slycees");
    assert.equal(judge(mistyped, 1), undefined);
    const both = `${wordsOf("tsc-packages")}a.ts(1,14): error TS2304: Cannot find name 'y'.\n`;
    assert.equal(judge(both, 2), undefined);
  });

  test("is what uv and poetry say of a program that is not in their environment", () => {
    const uv = "error: Failed to spawn: `pytest`\n  Caused by: No such file or directory (os error 2)\n";
    assert.equal(judge(uv, 2)?.what, "pytest was not found");
    assert.equal(judge("Command not found: pytest\n", 1)?.what, "pytest was not found");
    const resolution =
      "  × No solution found when resolving dependencies:\n  ╰─▶ Because flask was not found\n";
    assert.equal(judge(resolution, 1)?.what, "uv cannot resolve the packages");
  });

  test("is an installed copy of the tree's own package that Python took, whatever else failed; not another package", () => {
    const copied = (from: string, at: string) =>
      `E   AttributeError: module 'shop' has no attribute 'pay'\nE   ImportError: cannot import name 'Till' from '${from}' (${at}/${from}/till.py)\nERROR tests/test_a.py - AttributeError: module 'shop' has no attribute 'pay'\nERROR tests/test_b.py\n2 errors in 0.10s\n`;
    const installed = "/usr/lib/python3/dist-packages";
    const what = "not the tree's own package shop is tested, but an installed copy of it";
    const found = judge(copied("shop", installed), 2);
    assert.deepEqual([found?.what, found?.is], [what, "copy"]);
    assert.match(settingFor("copy", "pytest -q"), /run: "pytest -q"\n {4}env: \{ PYTHONPATH: src \}/);
    assert.equal(judge(copied("flask", installed), 2), undefined);
    assert.equal(judge(copied("shop", "/workspace/src"), 2), undefined);
  });

  test("is a tool that package.json wants another version of; not a warning about it beside failures", () => {
    const yarn = `error This project's package.json defines "packageManager": "yarn@4.1.0". However the current global version of Yarn is 1.22.22.\n\nPresence of the "packageManager" field indicates that the project is meant to be used with Corepack.\n`;
    assert.equal(judge(yarn, 1)?.what, "package.json asks for yarn@4.1.0 as its package manager");
    const pnpm = " ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version)\n";
    assert.match(judge(pnpm, 1)?.what ?? "", /another version of node or pnpm/);
    const warning = "npm warn EBADENGINE Unsupported engine {\nnpm warn EBADENGINE }\nFAIL: 1 is not 2\n";
    assert.equal(judge(warning, 1), undefined);
    const red = `${wordsOf("rustup-pinned")}${wordsOf("node-spec", RED)}`;
    assert.equal(judge(red, 1), undefined);
  });

  test("costs time that grows with the text alone", () => {
    for (const shape of [
      "sh: 1: ",
      "/a",
      "a.",
      "@v",
      "Run `a ",
      "go: a@v1: Get ",
      "EADDRINUSE ::",
      "ok  \ta\t[",
      "error: could not download rustup/",
    ]) {
      const time = (chars: number) => {
        const text = `${shape.repeat(chars / shape.length)}\n`;
        const start = cpuMs();
        judge(text, 1);
        return cpuMs() - start;
      };
      const [small, large] = [time(10_000), time(160_000)];
      assert.ok(
        large < Math.max(small, 5) * 16 * 6,
        `${JSON.stringify(shape)}: ${small} ms, then ${large} ms`,
      );
    }
  });
});

describe("how many tests ran", () => {
  const count = (text: string) => {
    const counted = testCount(sheetOf(text, undefined, undefined).lines);
    return counted && `${counted.passed} of ${counted.tests} ${counted.endings.source}`;
  };
  const NONE: readonly (readonly [name: string, ending: string])[] = [
    ...["node-none", "mocha-none", "jest-none", "jest-none-pass", "vitest-none"].map(
      (name) => [name, "a.ts"] as const,
    ),
    ...["pytest-none", "unittest-none"].map((name) => [name, "a.py"] as const),
    ["go-none", "a_test.go"],
    ["cargo-none", "a.rs"],
  ];
  for (const [name, file] of NONE)
    test(`${name}: none, and a test would be in a file like ${file}`, () => {
      const counted = testCount(sheetOf(wordsOf(name), undefined, undefined).lines);
      assert.deepEqual([counted?.tests, counted?.passed], [0, 0]);
      assert.match(file, counted!.endings);
      assert.doesNotMatch("a.md", counted!.endings);
    });

  const RUN: Readonly<Record<string, string>> = {
    "node-spec": "2 of 9",
    "node-tap": "2 of 9",
    "mocha-failures": "1 of 6",
    "jest-failures": "1 of 7",
    "vitest-failures": "1 of 6",
    "pytest-failures": "1 of 7",
    "unittest-failures": "0 of 5",
    "cargo-test": "1 of 7",
    "go-test": "0 of 7",
  };
  for (const [name, said] of Object.entries(RUN))
    test(`${name}: ${said}`, () =>
      assert.equal(count(wordsOf(name, RED))?.split(" ").slice(0, 3).join(" "), said));

  test("is not known where no runner says so", () => {
    for (const text of ["", "all good\n", "12 files checked in 3 s\n", wordsOf("tsc-plain", RED)])
      assert.equal(count(text), undefined);
  });
});
