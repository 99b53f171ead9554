/** Builds the report of a run: what landed, what it cost, where the time went, and what would be faster. */
import { nameOf, type RunState, wallTime } from "../log/state.ts";
import { givenUpBy, givenUpText } from "../rules/given-up.ts";
import { parentId, ROOT, type TaskId } from "../task.ts";
import { type Advice, adviceOf } from "./advice.ts";
import { type Figures, figuresOf, type LandedLines, landingsOf } from "./figures.ts";
import { agentsMsOf, criticalPath } from "./graph.ts";
import { type RunHotFile, runHotFiles } from "./hot-files.ts";
import { isGates, type JobSpan } from "./job-spans.ts";
import type { Story } from "./story.ts";
import { type TimeSpent, timeSpent } from "./time-spent.ts";
import { type LaneView, timelineOf } from "./timeline.ts";
import { type GivenUpView, type Seen, viewOf } from "./view.ts";
import { type Named, named } from "./view-reasons.ts";

/** Everything in it is JSON. */
export type RunReport = {
  readonly figures: Figures;
  /** The moves of the target that were not taken back, with their lines if the log has them. */
  readonly landings: readonly LandedLines[];
  /** What planners gave up; `by`: the planner whose reason it is. */
  readonly givenUp: readonly (GivenUpView & { readonly by: string })[];
  /** What else is left, as the end of the run said it. */
  readonly left: readonly string[];
  readonly time: TimeSpent;
  /** The chain of tasks that took the longest, with the agents' time on each. */
  readonly chain: readonly (Named & { readonly ms: number })[];
  /** Which agents worked when. */
  readonly lanes: readonly LaneView[];
  /** Landings and checks, the slowest first. */
  readonly gates: readonly GateTime[];
  readonly flaky: readonly { readonly name: string; readonly times: number }[];
  /** Files in which tasks conflicted or for which they waited, the most conflicts first. */
  readonly hotFiles: readonly RunHotFile[];
  readonly advice: readonly Advice[];
};

type GateTime = {
  readonly kind: "land" | "check";
  readonly number: number;
  readonly at: number;
  readonly ms: number;
  /** The tasks of the candidate; none for a check. */
  readonly tasks: readonly Named[];
};

/** `maxWorkers`: the limit on workers, if known. */
export function runReport(seen: Seen, { maxWorkers }: { readonly maxWorkers?: number } = {}): RunReport {
  const { state, story } = seen;
  const view = viewOf(seen);
  const landings = landingsOf(seen);
  const time = timeSpent(story, state.openedAt);
  const critical = criticalPath(seen);
  const took = agentsMsOf(story);
  const figures = figuresOf(seen, view, { landings, criticalMs: critical.ms });
  const shared = {
    time,
    chain: [...critical.tasks].map((id) => ({ ...named(state, id), ms: took.get(id) ?? 0 })),
    hotFiles: runHotFiles(seen),
  };
  const given = new Set([...state.planners.keys()].flatMap((id) => givenUpBy(state, id).map(givenUpText)));
  return {
    figures,
    landings,
    givenUp: view.givenUp.map((one) => ({ ...one, by: plannerOf(state, one.task) })),
    left: view.left.filter((text) => !given.has(text)),
    ...shared,
    lanes: timelineOf(seen),
    gates: gatesOf(state, story),
    flaky: [...state.flaky].flatMap(([name, times]) => (times > 0 ? [{ name, times }] : [])),
    advice: adviceOf({
      ...shared,
      figures,
      tally: view.tally,
      landed: story.tally,
      ...(maxWorkers && { maxWorkers }),
    }),
  };
}

const plannerOf = (state: RunState, task: TaskId): string => {
  const above = parentId(task) ?? ROOT;
  return above === ROOT ? "the planner" : `the planner of ${nameOf(state, above)}`;
};

function gatesOf(state: RunState, { spans }: Story): readonly GateTime[] {
  const isGate = (span: JobSpan): span is JobSpan & { readonly kind: "land" | "check" } =>
    isGates(span) && span.how === "answered";
  return spans.all
    .filter(isGate)
    .map(({ kind, number, from, to = from, tasks }) => ({
      kind,
      number,
      at: wallTime(state, from),
      ms: to - from,
      tasks: tasks.map((id) => named(state, id)),
    }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, MAX_GATES);
}

const MAX_GATES = 5;
