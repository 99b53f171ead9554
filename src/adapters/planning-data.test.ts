/** Tests that a repository's own planning files replace the package's, and are only read from inside the repository. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { hasFailed } from "../core/result.ts";
import { loadPlanningFiles } from "./planning-data.ts";

function inRepository(run: (top: string) => Promise<void>) {
  return async () => {
    const top = mkdtempSync(path.join(tmpdir(), "planning-data-"));
    try {
      await run(top);
    } finally {
      rmSync(top, { recursive: true, force: true });
    }
  };
}

const own = (top: string) => path.join(top, ".skein/planning");

test(
  "without files of its own, a repository has the package's",
  inRepository(async (top) => {
    for (const place of [top, undefined]) {
      const files = await loadPlanningFiles(place);
      assert.ok(!hasFailed(files));
      assert.match(files.words.file, /planning\/words\.json$/);
      assert.ok("verbs" in JSON.parse(files.words.text));
      assert.ok("maxFilesRead" in JSON.parse(files.limits.text));
    }
  }),
);

test(
  "a file of the repository stands in place of the package's, the other one stays",
  inRepository(async (top) => {
    mkdirSync(own(top), { recursive: true });
    writeFileSync(path.join(own(top), "limits.json"), '{"version": 1}');
    const files = await loadPlanningFiles(top);
    assert.ok(!hasFailed(files));
    assert.deepEqual(files.limits, { file: ".skein/planning/limits.json", text: '{"version": 1}' });
    assert.ok("verbs" in JSON.parse(files.words.text));
  }),
);

test(
  "neither a folder nor a file is read through a link that leads out",
  inRepository(async (top) => {
    const elsewhere = path.join(top, "elsewhere");
    const repository = path.join(top, "repository");
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, "words.json"), "{}");
    mkdirSync(path.join(repository, ".skein"), { recursive: true });
    symlinkSync(elsewhere, own(repository));
    const folder = await loadPlanningFiles(repository);
    assert.ok(hasFailed(folder));
    assert.match(folder.failure.message, /leads out of the repository/);

    rmSync(own(repository));
    mkdirSync(own(repository));
    symlinkSync(path.join(elsewhere, "words.json"), path.join(own(repository), "words.json"));
    const file = await loadPlanningFiles(repository);
    assert.ok(hasFailed(file));
    assert.match(file.failure.message, /words\.json is not a plain file/);
  }),
);

test(
  "what is too long or no text is refused with its name",
  inRepository(async (top) => {
    mkdirSync(own(top), { recursive: true });
    const file = path.join(own(top), "words.json");
    for (const [content, message] of [
      [Buffer.alloc(1_000_001, 32), /words\.json is longer than 1000000 bytes/],
      [Buffer.from([0xff, 0xfe]), /words\.json is not UTF-8/],
    ] as const) {
      writeFileSync(file, content);
      const read = await loadPlanningFiles(top);
      assert.ok(hasFailed(read));
      assert.match(read.failure.message, message);
    }
  }),
);
