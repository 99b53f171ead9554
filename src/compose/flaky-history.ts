/** Which tests come and go in this repository? What live runs see is added to what is known from before. */
import { FileFlakyTests } from "../adapters/flaky-tests/file.ts";
import type { RunState } from "../core/state.ts";
import type { Watch } from "../engine/drive.ts";
import type { FlakyHistory, FlakyTests } from "../ports/flaky-tests.ts";
import type { Project } from "./project.ts";

const flakyTestsOf = ({ stateFolder }: Pick<Project, "stateFolder">): FlakyTests =>
  new FileFlakyTests({ folder: stateFolder });

export const flakyHistory = (project: Pick<Project, "stateFolder">): Promise<FlakyHistory> =>
  flakyTestsOf(project).list();

/** The names that a new run should know, the most frequent first. */
export async function knownFlaky(project: Pick<Project, "stateFolder">): Promise<readonly string[]> {
  const { tests } = await flakyHistory(project);
  return tests.slice(0, MAX_KNOWN).map(({ name }) => name);
}

const MAX_KNOWN = 200;

/** Only what is live is seen by a watch, and what the run has seen before is not counted again. */
export function noteFlaky(
  project: Pick<Project, "stateFolder">,
  run: string,
): { readonly watch: Watch; readonly noted: () => Promise<void> } {
  const flaky = flakyTestsOf(project);
  let told = 0;
  let noted: Promise<unknown> = Promise.resolve();
  return {
    watch: ({ type, at }, state) => {
      if (type !== "batch.landed" && type !== "target.checked") return;
      const counts = seenIn(state);
      const all = [...counts.values()].reduce((sum, times) => sum + times, 0);
      if (all === told) return;
      told = all;
      // A history that cannot be written must not stop a run; the next note has all of its counts.
      noted = flaky.note({ run, counts, at });
    },
    noted: async () => {
      await noted;
    },
  };
}

/** Without those that are only known from before. */
const seenIn = ({ flaky }: RunState): ReadonlyMap<string, number> =>
  new Map([...flaky].filter(([, times]) => times > 0));
