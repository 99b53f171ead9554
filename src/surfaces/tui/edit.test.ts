/** Tests the editing of the input line on the terminal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, type Key, strokesIn } from "./edit.ts";

const NO_KEY = {} as Key;
const typed = (before: string, input: string) =>
  strokesIn(input, NO_KEY).reduce<string | undefined>(
    (text, stroke) => (text === undefined ? undefined : edited(text, stroke)),
    before,
  );

test("letters, Backspace, Ctrl-U and Ctrl-W work also where they arrive together", () => {
  assert.equal(typed("", "good morning"), "good morning");
  assert.equal(typed("", "good x\u007fmorning\u0017evening"), "good evening");
  assert.equal(typed("wrong", "ab\u0015right"), "right");
  assert.equal(edited("two words ", { input: "w", key: { ...NO_KEY, ctrl: true } }), "two ");
  assert.equal(edited("all of it", { input: "u", key: { ...NO_KEY, ctrl: true } }), "");
  assert.equal(edited("a👍", { input: "", key: { ...NO_KEY, backspace: true } }), "a");
});

test("text and Enter in one piece are a text and Enter; line ends inside of it are blanks", () => {
  const strokes = strokesIn("one\r\ntwo\r", NO_KEY);
  assert.equal(strokes.map(({ input }) => input).join(""), "one two");
  assert.deepEqual(
    strokes.map(({ key }) => key.return === true),
    [..."one two", "Enter"].map((stroke) => stroke === "Enter"),
  );
});
