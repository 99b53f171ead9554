/** Tests which files of a tree count as sources, which commands run tests, and that sources are made unusable. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, linkSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { type Files, makeRepository } from "../../../test/support/repositories.ts";
import { hasFailed } from "../../core/result.ts";
import { shellCommand, testCommands } from "./gate-command.ts";
import { filesOf, makeUnusable } from "./probe-sources.ts";

const quiet = new AbortController().signal;

async function sourcesOf(files: Files, ...lines: string[]): Promise<readonly string[]> {
  await using repository = await makeRepository({ files });
  const run = lines.map((line) => shellCommand(line, line).command);
  const found = await filesOf(repository.folder, "HEAD", run, quiet);
  assert.ok(!hasFailed(found));
  return found.sources;
}

const empty = (...names: string[]): Files => Object.fromEntries(names.map((name) => [name, ""]));

describe("the sources of a tree", () => {
  it("are scripts and tools only where a test names them", async () => {
    const tools = empty("agent.sh", "hack/release.sh", "scripts/publish.js");
    const shown = {
      ...tools,
      "tests/run_test.sh": "sh ./greet.sh | grep -q hello\n",
      "greet.sh": "echo hello\n",
    };
    assert.deepEqual(await sourcesOf(shown, "sh tests/run_test.sh"), ["greet.sh"]);
    assert.deepEqual(await sourcesOf(tools, "true"), []);
  });

  it("are programs that are neither tests nor what tests read, neither settings nor pages nor another's", async () => {
    const sources = ["lib/a.c", "lib/a.h", "src/a.ts", "src/testing/b.py", "src/utils/c.go"];
    const others = empty(
      ...["src/a.test.ts", "test/helpers/h.js", "src/__tests__/t.js", "src/test/java/A.java", "spec/s.rb"],
      ...["tests/fixtures/f.py", "pkg/testdata/t.go", "pkg/a_test.go", "conftest.py", "setup.py", "build.rs"],
      ...["jest.config.js", ".eslintrc.js", ".github/x.js", "docs/d.js", "vendor/v.go", "node_modules/n.js"],
      ...["gulpfile.js", "README.md", "data.json", "noxfile.py", "a.css"],
    );
    const program = { text: "#!/bin/sh\n", executable: true } as const;
    const linked: Files = { "bin/start": program, gradlew: program, "link.js": { link: "src/a.ts" } };
    const shown = { ...others, ...linked, ...empty(...sources), "spec/s.rb": "`bin/start`\n" };
    assert.deepEqual(await sourcesOf(shown), ["bin/start", ...sources]);
  });

  for (const [line, isPart, top = {}] of [
    ["node tools/verify.js src/a.js", ["tools/helper.js", "tools/verify.js"]],
    ["A=1 npx c8 node --import ./hook.mjs -r=x run.cjs", ["hook.mjs", "run.cjs"]],
    ["cd . && ./check.sh", ["check.sh"]],
    ["python3 -m pkg.selftest", ["pkg/selftest.py"]],
    ["cc -o app src/a.c && cc -c src/a.c && test -f src/a.js", []],
    ["uv run run.cjs && coverage run -m pkg.selftest", ["pkg/selftest.py", "run.cjs"]],
    [
      "npm test",
      ["pre.js", "run.cjs"],
      {
        "package.json": npm({
          pretest: "node pre.js",
          test: "npm run x",
          x: "node run.cjs",
          start: "node src/a.js",
        }),
      },
    ],
    [
      "make check",
      ["run.cjs"],
      { Makefile: "all: app\n\tnode src/a.js\n\ncheck: inner\ninner:\n\t@node run.cjs\n" },
    ],
    ["make", ["check.sh"], { Makefile: ".PHONY: all\nX := src/a.js\nall:\n\tsh \\\n\t  check.sh\n" }],
  ] as const satisfies readonly (readonly [string, readonly string[], Files?])[])
    it(`are not what the gate runs: ${line}`, async () => {
      const all = ["check.sh", "hook.mjs", "pkg/selftest.py", "pre.js", "run.cjs", "src/a.c", "src/a.js"];
      const tools = ["tools/helper.js", "tools/verify.js"];
      const expected = [...all, ...tools].filter((file) => !(isPart as readonly string[]).includes(file));
      const test = { "test/all.test.js": "check.sh tools/helper.js tools/verify.js\n" };
      assert.deepEqual(await sourcesOf({ ...empty(...all, ...tools), ...top, ...test }, line), expected);
    });
});

function npm(scripts: Readonly<Record<string, string>>): string {
  return JSON.stringify({ scripts });
}

describe("commands that run tests", () => {
  const asked = (...lines: string[]) =>
    testCommands(lines.map((line) => shellCommand(line, line))).map(({ name }) => name);

  it("say so by their words, or are all that the gate has", () => {
    const tests = [
      "npm test",
      "make check",
      "cargo test",
      "uv run pytest -q",
      "gotestsum ./...",
      "npx vitest run",
    ];
    const others = [
      "npm run build",
      "eslint test",
      "tsc -p tests",
      "npm audit",
      "cargo check",
      "go vet ./...",
    ];
    assert.deepEqual(asked(...tests, ...others), tests);
    for (const line of ["./all.sh", "npm run check", "make"]) assert.deepEqual(asked(line), [line]);
    for (const line of others) assert.deepEqual(asked(line), []);
  });
});

describe("a source that was made unusable", () => {
  const spoilt = async (name: string, text: string) => {
    const folder = newFolder();
    const file = path.join(folder, name);
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    linkSync(file, path.join(folder, "other"));
    await makeUnusable(folder, [name], quiet);
    assert.equal(
      readFileSync(path.join(folder, "other"), "utf8"),
      text,
      "a hard link elsewhere is as it was",
    );
    assert.equal(statSync(file).mode & 0o777, 0o755);
    return file;
  };
  const fails = (command: string, ...args: string[]) => {
    const { status, error } = spawnSync(command, args);
    assert.ok(!error && status !== 0, `${command} ${args.join(" ")}: ${error ?? status}`);
  };

  it("cannot be run, loaded or compiled in any of the languages that are here", async () => {
    fails(await spoilt("tool", "#!/bin/sh\ntrue\n"));
    fails(await spoilt("tool.js", "#!/usr/bin/env node\n"));
    fails(process.execPath, await spoilt("a.ts", "export {};\n"));
    fails("bash", "-c", `. '${await spoilt("a.sh", "true\n")}'; true`);
    fails("python3", await spoilt("a.py", "pass\n"));
    fails("cc", "-c", "-o", "/dev/null", await spoilt("a.c", "int a;\n"));
    const go = readFileSync(await spoilt("a.go", "// About x.\npackage x\n"), "utf8");
    assert.match(go, /^package x\nexit 1\n/, "without its package go would say that it cannot be set up");
    assert.match(readFileSync(await spoilt("a.php", "<?php\n"), "utf8"), /^<\?php\nexit 1\n#.*\n\)/);
  });

  it("is left alone where it is a program without a source", async () => {
    assert.equal(readFileSync(await spoilt("tool", "\x7fELF"), "utf8"), "\x7fELF");
  });
});
