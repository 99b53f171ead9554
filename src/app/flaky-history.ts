/** Reads which tests of this repository are flaky, and adds what live runs see. */
import type { RunState } from "../core/log/state.ts";
import type { Watch } from "../engine/drive.ts";
import type { FlakyTests } from "../ports/flaky-tests.ts";

const MAX_KNOWN = 200;

/** The names that a new run should know, the most frequent first. */
export async function knownFlaky(flaky: FlakyTests): Promise<readonly string[]> {
  const { tests } = await flaky.list();
  return tests.slice(0, MAX_KNOWN).map(({ name }) => name);
}

/** Notes flaky tests while a run is live; what the run noted before is not counted again. */
export function noteFlaky(
  flaky: FlakyTests,
  run: string,
): { readonly watch: Watch; readonly noted: () => Promise<void> } {
  let told = 0;
  let noted: Promise<unknown> = Promise.resolve();
  return {
    watch: ({ type, at }, state) => {
      if (type !== "batch.landed" && type !== "target.checked") return;
      const counts = seenIn(state);
      const all = [...counts.values()].reduce((sum, times) => sum + times, 0);
      if (all === told) return;
      told = all;
      // A history that cannot be written must not stop a run; the next note includes all counts.
      noted = flaky.note({ run, counts, at });
    },
    noted: async () => {
      await noted;
    },
  };
}

/** Without tests that are only known from earlier runs. */
const seenIn = ({ flaky }: RunState): ReadonlyMap<string, number> =>
  new Map([...flaky].filter(([, times]) => times > 0));
