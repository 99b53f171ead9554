/** Tests that both ends of a long output file are read, with cut lines included. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import type { RunHome } from "../ports/runs.ts";
import { runFiles } from "./run-files.ts";
import { transcriptName } from "./transcripts.ts";

const MB = 1024 * 1024;

test("of a long output both ends are read, with what is left of a line that has no end", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "skein-run-files-"));
  try {
    await mkdir(path.join(folder, "transcripts"));
    const text = `ok 1\nnot ok 2 - ${"x".repeat(5 * MB)}\nError: ${"y".repeat(5 * MB)}\n[exit code 1]\n`;
    await writeFile(path.join(folder, "transcripts", transcriptName("land#1")), text);
    const read = await runFiles(folder).output({ folder } as RunHome, "land#1", AbortSignal.timeout(30_000));
    assert.ok(read !== undefined && read.length < 4 * MB + 100);
    const [first, cut, note, rest, last] = read.split("\n");
    assert.deepEqual([first, last], ["ok 1", "[exit code 1]"]);
    assert.match(cut!, /^not ok 2 - x+$/);
    assert.match(note!, /^… \d+ bytes are not shown …$/);
    assert.match(rest!, /^y+$/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
