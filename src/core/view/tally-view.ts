/** Computes the sums of a run for the report, `skein show` and `--json`. */
import type { RunState } from "../log/state.ts";
import { NOTHING_USED, type Unaccounted, type Used } from "../used.ts";
import { beganAt } from "./job-spans.ts";
import type { Story } from "./story.ts";
import { atWork, type Calls, type Loss, type LossReason } from "./tally.ts";
import { type Named, named } from "./view-reasons.ts";

/** Everything in it is JSON. */
export type TallyFigures = {
  readonly agents: {
    readonly workMs: number;
    readonly wallMs: number;
    readonly mostAtOnce: number;
    /**
     * The agents' time at work, divided by the wall time and by the most agents that worked at once, planners included.
     * It measures how well the work was spread, not how good it was: failed attempts count, and so does the delay by a
     * slow machine. The time in which the run was stopped does not count. The limit on agents is not in the log, so
     * their highest number is used.
     */
    readonly share: number;
  };
  /** What agents did, in sum; calls that were cut off before they reported a cost are separate. */
  readonly calls: Calls & { readonly unaccounted: Unaccounted };
  /** How long all jobs together waited for their workspaces. */
  readonly prepareMs: number;
  readonly gate: {
    readonly runs: number;
    readonly ms: number;
    readonly landings: number;
    readonly tasks: number;
    readonly largestBatch: number;
    /** Gate runs per task that landed, checks and bisections included. */
    readonly perTask: number;
  };
  readonly losses: readonly (Loss & { readonly reason: LossReason })[];
  readonly flaky: { readonly tests: readonly string[]; readonly gateRuns: number; readonly gateMs: number };
  readonly red: {
    readonly ms: number;
    readonly spans: readonly {
      readonly from: number;
      readonly ms: number;
      readonly isOver: boolean;
      readonly failures: readonly string[];
      readonly by: readonly Named[];
    }[];
  };
};

/** What each task's own jobs have cost, the most expensive first. The sum is the run's cost. */
export type TallyView = TallyFigures & { readonly costs: readonly (Named & Used)[] };

export function tallyFigures(
  { tally, spans: jobs }: Pick<Story, "tally" | "spans">,
  state: RunState,
  wallMs: number,
): TallyFigures {
  const { gate, landings, landedTasks, largestBatch, lastAt, mostAtOnce, prepareMs } = tally;
  let workMs = tally.agentsMs;
  for (const span of atWork(jobs)) workMs += lastAt - beganAt(span);
  const spans = tally.reds.map(({ from, until, failures, by }) => ({
    from,
    ms: (until ?? lastAt) - from,
    isOver: until !== undefined,
    failures,
    by: by.map(({ task }) => named(state, task)),
  }));
  return {
    agents: { workMs, wallMs, mostAtOnce, share: ratio(workMs, wallMs * mostAtOnce) },
    calls: { ...tally.calls, unaccounted: { ...state.spent.unaccounted } },
    prepareMs,
    gate: { ...gate, landings, tasks: landedTasks, largestBatch, perTask: ratio(gate.runs, landedTasks) },
    losses: [...tally.losses].map(([reason, loss]) => ({ reason, ...loss })),
    flaky: { tests: [...tally.flaky.tests], gateRuns: tally.flaky.runs, gateMs: tally.flaky.ms },
    red: { ms: spans.reduce((ms, span) => ms + span.ms, 0), spans },
  };
}

export const costsOf = (state: RunState): TallyView["costs"] =>
  [...state.tasks.values()]
    .filter(({ used }) => used !== NOTHING_USED)
    .sort((a, b) => b.used.tokens - a.used.tokens || a.order - b.order)
    .map(({ id, used }) => ({ ...named(state, id), ...used }));

/** Two decimals: more would mean nothing. */
const ratio = (a: number, b: number): number => (b === 0 ? 0 : Math.round((a / b) * 100) / 100);
