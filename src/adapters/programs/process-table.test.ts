/** Tests the scan of running processes: shared by callers at the same time, fresh for later ones, in small slices. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { it } from "node:test";
import { inSlices, processTable } from "./process-table.ts";

it("callers at the same time share one look, and a later caller gets a later one", async () => {
  if (process.platform !== "linux") return;
  const first = processTable();
  assert.equal(processTable(), first);
  const before = await first;
  const child = spawn("sleep", ["600"], {
    env: { PATH: process.env["PATH"], GIVEN: "a b" },
    stdio: "ignore",
  });
  await once(child, "spawn");
  const found = (await processTable()).find(({ pid }) => pid === child.pid);
  const variables = ["GIVEN", "MISSING"].map((name) => found?.variable(name));
  child.kill("SIGKILL");
  assert.ok(!before.some(({ pid }) => pid === child.pid));
  assert.deepEqual([found?.parent, ...variables], [process.pid, "a b", ""]);
  const ours = before.find(({ pid }) => pid === process.pid);
  assert.ok(ours && found && ours.start <= found.start);
});

it("one who asks during a look does not get that one: it may have passed over what started meanwhile", async () => {
  if (process.platform !== "linux") return;
  const first = processTable();
  for (let n = 0; n < 2; n += 1) await new Promise(setImmediate); // By now the scan has begun.
  assert.notEqual(processTable(), first);
  await processTable();
});

it("the loop goes on while much is looked at", async () => {
  const items = Array.from({ length: 10 }, (_, n) => n);
  const seen: number[] = [];
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await inSlices(items, (item) => {
    seen.push(item);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  });
  isOver = true;
  assert.deepEqual(seen, items);
  assert.ok(turns >= 10, `${turns} turns`);
});
