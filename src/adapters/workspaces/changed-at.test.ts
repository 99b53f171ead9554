/** Tests when something in a folder last changed, by the times of its files and folders. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { changedAt } from "./changed-at.ts";

const quiet = new AbortController().signal;

describe("the last change in a folder", () => {
  let folder: string;
  const put = (name: string, seconds: number) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, "");
    utimesSync(file, seconds, seconds);
  };
  const settle = (...names: readonly string[]) => {
    for (const name of names) utimesSync(path.join(folder, name), 1, 1);
  };
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "skein-changed-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("is that of its newest file, however deep", async () => {
    put("a/b/c.txt", 2_000);
    put("a/d.txt", 1_000);
    settle("a/b", "a");
    assert.equal(await changedAt(folder, quiet), 2_000_000);
  });

  it("shows that a file was removed, by the time of its folder", async () => {
    put("a/b.txt", 1_000);
    settle("a");
    const before = await changedAt(folder, quiet);
    rmSync(path.join(folder, "a/b.txt"));
    assert.ok((await changedAt(folder, quiet)) > before);
  });

  it("does not follow links, nor believe a time in the future", async () => {
    symlinkSync("/", path.join(folder, "everything"));
    put("late.txt", 4_000_000_000);
    put("early.txt", 3);
    assert.ok((await changedAt(folder, quiet)) <= Date.now());
  });

  it("is 0 where nothing can be seen", async () => {
    assert.equal(await changedAt(path.join(folder, "gone"), quiet), 0);
  });
});
