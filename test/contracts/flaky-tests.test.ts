/** Tests the record of flaky tests in a file: the contract, damaged files, and several processes. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { FileFlakyTests } from "../../src/adapters/flaky-tests.ts";
import { hasFailed } from "../../src/core/result.ts";
import { newFolder } from "../support/folders.ts";
import { flakyTestsContract, noted } from "./flaky-tests.ts";

flakyTestsContract("in a file", () => {
  const folder = path.join(newFolder(), "state");
  return () => new FileFlakyTests({ folder });
});

describe("flaky tests in a file", () => {
  const made = () => {
    const folder = newFolder();
    return { folder, file: path.join(folder, "flaky.json"), flaky: new FileFlakyTests({ folder }) };
  };

  it("are nobody else's to read, and leave no drafts", async () => {
    const { folder, file, flaky } = made();
    await noted(flaky, "r1", { a: 1 });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ["flaky.json"]);
  });

  it("begin anew where the file is damaged, say so, and keep the damaged one", async () => {
    for (const text of [
      "",
      "{",
      "null",
      '{"version":2,"tests":[]}',
      '{"version":1,"tests":[{"name":"a"}]}',
    ]) {
      const { file, flaky } = made();
      writeFileSync(file, text);
      const { tests, damage } = await flaky.list();
      assert.deepEqual(tests, []);
      assert.match(damage!, /flaky\.json cannot be read: it begins anew$/);
      await noted(flaky, "r1", { a: 1 });
      const { tests: now, damage: then } = await flaky.list();
      assert.deepEqual([now.length, then], [1, undefined]);
      assert.equal(readFileSync(`${file}.damaged`, "utf8"), text);
    }
  });

  it("are not read through a link, nor from what is no file", async () => {
    const { folder, file, flaky } = made();
    symlinkSync("/dev/zero", file);
    assert.match((await flaky.list()).damage!, /cannot be read/);
    mkdirSync(path.join(folder, "other", "flaky.json", "x"), { recursive: true });
    const other = new FileFlakyTests({ folder: path.join(folder, "other") });
    await noted(other, "r1", { a: 1 });
    assert.equal((await other.list()).tests.length, 1);
  });

  it("forget those that were not seen for longest, beyond a thousand", async () => {
    const { file, flaky } = made();
    const many = Object.fromEntries(Array.from({ length: 999 }, (_, i) => [`t${i}`, 1]));
    await noted(flaky, "r1", many, 5);
    await noted(flaky, "r2", { old: 7 }, 1);
    assert.equal((await flaky.list()).tests[0]?.name, "old");
    await noted(flaky, "r3", { new: 1, ["x".repeat(3_000)]: 1 }, 9);
    const names = (await flaky.list()).tests.map(({ name }) => name);
    assert.equal(names.length, 1_000);
    assert.ok(names.includes("new") && !names.includes("old"));
    assert.ok(
      names.every(({ length }) => length < 100),
      "one that is too long is no name",
    );
    for (let i = 0; i < 40; i += 1) await noted(flaky, `run${i}`, { new: 1 }, 10 + i);
    assert.equal((await flaky.list()).tests[0]?.times, 41, "also of runs that are not remembered");
    const { tests } = JSON.parse(readFileSync(file, "utf8"));
    assert.ok(tests.every(({ runs }: { runs: readonly unknown[] }) => runs.length <= 10));
  });

  it("say why where they cannot be written, and leave nothing behind", async () => {
    const { folder, flaky } = made();
    const names = ["flaky.json", "flaky.json.damaged"];
    for (const name of names) mkdirSync(path.join(folder, name, "in the way"), { recursive: true });
    const answer = await flaky.note({ run: "r1", counts: new Map([["a", 1]]), at: 1 });
    assert.ok(hasFailed(answer));
    assert.match(answer.failure.message, /the history of flaky tests cannot be written/);
    assert.deepEqual(readdirSync(folder), names);
  });

  it("are whole whenever they are read while several processes write, and have something of each", async () => {
    const { folder, flaky } = made();
    const children = Array.from({ length: 3 }, (_, i) =>
      spawn(process.execPath, ["--input-type=module", "-e", WRITER, folder, `r${i}`], { stdio: "inherit" }),
    );
    let isOver = false;
    const ended = Promise.all(children.map((child) => once(child, "close"))).then((codes) => {
      isOver = true;
      return codes.map(([code]) => code);
    });
    while (!isOver) assert.equal((await flaky.list()).damage, undefined);
    assert.deepEqual(await ended, [0, 0, 0]);
    const { tests } = await flaky.list();
    assert.deepEqual(tests.map(({ name }) => name).toSorted(), ["both", "r0", "r1", "r2"]);
    assert.ok(
      readdirSync(folder).every((name) => name === "flaky.json"),
      `${readdirSync(folder)}`,
    );
  });
});

const WRITER = `
import { FileFlakyTests } from ${JSON.stringify(import.meta.resolve("../../src/adapters/flaky-tests.ts"))};
const [folder, run] = process.argv.slice(1);
const flaky = new FileFlakyTests({ folder });
for (let times = 1; times <= 40; times += 1)
  await flaky.note({ run, counts: new Map([[run, times], ["both", times]]), at: times });
`;
