/** What does the gate say, and who hears of it if that takes long? */
import type { GatedTree } from "../ports/gate.ts";
import type { JobParts } from "./job-parts.ts";

/** Tells people after two minutes, and then ever more rarely, which command it is that takes so long. */
export async function runGate(tree: GatedTree, { gate, signs }: JobParts, signal: AbortSignal) {
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
    return await gate.run({ ...tree, onCommand }, signal);
  } finally {
    callOff();
  }
}

const FIRST_MS = 2 * 60_000;
const SECOND_MS = 5 * 60_000;
