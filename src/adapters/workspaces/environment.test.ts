/** Tests which variables of the user's environment gate commands and agents get. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentOf } from "./environment.ts";

const variablesOf = (more: { readonly pass?: readonly string[]; readonly isTerminal?: boolean }) => {
  const from = { TERM: "xterm-256color", FORCE_COLOR: "1", COLUMNS: "80", PATH: "/bin" };
  const person = { name: "A", email: "a@example.invalid" };
  const own = { temporary: "/t", ceiling: "/", person, settings: [] };
  const { TERM, FORCE_COLOR, COLUMNS } = environmentOf({ from, pass: [], ...own, ...more });
  return { TERM, FORCE_COLOR, COLUMNS };
};

test("the gate gets what the user's terminal says of colours, and agents get a terminal that knows none", () => {
  const gate = variablesOf({ isTerminal: true });
  assert.deepEqual(gate, { TERM: "xterm-256color", FORCE_COLOR: "1", COLUMNS: undefined });
  const agent = variablesOf({});
  assert.deepEqual(agent, { TERM: "dumb", FORCE_COLOR: undefined, COLUMNS: undefined });
});

test("what the user passes on by name wins", () => {
  assert.equal(variablesOf({ pass: ["TERM"] }).TERM, "xterm-256color");
});
