/** Shows gate runs, and each bisection as rows of a picture: which tasks were gated together, and the result. */
import { type RunState, wallTime } from "../log/state.ts";
import type { TaskId } from "../task.ts";
import { type GateRunView, gateRunsOf, namesLabel } from "./gate-runs.ts";
import type { Search } from "./gate-searches.ts";
import { type GateEnd, gateEnd, isGates, type JobSpan } from "./job-spans.ts";
import type { Seen } from "./standing.ts";
import { type Named, named } from "./view-reasons.ts";

/** Times are by the machine's clock. */
export type GatedView = GatedJob & {
  /** Each run of the gate's commands in the job, with the name under which its output is kept. */
  readonly outputs: readonly GateRunView[];
};
type GatedJob = Pick<JobSpan, "job" | "kind" | "isProbe" | "on" | "from" | "to"> & {
  /** Undefined while it runs. */
  readonly end?: GateEnd;
  readonly tasks: readonly (Named & { readonly attempt: number })[];
};

/** In the order of their starts. */
export function gatedOf(seen: Seen): readonly GatedView[] {
  const outputs = Map.groupBy(gateRunsOf(seen), ({ job }) => job);
  return seen.story.spans.all.filter(isGates).map((run) => ({
    ...gatedJob(seen.state, run),
    outputs: outputs.get(run.job) ?? [],
  }));
}

function gatedJob(state: RunState, run: JobSpan): GatedJob {
  const { job, kind, isProbe, members, on, from, to } = run;
  const end = gateEnd(run);
  return {
    ...{ job, kind, on, from: wallTime(state, from) },
    ...(isProbe && { isProbe }),
    ...(to !== undefined && { to: wallTime(state, to) }),
    ...(end && { end }),
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

/** "ordinal + 4 more" or "the target", in one line. */
export function gatedLabel({ kind, isProbe, tasks }: GatedView): string {
  if (kind === "check") return isProbe ? "the gate itself (probe)" : "the target";
  return namesLabel(tasks.map(({ name }) => name));
}

/** One gate run of a bisection. `places`: which tasks of the picture were gated together. */
type BisectionRow = Pick<GatedView, "job" | "end" | "from" | "to"> & {
  readonly places: readonly number[];
};
export type BisectionView = {
  readonly from: number;
  readonly isOver: boolean;
  readonly tasks: readonly (Named & { readonly isFound: boolean })[];
  readonly suspects: readonly string[];
  /** The first row is the run that was red with all of them. */
  readonly rows: readonly BisectionRow[];
};

/** Oldest first. */
export function bisectionsOf({ state, story }: Seen): readonly BisectionView[] {
  return story.searches
    .filter(({ isBisected, members }) => isBisected && members.length > 1)
    .map((search) => bisectionView(state, search, story.spans.byId));
}

function bisectionView(
  state: RunState,
  { from, to, members, found, suspects, runs: jobs }: Search,
  runs: ReadonlyMap<JobSpan["job"], JobSpan>,
): BisectionView {
  const placeOf = new Map<TaskId, number>(members.map(({ task }, place) => [task, place]));
  const rows = jobs.flatMap((job): BisectionRow[] => {
    const run = runs.get(job);
    if (!run) return [];
    const { tasks, end, ...view } = gatedJob(state, run);
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

/** A description of the picture in words. */
export function bisectionLabel({ tasks, rows, isOver }: BisectionView): string {
  const found = tasks.filter(({ isFound }) => isFound).map(({ name }) => name);
  const runs = `${rows.length} ${rows.length === 1 ? "run" : "runs"} of the gate`;
  if (found.length > 0) return `${found.join(", ")} found among ${tasks.length} tasks in ${runs}`;
  return isOver
    ? `${tasks.length} tasks failed together; none of them was found guilty in ${runs}`
    : `Looking for the one of ${tasks.length} tasks that fails the gate: ${runs} so far`;
}
