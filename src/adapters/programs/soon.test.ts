/** Tests that a stalled event loop is not taken for a silent program. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { it } from "node:test";
import { comesSoon } from "./soon.ts";

const stall = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

it("what can be read when our loop stalls has come, although the stall was longer than the wait", async () => {
  const program = spawn("sh", ["-c", "echo up; read line; echo answer"]);
  await once(program.stdout, "data");
  const answered = comesSoon(once(program.stdout, "data"));
  program.stdin.end("go\n");
  stall(1_200);
  assert.equal(await answered, true);
});

it("what never comes is not waited for", async () => {
  assert.equal(await comesSoon(Promise.withResolvers<void>().promise), false);
});
