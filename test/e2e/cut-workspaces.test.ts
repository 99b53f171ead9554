/** Tests that workers in cut workspaces land, the gate sees the whole tree, and scope breaches are found. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { it } from "node:test";
import { makePlace } from "./cli-place.ts";

/** In its first attempt, the worker of the second task writes over a file that its cut workspace does not have. */
const WORK = `at="$(dirname "$0")"
ls -A . lib 2>/dev/null | tr '\\n' ' ' >> "$at/seen"
if [ "$SKEIN_TASK" = t.2 ] && mkdir "$at/once" 2>/dev/null; then mkdir lib; echo spoilt > lib/x.txt; fi`;

it("a run with workspace.sparse lands from cut folders and refuses what was written outside of a scope", async () => {
  const files = { "README.md": "# here\n", "lib/x.txt": "x\n", "lib/deep/y.txt": "y\n" };
  await using place = await makePlace({ files, work: WORK });
  const gate = ["--gate", "grep -qx x lib/x.txt && test -e lib/deep/y.txt"];
  const run = ["run", "Write two files", "--agent", place.agent, ...gate, "--set", "workspace.sparse=true"];
  const ended = await place.skein(...run, "--deliver", "--into-checkout");
  assert.equal(ended.code, 0, ended.out + ended.err);
  const seen = await readFile(path.join(place.folder, "seen"), "utf8");
  assert.match(seen, /README\.md/);
  assert.doesNotMatch(seen, /x\.txt|deep/);
  const shown = await place.skein(
    "show",
    JSON.parse((await place.skein("status", "--json")).out).runs[0].run,
    "t.2",
  );
  assert.match(shown.out, /outside.*lib\/x\.txt|lib\/x\.txt.*outside/);
  const listed = await place.repository.git("ls-tree", "-r", "--name-only", "HEAD");
  assert.deepEqual(listed.split("\n"), ["README.md", "lib/deep/y.txt", "lib/x.txt", "t.1.txt", "t.2.txt"]);
});
