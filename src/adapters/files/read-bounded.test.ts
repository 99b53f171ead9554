/** Tests that files made to harm their reader are refused: pipes, devices, links, files without an end. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { readBounded, readShort, readShortSync } from "./read-bounded.ts";

const MAX = { timeout: 10_000 };

describe("a bounded read", MAX, () => {
  it("gives a file that is not longer than the limit", async () => {
    const file = path.join(newFolder(), "f");
    writeFileSync(file, "x".repeat(200_000));
    const read = await readBounded(file, 200_000);
    assert.equal(read.is === "bytes" && read.bytes.length, 200_000);
    assert.deepEqual(await readBounded(file, 199_999), { is: "too-large", size: 200_000 });
    assert.equal(await readShort(file, 10), "");
    assert.equal(readShortSync(file, 200_000).length, 200_000);
    assert.equal(readShortSync(file, 10), "");
  });

  it("gives nothing of what is missing, or below a file", async () => {
    const file = path.join(newFolder(), "f");
    assert.deepEqual(await readBounded(file, 1), { is: "none" });
    writeFileSync(file, "");
    assert.deepEqual(await readBounded(path.join(file, "below"), 1), { is: "none" });
  });

  it("does not wait for the writer of a pipe, nor read folders, sockets and devices", async () => {
    const folder = newFolder();
    const at = (name: string) => path.join(folder, name);
    execFileSync("mkfifo", [at("pipe")]);
    mkdirSync(at("folder"));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at("socket"), resolve));
    for (const file of [at("pipe"), at("folder"), at("socket"), "/dev/zero"]) {
      assert.deepEqual(await readBounded(file, 100), { is: "no-file" }, file);
      assert.equal(readShortSync(file, 100), "", file);
    }
    server.close();
  });

  it("follows no link", async () => {
    const file = path.join(newFolder(), "link");
    symlinkSync("/dev/zero", file);
    assert.deepEqual(await readBounded(file, 100), { is: "link" });
    assert.equal(readShortSync(file), "");
  });

  it("stops at the limit where a file does not say how long it is", async () => {
    if (process.platform !== "linux") return;
    const read = await readBounded("/proc/self/maps", 100); // Its size is given as 0.
    assert.equal(read.is, "too-large");
    assert.equal(readShortSync("/proc/self/pagemap"), "");
  });
});
