/** Tests what a model's search finds in its workspace, and its limits of time and size. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { plainPlace, workspacePlace } from "../../../../test/support/tool-places.ts";
import type { ToolPlace } from "./place.ts";
import { rootOf } from "./reach.ts";
import { findFiles, grepFiles } from "./search.ts";

const FILES = {
  ".gitignore": "out\n",
  "gone.txt": "alpha\n",
  "src/b.ts": "const alpha = 1;\n",
  "src/deep/c[1].ts": "beta ALPHA 12\n",
  "-O": "alpha\n",
};

async function searched() {
  const at = await workspacePlace({ files: FILES });
  fs.writeFileSync(path.join(at.place.folder, "out"), "alpha\n");
  fs.writeFileSync(path.join(at.place.folder, "new.txt"), "alpha new\n");
  fs.rmSync(path.join(at.place.folder, "gone.txt"));
  return at;
}

const rooted = (place: ToolPlace) => ({ ...place, root: rootOf(place.folder) });
const grep = (place: ToolPlace, input: Parameters<typeof grepFiles>[1]) =>
  grepFiles(rooted(place), input, place.signal);
const find = (place: ToolPlace, input: Parameters<typeof findFiles>[1]) =>
  findFiles(rooted(place), input, place.signal);

it("finds text by an expression, in files that are new too, and not in ignored ones", async () => {
  await using at = await searched();
  assert.equal(
    await grep(at.place, { pattern: "al\\w{2}a\\b" }),
    "-O:1:alpha\nnew.txt:1:alpha new\nsrc/b.ts:1:const alpha = 1;",
  );
  const found = await grep(at.place, { pattern: "alpha", glob: "*.ts", ignore_case: true });
  assert.equal(found, "src/b.ts:1:const alpha = 1;\nsrc/deep/c[1].ts:1:beta ALPHA 12");
  assert.equal(
    await grep(at.place, { pattern: "ALPHA", path: "src/deep" }),
    "src/deep/c[1].ts:1:beta ALPHA 12",
  );
  assert.equal(
    await grep(at.place, { pattern: "ALPHA", path: "src/deep/c[1].ts" }),
    "src/deep/c[1].ts:1:beta ALPHA 12",
  );
  assert.equal(await grep(at.place, { pattern: "gamma" }), "(nothing was found)");
});

it("takes no pattern for an option, and says what is wrong with one", async () => {
  await using at = await searched();
  const made = path.join(at.place.folder, "made");
  assert.equal(
    await grep(at.place, { pattern: `--open-files-in-pager=touch ${made}` }),
    "(nothing was found)",
  );
  assert.match(await grep(at.place, { pattern: "alpha", glob: `-Otouch ${made}` }), /^\(nothing|^error/);
  assert.equal(fs.existsSync(made), false);
  assert.match(await grep(at.place, { pattern: "(" }), /^error: .*missing/);
});

it("stays inside: no folder above, no link out, no glob with two dots", async () => {
  await using at = await searched();
  fs.symlinkSync(at.repository.folder, path.join(at.place.folder, "link"));
  fs.symlinkSync(path.join(at.repository.folder, "gone.txt"), path.join(at.place.folder, "file"));
  for (const asked of ["..", at.repository.folder, "link"]) {
    assert.match(await grep(at.place, { pattern: "alpha", path: asked }), /^error: .*(?:outside|a link out)/);
    assert.match(await find(at.place, { glob: "*", path: asked }), /^error: .*(?:outside|a link out)/);
  }
  assert.match(await find(at.place, { glob: "../**" }), /^error: a glob begins/);
  assert.doesNotMatch(await grep(at.place, { pattern: "alpha" }), /link\/|file:/);
  assert.doesNotMatch(await find(at.place, { glob: "**" }), /link\//);
});

it("finds files by name in every folder, without what was deleted or is ignored", async () => {
  await using at = await searched();
  assert.equal(await find(at.place, { glob: "*.ts" }), "src/b.ts\nsrc/deep/c[1].ts");
  assert.equal(await find(at.place, { glob: "src/*.ts" }), "src/b.ts");
  assert.equal(await find(at.place, { glob: "*", path: "src/deep" }), "src/deep/c[1].ts");
  assert.equal(await find(at.place, { glob: "*.txt" }), "new.txt");
});

it("stops an expression that explodes, and goes on", async () => {
  await using at = await searched();
  fs.writeFileSync(path.join(at.place.folder, "long"), `${"a".repeat(60)}b\n`.repeat(2_000));
  const place = { ...at.place, limits: { ...at.place.limits, maxCommandMs: 1_000 } };
  const found = await grep(place, { pattern: "^(a+)+$|(?:(?:a|aa)+)+c" });
  assert.match(found, /^error: |nothing was found/);
  assert.equal(await grep(place, { pattern: "const alpha" }), "src/b.ts:1:const alpha = 1;");
});

it("searches also where a worker removed the git folder", async () => {
  await using at = await searched();
  fs.rmSync(path.join(at.place.folder, ".git"), { recursive: true });
  assert.match(await grep(at.place, { pattern: "const alpha" }), /^src\/b\.ts:1:const alpha = 1;$/);
  assert.match(await find(at.place, { glob: "*" }), /^error: git does not know this folder/);
});

it("shows so much, and says that there is more", async () => {
  const place = plainPlace();
  await using at = await workspacePlace({ files: { a: "alpha\n".repeat(1_000) } });
  const found = await grep({ ...place, ...at.place }, { pattern: "alpha" });
  assert.equal(found.split("\n").length, 301);
  assert.match(found, /\[more was found than is shown: narrow it with path or glob\]$/);
});
