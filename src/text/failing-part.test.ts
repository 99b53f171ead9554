/** Tests that the failing part of a program's output is found, in recorded output of 40 real tools. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { failingText } from "./failing-part.ts";

const FOLDER = path.join(import.meta.dirname, "../../test/fixtures/tool-output");
const recorded = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".txt"))
  .map((file) => {
    const expected = JSON.parse(readFileSync(path.join(FOLDER, file.replace(/txt$/, "json")), "utf8"));
    return {
      name: file,
      text: readFileSync(path.join(FOLDER, file), "utf8"),
      messages: (expected.failures as readonly { message: string }[]).map(
        ({ message }) => message.split("\n")[0]!.trim().slice(0, 40), // As the fixture has them.
      ),
    };
  });

test("of what 40 real tools wrote, it is short, holds no line of success, and says most of what failed", () => {
  let [said, all] = [0, 0];
  for (const { name, text, messages } of recorded) {
    const part = failingText(text);
    const lines = part.split("\n");
    assert.ok(part !== "" && lines.length <= 90, `${name}: ${lines.length} lines`);
    assert.deepEqual(
      lines.filter((line) => /^\s*(?:ok \d|✔|✓|--- PASS)|\.\.\. ok$/.test(line)),
      [],
      name,
    );
    said += messages.filter((message) => part.includes(message)).length;
    all += messages.length;
  }
  assert.ok(said / all > 0.78, `${said} of ${all}`);
});

const TAP = `$ /bin/sh -c npm run build
warning: an error that does not matter
[exit code 0]
$ /bin/sh -c npm test
TAP version 13
# Subtest: refuses what is no date, and errors that do not exist
ok 1 - handles errors
# Subtest: subtracts
not ok 2 - subtracts
  ---
  duration_ms: 3
  error: |-
    Expected values to be strictly equal:
    
    1 !== 2
  ...
ok 3 - multiplies
1..3
# pass 2
# fail 1
[exit code 1]
`;

test("shows what failed with its details, and neither what passed nor what another command wrote", () => {
  assert.equal(
    failingText(TAP),
    `not ok 2 - subtracts
…
  error: |-
    Expected values to be strictly equal:
    
    1 !== 2
…
# fail 1`,
  );
});

test("a known failure comes before others where there is room for few lines", () => {
  const noise = Array.from({ length: 50 }, (_, i) => `error: unrelated ${i}`).join("\n");
  const text = `${noise}\nkeeps the order of its input: no\n${noise}`;
  const looking = { failures: ["test: keeps the order of its input"], maxLines: 5 };
  assert.match(failingText(text, looking), /keeps the order of its input: no/);
  assert.ok(failingText(text, looking).split("\n").length <= 7);
});

test("without a line that looks like an error, the last lines that report no success are taken", () => {
  assert.equal(failingText("ok 1 - a\nsomething odd\nok 2 - b\n# pass 2\n# fail 0\n"), "something odd");
  assert.equal(failingText("ok 1 - a\n# pass 1\n# fail 0\n"), "");
});

test("warnings are not taken for errors by their words, where a linter has both", () => {
  const warnings = (marked: (line: number) => string) => Array.from({ length: 200 }, (_, i) => marked(i + 1));
  const pretty = [
    ...["", "  source/a.ts:1:5", ...warnings((n) => `  ⚠  ${n}:5  Unexpected todo comment: TODO: later`)],
    ...["", "  source/b.ts:7:1", "  ✖  7:1  Strings must use singlequote.  quotes", ""],
    ...["  200 warnings", "  1 error", ""],
  ].join("\n");
  assert.equal(failingText(pretty).includes("✖  7:1"), true);
  assert.doesNotMatch(failingText(pretty, { maxLines: 10 }), /a\.ts:1:5/);
  const plain = warnings((n) => `  ${n}:5  warning  Unexpected console statement  no-console`);
  const eslint = [
    ...plain,
    "  9:1  error  'x' is not defined  no-undef",
    "✖ 201 problems (1 error, 200 warnings)",
  ];
  assert.match(failingText(eslint.join("\n"), { maxLines: 10 }), /'x' is not defined/);
  const only = ["a.c:3:7: warning: unused variable 'missing'", "[exit code 1]"].join("\n");
  assert.match(failingText(only), /unused variable/);
});

test("what a compiler says in colours is found, and colours are not shown", () => {
  const text = "\u001b[1mmain.go:4:2: \u001b[31mpackage slices is not in GOROOT\u001b[0m\r\n";
  assert.equal(failingText(text), "main.go:4:2: package slices is not in GOROOT");
});

test("takes time in proportion to a hostile output", () => {
  const from = process.cpuUsage().user;
  failingText(`${"error ".repeat(200_000)}\n${"x: 0 fail ".repeat(100_000)}\n${"\u001b[".repeat(300_000)}`);
  failingText("error\n".repeat(300_000));
  failingText(`${"a.".repeat(1_000)}\n`.repeat(2_000));
  assert.ok(process.cpuUsage().user - from < 4_000_000);
});
