/** Runs the gate, and reports which command takes long. */
import type { GatedTree } from "../ports/gate.ts";
import type { JobParts } from "./job-parts.ts";
import { Preparing } from "./preparing.ts";

/** Reports the slow command after two minutes, after five, and then each time that the time has doubled. */
export async function runGate(tree: GatedTree, { gate, signs }: JobParts, signal: AbortSignal) {
  const preparing = new Preparing(tree.job, signs);
  const { clock, tell } = signs;
  const begun = clock.now();
  let doing = "the gate's workspace is being prepared";
  const onCommand = (name: string) => {
    doing = `the gate runs ${name}`;
  };
  const sayAt = (ms: number): (() => void) =>
    clock.wakeAt(begun + ms, () => {
      tell({ job: tree.job, ms, doing });
      callOff = sayAt(ms === FIRST_MS ? SECOND_MS : ms * 2);
    });
  let callOff = sayAt(FIRST_MS);
  try {
    const onStep = (step: string | undefined) =>
      step === undefined ? preparing.end() : preparing.step(step);
    return await gate.run({ ...tree, onCommand, onStep }, signal);
  } finally {
    preparing.end();
    callOff();
  }
}

const FIRST_MS = 2 * 60_000;
const SECOND_MS = 5 * 60_000;
