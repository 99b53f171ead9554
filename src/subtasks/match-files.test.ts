/** Tests how terms and imports are read from files, and which files a query finds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { matchFiles } from "./associative-files.ts";
import { importPlaces, indexFile } from "./file-index.ts";
import { termsOf } from "./relevance.ts";

test("words are one term in all their forms, in prose and in names of programs", () => {
  assert.deepEqual(termsOf("The matching of matchedFiles: MATCHES, by file_name"), [
    "match",
    "match",
    "fil",
    "match",
    "fil",
    "nam",
  ]);
  assert.deepEqual(termsOf("stopped stops stopping"), ["stop", "stop", "stop"]);
  assert.deepEqual(termsOf("to be or not to be"), []);
});

test("imports are found in several languages, and led to the files that there are", () => {
  const files = [
    indexFile(
      "src/a.ts",
      'import type { B } from "./b.ts";\nimport {\n  c,\n} from "../lib/c.js";\nconst d = require("./d");',
    ),
    indexFile("src/b.ts", 'export * from "./gone.ts"; import fs from "node:fs";'),
    indexFile("lib/c.ts", ""),
    indexFile("src/d/index.ts", ""),
    indexFile("pkg/main.py", "from pkg.util import x\nimport os"),
    indexFile("pkg/util.py", ""),
    indexFile("x.c", '#include "x.h"\n#include <stdio.h>'),
    indexFile("x.h", ""),
  ];
  assert.deepEqual(importPlaces(files), [[1, 2, 3], [], [], [], [5], [], [7], []]);
});

test("a file is found by what it says, more by its name, and by what it was changed for", () => {
  const files = [
    indexFile("src/queue.ts", "export const queue = 1; // waits"),
    indexFile("src/line.ts", "// people stand in a queue here"),
    indexFile("src/other.ts", "nothing"),
    indexFile("src/past.ts", "nothing"),
  ];
  const changes = [{ subject: "Make the queue shorter", paths: ["src/past.ts", "src/gone.ts"] }];
  const found = matchFiles("the queue is too long", files, changes);
  assert.deepEqual(found, ["src/queue.ts", "src/line.ts", "src/past.ts"]);
  assert.deepEqual(matchFiles("unheard of", files, changes), []);
  assert.deepEqual(matchFiles("queue", [], changes), []);
});

test("binary content has no terms", () => {
  assert.equal(indexFile("a.bin", "word\0word").content.length, 0);
});
