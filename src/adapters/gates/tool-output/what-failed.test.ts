/** Tests which lines of a failing command's output are kept to say what failed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { whatFailed } from "./what-failed.ts";

const PASSING = Array.from({ length: 60 }, (_, i) => `ok ${i + 1} - fine ${i + 1}`).join("\n");
const said = (text: string, more: { readonly how?: string; readonly isHalted?: true } = {}) =>
  whatFailed({ text, folder: "/work/tree", how: "exit code 1", ...more }, []);

describe("what a failing command wrote about what failed", () => {
  it("is the lines that say so, with paths as they are in the tree", () => {
    assert.equal(said(`${PASSING}\n/work/tree/a.js:3: error: no b\n`), "a.js:3: error: no b");
  });

  it("is how it ended where every line reports success, and where it wrote nothing", () => {
    assert.equal(said(PASSING), "exit code 1, and no line of its output says why");
    assert.equal(said(" \n"), "exit code 1, and it wrote nothing");
  });

  it("is, of one that was ended, that first, then its errors, and what it wrote last: there it hung", () => {
    const hung = { how: "no end within 900 s", isHalted: true } as const;
    assert.deepEqual(said(`warming up\nError: no lock\n\n${PASSING}\n`, hung).split("\n"), [
      "no end within 900 s",
      "warming up",
      "Error: no lock",
      "what it wrote last:",
      ...[56, 57, 58, 59, 60].map((number) => `ok ${number} - fine ${number}`),
    ]);
    assert.equal(said("", hung), "no end within 900 s\nit wrote nothing");
  });
});
