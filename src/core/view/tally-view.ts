/** The sums of what a run took: the same for the report, `skein show` and machines. */
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
     * Of what so many agents could have done: their time at work, divided by the time that passed and by the most
     * that were at work at once, planners included. It asks how well the run was spread, not how well they worked:
     * failed attempts are in it, and so is whatever a slow machine adds to all of them. Nobody was
     * waited for while the run was stopped. How many were allowed is not in the log; the most there were is.
     */
    readonly share: number;
  };
  /** What agents did, in sum; what was cut off before it could say what it cost, apart. */
  readonly calls: Calls & { readonly unaccounted: Unaccounted };
  /** Waits for workspaces to be made ready, of all jobs together. */
  readonly prepareMs: number;
  readonly gate: {
    readonly runs: number;
    readonly ms: number;
    readonly landings: number;
    readonly tasks: number;
    readonly largestBatch: number;
    /** Runs of the gate, checks and bisections included, for each task that landed. */
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

/** What each task's own jobs have cost, the dearest first. Together they are what the run has. */
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

/** Two digits after the point are all that such a number means. */
const ratio = (a: number, b: number): number => (b === 0 ? 0 : Math.round((a / b) * 100) / 100);
