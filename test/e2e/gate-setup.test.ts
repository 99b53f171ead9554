/**
 * Tests that a gate that cannot be run, or proves nothing, stops a run before any agent is asked. Tool chains that may
 * be missing here are replaced by programs that print recorded output (test/fixtures/set-up-output).
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { describe, it } from "node:test";
import type { Files } from "../support/repositories.ts";
import { type Ended, makePlace, type Place } from "./cli-place.ts";

const LIMIT = { timeout: 150_000 };
const OUTPUTS = path.join(import.meta.dirname, "..", "fixtures", "set-up-output");

/** Programs by name, each with its shell script. */
type Programs = Readonly<Record<string, string>>;
type Made = { readonly files: Files; readonly programs?: Programs; readonly args?: readonly string[] };

/** The text is in the program itself, because a sandbox may hide the folder of this checkout. */
const writes = (name: string, code: number) =>
  `sed "s#/workspace#$PWD#g" <<'END'\n${readFileSync(path.join(OUTPUTS, `${name}.txt`), "utf8").trimEnd()}\nEND\nexit ${code}`;

async function inPlace(
  { files, programs = {}, args = [] }: Made,
  look: (ended: Ended, place: Place, asked: readonly string[]) => Promise<void>,
): Promise<void> {
  await using place = await makePlace({ files });
  const bin = path.join(place.folder, "bin");
  await mkdir(bin);
  for (const [name, text] of Object.entries(programs))
    await writeFile(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const asked = path.join(place.folder, "asked");
  const agent = path.join(place.folder, "marked.sh");
  await writeFile(agent, `#!/bin/sh\necho "$SKEIN_KIND" >> '${asked}'\nexec '${place.agent}' "$@"\n`, {
    mode: 0o755,
  });
  const env = { PATH: [bin, path.dirname(process.execPath), process.env["PATH"]].join(path.delimiter) };
  const ended = await place.with({ env }).skein("run", "Write two files", "--agent", agent, ...args);
  const kinds = existsSync(asked) ? readFileSync(asked, "utf8").trim().split("\n") : [];
  await look(ended, place, kinds);
}

/** Expects exit code 3 with the words, and that the run planned no task, spent nothing and landed nothing. */
const stops = (
  { isProbe = false, ...made }: Made & { readonly isProbe?: boolean },
  ...words: readonly RegExp[]
) =>
  inPlace(made, async ({ code, out, err }, { repository, skein }, asked) => {
    const said = out + err;
    assert.equal(code, 3, said);
    for (const word of words) assert.match(said, word);
    // A probe runs beside the planner's first turn; the gate's own failure comes before that turn.
    assert.ok(
      asked.every((kind) => isProbe && kind === "plan"),
      `an agent was asked: ${asked}`,
    );
    const base = await repository.git("rev-parse", "main");
    const refs = await repository.git("for-each-ref", "--format=%(objectname)", "refs/heads/skein");
    for (const tip of refs.split("\n").filter((line) => line !== ""))
      assert.equal(tip, base, "something landed");
    const status = JSON.parse((await skein("status", "--json")).out);
    if (!isProbe) assert.doesNotMatch(JSON.stringify(status), /"(?:one|two|fix[^"]*)"/, "a task was made");
  });

/** Expects that the run goes on to its end. */
const goesOn = (made: Made, ...words: readonly RegExp[]) =>
  inPlace(made, async ({ code, out, err }, { repository }) => {
    const said = out + err;
    assert.equal(code, 0, said);
    for (const word of words) assert.match(said, word);
    const target = await repository.git("for-each-ref", "--format=%(refname)", "refs/heads/skein/*/target");
    const files = await repository.git("ls-tree", "--name-only", target);
    assert.ok(files.includes("t.1.txt") && files.includes("t.2.txt"), files);
  });

const script = (test: string, more: object = {}) =>
  JSON.stringify({ name: "shop", version: "1.0.0", scripts: { test }, ...more });
const SUM = "export const sum = (a, b) => a + b;\n";
const SUM_TEST =
  'import test from "node:test";\nimport assert from "node:assert";\nimport { sum } from "../src/sum.js";\n' +
  'test("adds", () => assert.equal(sum(1, 1), 2));\n';

describe("a gate that cannot be run", { concurrency: 2 }, () => {
  it("npm without install", LIMIT, () =>
    stops(
      {
        files: {
          "package.json": script("mocha", { devDependencies: { mocha: "^11.0.0" } }),
          "package-lock.json": "{}",
          "test/a.test.js": "",
        },
        programs: { npm: writes("npm-mocha", 127) },
      },
      /"npm run test" cannot be run in a fresh clone of [0-9a-f]{7}/,
      /mocha was not found\s+sh: 1: mocha: not found/,
      /workspace:\s+setup: npm ci/,
    ),
  );

  it("pnpm", LIMIT, () =>
    stops(
      {
        files: { "package.json": script("mocha"), "pnpm-lock.yaml": "", "test/a.test.js": "" },
        programs: { pnpm: writes("pnpm-run", 1) },
      },
      /node_modules is missing/,
      /setup: pnpm install --frozen-lockfile/,
    ),
  );

  it("python without pytest", LIMIT, () =>
    stops(
      {
        files: { "pytest.ini": "", "requirements.txt": "flask\n", "tests/test_a.py": "" },
        programs: { python3: writes("pytest-missing", 1) },
      },
      /Python has no module pytest/,
      /setup: python3 -m venv \.venv/,
    ),
  );

  it("python whose tests import another checkout", LIMIT, () =>
    stops(
      {
        isProbe: true,
        files: {
          "pytest.ini": "",
          "src/shop/__init__.py": "def add(a, b):\n    return a + b\n",
          "tests/test_shop.py": "import shop\n\ndef test_add():\n    assert shop.add(1, 1) == 2\n",
        },
        programs: {
          python3: 'case "$*" in *pytest*) echo "1 passed in 0.01s";; *) echo /elsewhere/src/shop;; esac',
        },
      },
      /your tests pass without your code/,
    ),
  );

  it("cargo with a missing crate source", LIMIT, () =>
    stops(
      {
        files: { "Cargo.toml": '[package]\nname = "shop"\n', "Cargo.lock": "", "src/lib.rs": "" },
        programs: { cargo: writes("cargo-network", 101) },
      },
      /cargo cannot get ledger/,
      /setup: cargo fetch --locked/,
    ),
  );

  it("make with a missing compiler", LIMIT, () =>
    stops(
      {
        files: {
          Makefile: "CC = missing-cc\ntest: prog\n\t./prog\nprog: prog.c\n\t$(CC) -o prog prog.c\n",
          "prog.c": "int main(void) { return 0; }\n",
        },
      },
      /missing-cc was not found/,
      /gate:\s+- </,
    ),
  );

  it("tests that need a port", LIMIT, async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const test =
      'import test from "node:test";\nimport { createServer } from "node:http";\n' +
      'test("answers", () => new Promise((resolve, reject) => {\n' +
      `  const server = createServer();\n  server.on("error", reject);\n  server.listen(${port}, "127.0.0.1", () => server.close(resolve));\n}));\n`;
    const files = { "package.json": script("node --test", { type: "module" }), "test/a.test.js": test };
    try {
      await stops(
        { files, args: ["--gate", "node --test"] },
        /a port that it needs is taken/,
        /start it before the run/,
      );
    } finally {
      server.close();
    }
  });

  it("a mistyped file of tests", LIMIT, () =>
    stops(
      {
        files: { "test/a.test.js": SUM_TEST, "src/sum.js": SUM },
        args: ["--gate", "node --test test/b.test.js"],
      },
      /cannot be run|no test was collected/,
    ),
  );
});

describe("a gate that can be run", { concurrency: 2 }, () => {
  it("an empty repository", LIMIT, () =>
    goesOn({ files: { "README.md": "" } }, /none found: landings will not be gated/),
  );

  it("one without tests", LIMIT, () =>
    goesOn(
      { files: { "package.json": script("node --test"), "src/sum.js": SUM } },
      /The gate has nothing to run yet \(test\); it applies from the first test that lands/,
    ),
  );

  it("one whose base is really red: fixes come first", LIMIT, () =>
    inPlace(
      {
        files: {
          "package.json": script("node --test", { type: "module" }),
          "src/sum.js": "export const sum = (a, b) => a - b;\n",
          "test/sum.test.js": SUM_TEST,
        },
        args: ["repair.maxRounds=1", "retry.maxFailed=1", "sweep.red=100ms", "retry.first=10ms"].flatMap(
          (set) => ["--set", set],
        ),
      },
      async ({ code, out }, _, asked) => {
        assert.equal(code, 1, out);
        assert.match(out, /Gate fails on the base: .*adds/);
        assert.ok(asked.includes("work"), "nobody was put to work on it");
      },
    ),
  );

  const PROBED = /fails without your sources, as it should/;
  const isThere = (file: string, word: string, good: string, wrong: string) =>
    `if grep -q '${word}' ${file}; then echo '${good}'; else echo '${wrong}'; exit 1; fi`;

  it("npm", LIMIT, () =>
    goesOn(
      {
        files: {
          "package.json": script("node --test", { type: "module" }),
          "src/sum.js": SUM,
          "test/sum.test.js": SUM_TEST,
        },
      },
      PROBED,
    ),
  );

  it("pytest", LIMIT, () =>
    goesOn(
      {
        files: {
          "pytest.ini": "",
          "shop.py": "def add(a, b):\n    return a + b\n",
          "tests/test_shop.py": "import shop\n\ndef test_add():\n    assert shop.add(1, 1) == 2\n",
        },
        programs: {
          python3: isThere(
            "shop.py",
            "def add",
            "1 passed in 0.01s",
            "FAILED tests/test_shop.py::test_add - assert 0\n1 failed in 0.01s",
          ),
        },
      },
      PROBED,
    ),
  );

  it("cargo", LIMIT, () =>
    goesOn(
      {
        files: {
          "Cargo.toml": '[package]\nname = "shop"\n',
          "src/lib.rs": "pub fn add() {}\n",
          "tests/add.rs": "#[test]\nfn adds() {}\n",
        },
        programs: {
          cargo: isThere(
            "src/lib.rs",
            "fn add",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured",
            "error: expected item\n --> src/lib.rs:1:1",
          ),
        },
      },
      PROBED,
    ),
  );

  it("make", LIMIT, () =>
    goesOn(
      {
        files: {
          Makefile: "test: tests/run.sh\n\tsh tests/run.sh\n",
          "sum.sh": "sum() { echo $(($1 + $2)); }\n",
          "tests/run.sh": '. ./sum.sh\ntest "$(sum 1 1)" = 2\n',
        },
      },
      PROBED,
    ),
  );

  it("shell", LIMIT, () =>
    goesOn(
      {
        files: {
          "sum.sh": "sum() { echo $(($1 + $2)); }\n",
          "tests/run.sh": '. ./sum.sh\ntest "$(sum 1 1)" = 2\n',
        },
        args: ["--gate", "sh tests/run.sh"],
      },
      PROBED,
    ),
  );
});
