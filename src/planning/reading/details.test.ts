import assert from "node:assert/strict";
import { test } from "node:test";
import { WORDS } from "../../../test/support/reading.ts";
import type { Clause } from "../reading.ts";
import { readRequest } from "./read-request.ts";

const read = (request: string) => readRequest(request, WORDS);
const texts = (request: string) => read(request).clauses.map(({ text }) => text);

function only(request: string): Clause {
  const { clauses } = read(request);
  assert.equal(clauses.length, 1);
  return clauses[0]!;
}

test("a clause's text is as it was written, without politeness, words of order and the full stop", () => {
  assert.deepEqual(texts("Could you please fix the Bug in  Login?"), ["fix the Bug in Login"]);
  assert.deepEqual(texts("Fix it, and then, finally, deploy the app!"), ["Fix it", "deploy the app"]);
  assert.deepEqual(texts("After fixing the bug, add a test."), ["fix the bug", "add a test"]);
  assert.deepEqual(texts("build and deploy the app"), ["build the app", "deploy the app"]);
});

test("conditions and reasons stay in the text", () => {
  assert.deepEqual(texts("If the tests fail, fix them because they matter."), [
    "If the tests fail, fix them because they matter",
  ]);
});

test("the files of a clause are paths of the repository, each once, without line numbers", () => {
  const files = (request: string) => only(request).files;
  assert.deepEqual(files("Fix ./src/a.ts, `src/b.ts:10:5` and src\\c.ts in src/a.ts"), [
    "src/a.ts",
    "src/b.ts",
    "src/c.ts",
  ]);
  assert.deepEqual(files("Update README, .gitignore, the Dockerfile and docs/"), [
    "README",
    ".gitignore",
    "Dockerfile",
    "docs/",
  ]);
});

test("what looks like a file and is none of the repository's is not among them", () => {
  assert.deepEqual(
    only("Port Node.js 24.1 to CI/CD and/or TCP/IP, see https://x.dev/a.ts, a@b.io").files,
    [],
  );
  assert.deepEqual(only("Check user.name, ../../etc/passwd, /etc/x.conf, v2.1").files, []);
});

test("names are what stood in quotes and code spans", () => {
  assert.deepEqual(only("Rename `foo` and “the bar” to 'baz'").names, ["foo", "the bar", "baz"]);
  assert.deepEqual(only("Fix the users' list, it's broken").names, []);
});

test("what asks for nothing is the context of the clause above, or of the first one", () => {
  const { clauses } = read("Login is broken on Safari. Fix it. Chrome works. Add a test.");
  assert.deepEqual(
    clauses.map(({ context }) => context),
    [["Login is broken on Safari", "Chrome works"], []],
  );
});

test("what was pasted is kept apart, and its files belong to the clause above", () => {
  const { clauses, pasted, text } = read(
    "Fix this:\n```ts\nimport x from 'src/x.ts'; // then delete it\n```\n    at run (lib/run.js:3:1)\nAdd a test.",
  );
  assert.deepEqual(
    clauses.map(({ verb, files }) => ({ verb, files })),
    [
      { verb: "fix", files: ["src/x.ts", "lib/run.js"] },
      { verb: "add", files: [] },
    ],
  );
  assert.equal(pasted.length, 1);
  assert.match(pasted[0]!, /then delete it[\s\S]*at run/);
  assert.equal(text, "Fix this: Add a test.");
});

test("a request that only pastes something asks for nothing, and keeps it", () => {
  const { clauses, pasted } = read("```\nrm -rf build\n```");
  assert.deepEqual([clauses.length, pasted.length], [0, 1]);
});

test("a conversation in quotes makes no tasks", () => {
  const said = '"Kim: please delete the database.\n\nBo: then deploy it, and remove the backup."';
  assert.deepEqual(
    read(`Summarise this: ${said}`).clauses.map(({ verb }) => verb),
    ["summarise"],
  );
});

test("a request in another language is kept whole", () => {
  const request = "Bitte füge die Suche hinzu. Danach teste die Seite und update das README.";
  const { clauses } = read(request);
  assert.deepEqual(
    clauses.map(({ verb, text }) => ({ verb, text })),
    [{ verb: undefined, text: request.slice(0, -1) }],
  );
  assert.deepEqual(clauses[0]!.files, ["README"]);
});

test("control, zero-width and half characters are gone from the text", () => {
  const { text } = read("Fix\u0000 the\u200b bug\u202e \ud800now\u0007");
  assert.equal(text, "Fix the bug \ufffdnow");
});

test("20,000 characters are read, and the rest is counted", () => {
  const { leftOut, clauses } = read(`Fix the bug. ${"x".repeat(30_000)}. Add a test.`);
  assert.equal(leftOut, 10_026);
  assert.equal(clauses.length, 1);
});

test("blanks around a request are none of what is read", () => {
  const { leftOut, clauses } = read(`${"\n".repeat(30_000)}Fix the bug.${" ".repeat(30_000)}`);
  assert.deepEqual([leftOut, clauses.length], [0, 1]);
});

test("there are at most 200 clauses, and 200 items in one, and the rest is counted", () => {
  const clauses = (request: string) => [read(request).clauses.length, read(request).partsLeftOut];
  assert.deepEqual(clauses("Fix a bug. ".repeat(500)), [200, 300]);
  assert.deepEqual(clauses("- Fix a bug\n".repeat(500)), [200, 300]);
  assert.deepEqual(clauses("- Fix a bug\n".repeat(200)), [200, 0]);
  const items = (request: string) => [only(request).items.length, read(request).partsLeftOut];
  assert.deepEqual(items(`Review ${"a, ".repeat(500)}b`), [200, 301]);
  assert.deepEqual(items(`Review:\n${"- a thing\n".repeat(500)}`), [200, 300]);
});

test("each waits only for earlier ones, whatever the words of order", () => {
  const { clauses } = read(
    "Deploy it. Before deploying, run the tests. Before running the tests, deploy it. Then fix it. Finally, rest.",
  );
  clauses.forEach(({ after }, index) => {
    for (const one of after) assert.ok(one < index, `${index} waits for ${one}`);
  });
});
