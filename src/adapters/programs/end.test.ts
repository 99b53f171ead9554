import assert from "node:assert/strict";
import { it } from "node:test";
import { endOf } from "./end.ts";

const texts = { output: "", tail: "" };

it("a program ended as its process says", () => {
  assert.deepEqual(endOf({ exitCode: 0, signalCode: null }, undefined, texts), {
    is: "exited",
    code: 0,
    ...texts,
  });
  assert.deepEqual(endOf({ exitCode: 3, signalCode: null }, undefined, texts), {
    is: "exited",
    code: 3,
    ...texts,
  });
  const killed = endOf({ exitCode: null, signalCode: "SIGTERM" }, undefined, texts);
  assert.deepEqual(killed, { is: "killed", signal: "SIGTERM", ...texts });
});

it("a program that we stopped was stopped, whatever its process says", () => {
  assert.equal(endOf({ exitCode: 0, signalCode: null }, "timed-out", texts).is, "timed-out");
  assert.equal(endOf({ exitCode: null, signalCode: "SIGTERM" }, "stopped", texts).is, "stopped");
});

it("a program of which nobody knows how it ended has not ended well", () => {
  assert.equal(endOf({ exitCode: null, signalCode: null }, undefined, texts).is, "killed");
});
