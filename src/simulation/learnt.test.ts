/** Tests what a forecast learns from the events of earlier runs. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { CoreRun, MINUTE, task } from "../../test/support/core-run.ts";
import { learnFrom } from "./learnt.ts";

it("learns the duration of a gate only from landings and checks that ran one", () => {
  const run = CoreRun.planned([task("a")]);
  run.work("t.1");
  run.now += 100;
  run.landFailed();
  run.wait(MINUTE);
  run.now += 30_000;
  run.land();
  const { gateMs } = learnFrom([run.log]);
  assert.ok(gateMs! >= 30_000, `${gateMs} ms`);
});
