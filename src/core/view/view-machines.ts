/** Lists the machines of a run's fleet with their jobs; empty without a fleet. */
import type { JobId } from "../job.ts";
import type { Machine, RunState } from "../log/state.ts";

/** `jobs`: the jobs of this run that the machine has. */
export type MachineView = Machine & { readonly name: string; readonly jobs: readonly JobId[] };

/** Sorted by name; empty for a run that is over. */
export function machineViews({ machines, running, closed }: RunState): readonly MachineView[] {
  if (closed || machines.size === 0) return [];
  const jobs = Map.groupBy(running, ([, { taken }]) => taken?.machine);
  return [...machines]
    .map(([name, machine]) => ({ name, ...machine, jobs: (jobs.get(name) ?? []).map(([id]) => id) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** "4 ready (6 of 8 slots busy with this run), 1 silent: build-3". */
export function machinesLabel(machines: readonly MachineView[]): string {
  const ready = machines.filter(({ state }) => state === "ready");
  const slots = ready.reduce((sum, { capacity }) => sum + capacity, 0);
  const busy = ready.reduce((sum, { jobs }) => sum + jobs.length, 0);
  const first =
    ready.length === 0 ? [] : [`${ready.length} ready (${busy} of ${slots} slots busy with this run)`];
  return [...first, ...(["draining", "silent"] as const).flatMap((state) => namesOf(machines, state))].join(
    ", ",
  );
}

function namesOf(machines: readonly MachineView[], state: Machine["state"]): readonly string[] {
  const names = machines.flatMap((one) => (one.state === state ? [one.name] : []));
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return [`${names.length} ${state}: ${names.slice(0, MAX_NAMES).join(", ")}${more}`];
}
const MAX_NAMES = 5;

/** "build-3 (gpu): ready, 1 of 2 slots busy with this run". */
export const machineLabel = ({ name, labels, state, jobs, capacity }: MachineView): string =>
  `${name}${labels.length > 0 ? ` (${labels.join(", ")})` : ""}: ${state}, ${jobs.length} of ${capacity} slots busy with this run`;
