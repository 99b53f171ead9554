/** The runs of the gate, and each bisection as rows of a picture: who was gated together, and what came of it. */
import { type RunState, wallTime } from "../log/state.ts";
import type { TaskId } from "../task.ts";
import type { GateEnd, GateRun, Search } from "./gate-story.ts";
import type { Seen } from "./standing.ts";
import { type Named, named } from "./view-reasons.ts";

/** By the machine's clock. */
export type GateRunView = Pick<GateRun, "job" | "kind" | "isProbe" | "on" | "from" | "to" | "end"> & {
  readonly tasks: readonly (Named & { readonly attempt: number })[];
};

/** In the order of their starts. */
export const gateRunsOf = ({ state, story }: Seen): readonly GateRunView[] =>
  story.gates.runs.map((run) => gateRunView(state, run));

function gateRunView(state: RunState, { members, ...run }: GateRun): GateRunView {
  return {
    ...run,
    from: wallTime(state, run.from),
    ...(run.to !== undefined && { to: wallTime(state, run.to) }),
    tasks: members.map(({ task, attempt }) => ({ ...named(state, task), attempt })),
  };
}

const ENDS = {
  passed: "passed",
  failed: "failed",
  conflict: "conflict",
  stopped: "stopped",
  error: "could not be run",
} as const satisfies Readonly<Record<GateEnd, string>>;

export const gateEndLabel = (end: GateEnd | undefined): string => (end === undefined ? "running" : ENDS[end]);

/** "ordinal + 4 more" or "the target", as the words of one line. */
export function gatedLabel({ kind, isProbe, tasks }: GateRunView): string {
  if (kind === "check") return isProbe ? "the gate itself (probe)" : "the target";
  const names = tasks.slice(0, 3).map(({ name }) => name);
  return tasks.length > 3 ? `${names.join(", ")} + ${tasks.length - 3} more` : names.join(", ");
}

/** Of one row: the places, among the tasks of the picture, that were gated together. */
export type BisectionRow = Pick<GateRunView, "job" | "end" | "from" | "to"> & {
  readonly places: readonly number[];
};
export type BisectionView = {
  readonly from: number;
  readonly isOver: boolean;
  readonly tasks: readonly (Named & { readonly isFound: boolean })[];
  readonly suspects: readonly string[];
  /** The first is the run that was red with all of them. */
  readonly rows: readonly BisectionRow[];
};

/** Oldest first. */
export function bisectionsOf({ state, story }: Seen): readonly BisectionView[] {
  const runs = new Map(story.gates.runs.map((run) => [run.job, run]));
  return story.gates.searches
    .filter(({ isBisected, members }) => isBisected && members.length > 1)
    .map((search) => bisectionView(state, search, runs));
}

function bisectionView(
  state: RunState,
  { from, to, members, found, suspects, runs: jobs }: Search,
  runs: ReadonlyMap<GateRun["job"], GateRun>,
): BisectionView {
  const placeOf = new Map<TaskId, number>(members.map(({ task }, place) => [task, place]));
  const rows = jobs.flatMap((job): BisectionRow[] => {
    const run = runs.get(job);
    if (!run) return [];
    const { tasks, end, ...view } = gateRunView(state, run);
    const places = tasks.flatMap(({ task }) => placeOf.get(task) ?? []);
    return [
      { job, from: view.from, ...(view.to !== undefined && { to: view.to }), ...(end && { end }), places },
    ];
  });
  return {
    from: wallTime(state, from),
    isOver: to !== undefined,
    tasks: members.map(({ task }) => ({
      ...named(state, task),
      isFound: found.some((one) => one.task === task),
    })),
    suspects,
    rows,
  };
}

/** "One of 8 tasks fails the gate: week was found in 5 runs", for those who do not see the picture. */
export function bisectionLabel({ tasks, rows, isOver }: BisectionView): string {
  const found = tasks.filter(({ isFound }) => isFound).map(({ name }) => name);
  const runs = `${rows.length} ${rows.length === 1 ? "run" : "runs"} of the gate`;
  if (found.length > 0) return `${found.join(", ")} of ${tasks.length} tasks: found after ${runs}`;
  return isOver
    ? `No one of ${tasks.length} tasks was found after ${runs}`
    : `One of ${tasks.length} tasks is searched, ${runs} so far`;
}
