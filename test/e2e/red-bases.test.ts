/** Tests seven usual kinds of base on which the gate fails: what is said, what is spent, and what lands. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../../tools/source-files.ts";
import { makePlace } from "./cli-place.ts";

const LIMIT = { timeout: 120_000 };
const recorded = (name: string) =>
  readFileSync(path.join(ROOT, "test", "fixtures", "set-up-output", `${name}.txt`), "utf8");

/** A gate script in the tree that prints the recorded output of a tool, and fails. */
const saying = (name: string): Readonly<Record<string, string>> => ({
  "said.txt": recorded(name),
  "test.sh": "cat said.txt\nexit 1\n",
});

const TEST = (body: string) =>
  `const { test } = require("node:test");\nconst assert = require("node:assert");\n${body}\n`;

type Base = {
  readonly files: Readonly<Record<string, string>>;
  readonly gate?: string;
  readonly flags?: readonly string[];
  /** `work`: what the worker of the goal does. `repair`: what a worker does whose prompt contains `failing`. */
  readonly work?: string;
  readonly failing?: string;
  readonly repair?: string;
};

/** Gives the run's exit code and output, the calls of its agent, and the files of its target. */
async function runOn({ files, gate, flags = [], work, failing = "-", repair = ":" }: Base) {
  await using place = await makePlace({ files });
  const calls = path.join(place.folder, "calls");
  const script = `#!/bin/sh
brief=$(cat)
case "$brief" in
  *"${failing}"*"on the target"*|*"on the target"*"${failing}"*) echo repair >> '${calls}'; ${repair} ;;
  *) echo work >> '${calls}'; ${work ?? "echo done > note.txt"} ;;
esac
echo '{"status":"complete","summary":"did it","concerns":[]}'
`;
  await writeFile(place.agent, script, { mode: 0o755 });
  const { code, out, err } = await place.skein(
    ...["run", "Write a note", "--agent", place.agent, "--planner", "none"],
    ...(gate === undefined ? [] : ["--gate", gate.replaceAll("@", place.folder)]),
    ...["--set", "sweep.red=1s", "--set", "gateProbe=off", ...flags],
  );
  const branches = await place.repository.git("branch", "--list", "--format=%(refname)", "skein/*/target");
  const [target = ""] = branches.split("\n");
  const landed = target === "" ? "" : await place.repository.git("diff", "--name-only", "HEAD", target);
  return {
    ...{ code, text: out + err, landed: landed.split("\n").filter(Boolean) },
    calls: existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [],
  };
}

describe("a gate whose tests look at the terminal", () => {
  const WANTS = 'test "$TERM" != dumb && test "$FORCE_COLOR" = 1';

  it("has the variables that its entry names, and else those of the user's terminal", LIMIT, async () => {
    const gate = JSON.stringify([{ name: "tests", run: WANTS, env: { TERM: "xterm", FORCE_COLOR: "1" } }]);
    const own = await runOn({ files: {}, flags: ["--set", `gate=${gate}`] });
    assert.equal(own.code, 0, own.text);
  });

  it("is told how to get colours, if its tests compare them", LIMIT, async () => {
    const files = {
      "a.test.js": TEST(
        'test("paints", () => assert.equal("red", "\\x1b[31mred\\x1b[39m"));\ntest("is", () => {});',
      ),
    };
    const run = await runOn({ files, gate: "node --test", flags: ["--set", "onRedBase=stop"] });
    assert.equal(run.code, 3, run.text);
    assert.match(
      run.text,
      /Perhaps not the code: these tests may want the colours[\s\S]*env: \{ FORCE_COLOR: "1" \}/,
    );
  });
});

const NOTHING: readonly string[] = [];
const CONTINUE = ["--set", "onRedBase=continue"];

describe("a base on which the gate fails", () => {
  it("for a compiler that is too old: nothing is spent, and the version is named", LIMIT, async () => {
    const files = {
      ...saying("go-too-old"),
      "go.mod": "module example.com/shop\n\ngo 1.21\n",
      "a_test.go": "package a\n",
    };
    const run = await runOn({ files, gate: "sh test.sh" });
    assert.deepEqual([run.code, run.calls, run.landed], [3, NOTHING, NOTHING], run.text);
    assert.match(run.text, /go is too old: go 1\.21 or newer is wanted \(it has no package slices\)/);
    assert.match(run.text, /package slices is not in GOROOT/);
    assert.match(run.text, /skein\.yaml:\n\s*workspace:\n\s*setup: /);
  });

  it(
    "for a service that is refused after all tests passed: nothing is spent, and another gate is proposed",
    LIMIT,
    async () => {
      const run = await runOn({ files: saying("npm-audit-refused"), gate: "sh test.sh" });
      assert.deepEqual([run.code, run.calls, run.landed], [3, NOTHING, NOTHING], run.text);
      assert.match(run.text, /the advisory service does not answer \(npm audit\)/);
      assert.match(run.text, /403 Forbidden/);
      assert.match(run.text, /depends on the day and not on the tree:\n\s*gate:/);
    },
  );

  it("for a linter that no lock file pins: that is said, and it is repaired once", LIMIT, async () => {
    const eslint = `if grep -q var a.js; then printf '\\n/x/a.js\\n  1:1  error  Unexpected var  no-var\\n\\n✖ 1 problem (1 error, 0 warnings)\\n'; exit 1; fi\n`;
    const files = {
      "package.json": '{"name":"shop","devDependencies":{"eslint":"*"}}',
      "tools/eslint": `#!/bin/sh\n${eslint}`,
      "a.js": "var a = 1;\n",
    };
    const run = await runOn({
      ...{ files, gate: 'lint() { sh tools/eslint "$@"; }; lint eslint .', failing: "no-var" },
      repair: "echo 'let a = 1;' > a.js",
    });
    assert.match(run.text, /Perhaps not the code: no lock file says which version of eslint to install/);
    assert.match(run.text, /agents repair it first/);
    assert.deepEqual([run.code, run.calls], [0, ["repair", "work"]], run.text);
    assert.deepEqual(run.landed, ["a.js", "note.txt"]);
  });

  it("for one failing test: it is repaired first, and both land", LIMIT, async () => {
    const files = {
      "sum.js": "exports.sum = (a, b) => a - b;\n",
      "sum.test.js": TEST(
        'test("adds", () => assert.equal(require("./sum.js").sum(1, 2), 3));\ntest("is", () => {});',
      ),
    };
    const run = await runOn({
      ...{ files, gate: "node --test", failing: "adds" },
      repair: "echo 'exports.sum = (a, b) => a + b;' > sum.js",
    });
    assert.deepEqual(
      [run.code, run.calls, run.landed],
      [0, ["repair", "work"], ["note.txt", "sum.js"]],
      run.text,
    );
    assert.match(run.text, /Kind of failure: tests fail/);
    assert.match(run.text, /(?:✖|not ok 1 -) adds/);
    assert.doesNotMatch(run.text, /(?:✔|ok 2 -) is/);
  });

  it("for a flaky test: it is looked at twice, and nothing is spent on it", LIMIT, async () => {
    const files = {
      "a.test.js": TEST(
        'test("flickers", () => assert.ok(require("node:fs").existsSync(process.env.SEEN)));\ntest("is", () => {});',
      ),
    };
    const gate = "SEEN=@/seen node --test; code=$?; touch @/seen; exit $code";
    const run = await runOn({ files, gate, flags: ["--set", "gateSandbox=off"] });
    assert.deepEqual([run.code, run.calls, run.landed], [0, ["work"], ["note.txt"]], run.text);
    assert.match(run.text, /Gate failed on the base; re-running in case it is flaky: .*flickers/);
  });

  it(
    "for a test file that cannot be loaded: no test ran, so nothing is spent, and beside it nothing lands",
    LIMIT,
    async () => {
      const files = { "a.test.js": TEST('require("./gone.js");\ntest("is", () => {});') };
      const stopped = await runOn({ files, gate: "node --test" });
      assert.deepEqual([stopped.code, stopped.calls, stopped.landed], [3, NOTHING, NOTHING], stopped.text);
      assert.match(stopped.text, /Cannot find module '\.\/gone\.js'/);
      assert.match(stopped.text, /no test is known to have run, so that no change can be judged/);
      const beside = await runOn({ files, gate: "node --test", flags: CONTINUE });
      assert.equal(beside.code, 1, beside.text);
      assert.deepEqual(beside.landed, NOTHING);
      assert.match(beside.text, /nobody can tell whether this change breaks something/);
    },
  );

  it(
    "where nothing compiles, and the change breaks the syntax, too: the change does not land",
    LIMIT,
    async () => {
      const files = { "a.js": "let = ;\n", "b.js": "let b;\n", "b.test.js": TEST('test("is", () => {});') };
      const gate = "node --check a.js && node --check b.js && node --test";
      const run = await runOn({ files, gate, flags: CONTINUE, work: "echo 'let = = ;' > b.js" });
      assert.equal(run.code, 1, run.text);
      assert.deepEqual(run.landed, NOTHING);
      assert.doesNotMatch(run.text, /no new failures/);
    },
  );
});
