/** Tests that added and removed lines of git's patches are read with their places, whatever they look like. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readPatch } from "./patch.ts";

const lines = (...all: readonly string[]) => `${all.join("\n")}\n`;
const change = (path: string, status = "M") => ({ status, paths: [path] });

describe("a patch", () => {
  it("has names as git's raw output has them: with blanks at their end, quotes and line ends", () => {
    const patch = lines(
      ...["diff --git a/a  b/a ", "--- a/a \t", "+++ b/a \t", "@@ -1 +1 @@", "-x", "+y"],
      ...[
        'diff --git "a/q\\"\\nr" "b/q\\"\\nr"',
        '--- "a/q\\"\\nr"',
        '+++ "b/q\\"\\nr"',
        "@@ -0,0 +1 @@",
        "+z",
      ],
    );
    const files = readPatch(patch, [change("a "), { status: "R", paths: ["old", 'q"\nr'] }]);
    assert.deepEqual(files, [
      { path: "a ", added: [{ line: 1, text: "y" }], removed: ["x"] },
      { path: 'q"\nr', added: [{ line: 1, text: "z" }], removed: [] },
    ]);
  });

  it("numbers added lines as in the new file, whatever they look like", () => {
    const patch = lines(
      ...[
        "diff --git a/a b/a",
        "--- a/a",
        "+++ b/a",
        "@@ -2,5 +2,7 @@ function",
        " one",
        "",
        "--- b/a",
        "+++ b/x",
      ],
      ...[
        "+diff --git a/x b/x",
        "+@@ -1 +1 @@",
        " two\r",
        "-three",
        "\\ No newline at end of file",
        "+four\r",
      ],
      "\\ No newline at end of file",
    );
    assert.deepEqual(readPatch(patch, [change("a")]), [
      {
        path: "a",
        added: [
          { line: 4, text: "++ b/x" },
          { line: 5, text: "diff --git a/x b/x" },
          { line: 6, text: "@@ -1 +1 @@" },
          { line: 8, text: "four\r" },
        ],
        removed: ["-- b/a", "three"],
      },
    ]);
  });

  it("has no lines of a binary file and of a mode, and two parts of a file that becomes a link", () => {
    const patch = lines(
      ...["diff --git a/b.png b/b.png", "index 1..2 100644", "Binary files a/b.png and b/b.png differ"],
      ...["diff --git a/m b/m", "old mode 100644", "new mode 100755"],
      ...[
        "diff --git a/t b/t",
        "deleted file mode 100644",
        "--- a/t",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-x",
      ],
      ...["diff --git a/t b/t", "new file mode 120000", "--- /dev/null", "+++ b/t", "@@ -0,0 +1 @@", "+to"],
      "\\ No newline at end of file",
    );
    const files = readPatch(patch, [change("b.png"), change("m"), change("t", "T")]);
    assert.deepEqual(
      files.map(({ path, added, removed }) => [path, added.length, removed.length]),
      [
        ["b.png", 0, 0],
        ["m", 0, 0],
        ["t", 0, 1],
        ["t", 1, 0],
      ],
    );
  });

  it("that does not fit the changes is a broken assumption, told with the numbers", () => {
    const patch = lines("diff --git a/m b/m", "old mode 100644", "new mode 100755");
    assert.throws(() => readPatch(patch, [change("m"), change("n")]), /1 patches for 2 changes/);
  });
});
