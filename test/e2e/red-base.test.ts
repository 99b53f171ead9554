/** Tests a base whose gate fails: what is asked before any agent is paid, what each answer does, and what it costs. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../../tools/source-files.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { openTerminal } from "../support/terminal.ts";
import { makePlace, type Place } from "./cli-place.ts";

const LIMIT = { timeout: 120_000 };

/** Ten tests that pass, and one between them that fails. */
const FILES = {
  "sum.js": "exports.sum = (a, b) => a - b;\n",
  "sum.test.js": [
    'const { test } = require("node:test"); const assert = require("node:assert"); const { sum } = require("./sum.js");',
    ...Array.from({ length: 5 }, (_, i) => `test("early ${i}", () => {});`),
    'test("adds two numbers", () => assert.strictEqual(sum(1, 2), 3));',
    ...Array.from({ length: 5 }, (_, i) => `test("late ${i}", () => {});`),
    "",
  ].join("\n"),
};

type RedPlace = Place & {
  readonly run: (...flags: readonly string[]) => string[];
  readonly calls: () => string;
};

/**
 * The agent writes down every call with its prompt, repairs what a fix task names, and otherwise writes a file of its
 * own.
 */
async function redPlace(): Promise<RedPlace> {
  const place = await makePlace({ files: FILES });
  const calls = path.join(place.folder, "calls");
  const script = `#!/bin/sh
brief=$(cat)
printf '== %s %s\\n%s\\n' "$SKEIN_KIND" "$SKEIN_TASK" "$brief" >> '${calls}'
case "$brief" in
  *"adds two numbers"*) sed 's/a - b/a + b/' sum.js > sum.new && mv sum.new sum.js ;;
  *) echo done > note.txt ;;
esac
echo '{"status":"complete","summary":"did it","concerns":[]}'
`;
  await writeFile(place.agent, script, { mode: 0o755 });
  const gate = ["--gate", "node --test --test-reporter=tap sum.test.js"];
  const run = (...flags: readonly string[]) => [
    ...["run", "Write a note", "--agent", place.agent, "--planner", "none", ...gate],
    ...["--set", "sweep.red=1s", "--set", "gateProbe=off", ...flags],
  ];
  return { ...place, run, calls: () => (existsSync(calls) ? readFileSync(calls, "utf8") : "") };
}

const FAILING = /not ok \d+ - adds two numbers/;

describe("a base that fails its gate", () => {
  it(
    "stops the run where that is said: exit 3, what fails and where all of it is, and no agent was called",
    LIMIT,
    async () => {
      await using place = await redPlace();
      const { code, err, out } = await place.skein(...place.run("--set", "onRedBase=stop"));
      assert.equal(code, 3, out + err);
      assert.match(err, /the gate fails on the untouched base.*no agent was started/);
      assert.match(err, FAILING);
      assert.doesNotMatch(err, /ok \d+ - (?:early|late)/, "nothing that passed");
      assert.match(err, /Kind of failure: tests fail/);
      const file = /All of its output: (\S.*)$/m.exec(err)?.[1] ?? "";
      assert.match(readFileSync(file, "utf8"), /ok \d+ - late 4/);
      assert.equal(place.calls(), "");
      const repaired = await place.skein("resume", "--set", "onRedBase=repair");
      assert.equal(repaired.code, 0, repaired.out + repaired.err);
    },
  );

  it(
    "is repaired first where nobody is asked: the fix task hears of what failed, and of nothing that passed",
    LIMIT,
    async () => {
      await using place = await redPlace();
      const { code, err, out } = await place.skein(...place.run());
      assert.equal(code, 0, out + err);
      assert.match(out, /The gate fails on the untouched base.*; agents repair it first/);
      assert.match(out, FAILING);
      const [first = ""] = place.calls().split(/^== /m).filter(Boolean);
      assert.match(first, /Repair test failures on the target: 1 in all/);
      assert.match(first, /adds two numbers/);
      assert.doesNotMatch(first, /ok \d+ - (?:early|late)/);
      const [target] = (
        await place.repository.git("branch", "--list", "--format=%(refname)", "skein/*/target")
      ).split("\n");
      assert.match(await place.repository.git("show", `${target}:sum.js`), /a \+ b/);
      assert.equal(await place.repository.git("show", `${target}:note.txt`), "done");
    },
  );

  it(
    "is worked beside where that is said: nothing repairs it, and what makes nothing worse lands",
    LIMIT,
    async () => {
      await using place = await redPlace();
      const { code, out, err } = await place.skein(...place.run("--set", "onRedBase=continue"));
      assert.equal(code, 1, out + err);
      assert.match(out, /the run goes on beside it: only what makes nothing worse lands/);
      assert.doesNotMatch(place.calls(), /adds two numbers/);
      const [target] = (
        await place.repository.git("branch", "--list", "--format=%(refname)", "skein/*/target")
      ).split("\n");
      assert.equal(await place.repository.git("show", `${target}:note.txt`), "done");
      assert.match(await place.repository.git("show", `${target}:sum.js`), /a - b/);
    },
  );

  it(
    "is asked about on a terminal: the price, no agent before the answer, and what was answered happens",
    LIMIT,
    async () => {
      await using place = await redPlace();
      const env = {
        ...plainEnvironment(),
        HOME: path.join(place.folder, "home"),
        SKEIN_STATE_DIR: place.state,
      };
      const command = [process.execPath, path.join(ROOT, "bin/skein"), ...place.run("--plain")];
      await using terminal = openTerminal(command, {
        folder: place.repository.folder,
        env,
        columns: 160,
        rows: 60,
      });
      await terminal.shows(/repair, continue or stop\? $/m);
      assert.match(
        terminal.screen(),
        /at most 1 fix task in its first round, with 5 attempts each, of unknown price/,
      );
      assert.equal(place.calls(), "");
      terminal.press("perhaps\r");
      await terminal.shows(/the answer is one of: repair, continue, stop/);
      terminal.press("stop\r");
      assert.equal(await terminal.exited, 3);
      assert.equal(place.calls(), "");
    },
  );

  it("is asked about again by resume, if the process that asked is gone", LIMIT, async () => {
    await using place = await redPlace();
    const env = {
      ...plainEnvironment(),
      HOME: path.join(place.folder, "home"),
      SKEIN_STATE_DIR: place.state,
    };
    const at = { folder: place.repository.folder, env, columns: 160, rows: 60 };
    const skein = [process.execPath, path.join(ROOT, "bin/skein")];
    await using first = openTerminal([...skein, ...place.run("--plain")], at);
    await first.shows(/repair, continue or stop\? $/m);
    first.press("\u0003");
    await first.exited;
    await using second = openTerminal([...skein, "resume", "--plain"], at);
    await second.shows(/not ok \d+ - adds two numbers[\s\S]*repair, continue or stop\? $/m);
    second.press("stop\r");
    assert.equal(await second.exited, 3);
    assert.equal(place.calls(), "");
  });

  it("is asked about on the whole screen as any question is", LIMIT, async () => {
    await using place = await redPlace();
    const env = {
      ...plainEnvironment(),
      HOME: path.join(place.folder, "home"),
      SKEIN_STATE_DIR: place.state,
    };
    const command = [process.execPath, path.join(ROOT, "bin/skein"), ...place.run()];
    await using terminal = openTerminal(command, {
      folder: place.repository.folder,
      env,
      columns: 120,
      rows: 40,
    });
    await terminal.shows(/NEEDS YOU.*(?:the gate fails|answer)/);
    assert.equal(place.calls(), "");
    const told = await place.skein("answer", (await runName(place)) ?? "", "base", "stop");
    assert.equal(told.code, 0, told.err);
    assert.equal(await terminal.exited, 3);
    assert.equal(place.calls(), "");
  });
});

async function runName(place: Place): Promise<string | undefined> {
  const { out } = await place.skein("status", "--json");
  return /"run":\s?"([^"]+)"/.exec(out)?.[1];
}
