/** Tests that the way from the command line to the engine has as few files as ARCHITECTURE.md says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { ROOT } from "../tools/source-files.ts";

const MAX_FILES = 9;
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

test("skein run reaches runEngine in nine files or fewer, each of which imports the next", () => {
  const [, listed = ""] = /```\n(bin\/skein\n[^`]*)```/.exec(read("ARCHITECTURE.md")) ?? [];
  const files = listed.trimEnd().split("\n");
  assert.ok(files.length >= 2 && files.length <= MAX_FILES, `${files.length} files`);
  for (const [i, next] of files.slice(1).entries()) {
    const file = files[i]!;
    const relative = path.posix.relative(path.posix.dirname(file), next);
    const written =
      i === 0
        ? next
            .split("/")
            .map((part) => JSON.stringify(part))
            .join(", ")
        : `"${relative.startsWith(".") ? relative : `./${relative}`}"`;
    assert.ok(read(file).includes(written), `${file} does not import ${next}`);
  }
  assert.match(read(files.at(-1)!), /export async function runEngine\(/);
});
