/** Computes the figures of a run, each with its unit in its name. An unknown figure is null, never 0. */
import type { RunState } from "../log/state.ts";
import { isRepair, parentId, type Task, type TaskId } from "../task.ts";
import type { Story } from "./story.ts";
import { failedAttempts } from "./task-facts.ts";
import type { RunView, Seen } from "./view.ts";

/** Null: unknown, or a division by zero. Shares are between 0 and 1. */
export type Figures = {
  readonly tasks: number;
  readonly tasksDone: number;
  readonly subtasks: number;
  readonly questions: number;
  readonly landings: number;
  readonly landedTasks: number;
  readonly linesAdded: number | null;
  readonly linesRemoved: number | null;
  /** Attempts that were refused for a conflict or a red gate; and all failed attempts that were retried. */
  readonly refused: number;
  readonly failedAttempts: number;
  /** The share of attempts ready to land that did land. */
  readonly mergeSuccessShare: number | null;
  /** Without the time in which no process drove the run. */
  readonly wallMs: number;
  readonly agentsMs: number;
  readonly mostAgents: number;
  /** The sum of the agents' times, divided by the wall time. */
  readonly speedUp: number | null;
  readonly criticalMs: number;
  /** The critical path divided by the wall time: at 1, these tasks cannot be done faster. */
  readonly efficiencyShare: number | null;
  readonly modelCalls: number | null;
  /** Without calls that were cut off before they reported a cost. */
  readonly tokens: number | null;
  readonly microdollars: number | null;
  readonly unaccountedCalls: number;
  /** Attempts of workers that reported no cost, so that the sums are too low. */
  readonly unreportedAttempts: number;
  /** Used by fix tasks, and by failed attempts and turns of other tasks. */
  readonly repairTokens: number | null;
  readonly repairShare: number | null;
  readonly tokensPerTask: number | null;
  readonly microdollarsPerTask: number | null;
  /** Per line that was added or removed. */
  readonly tokensPerLine: number | null;
  readonly microdollarsPerLine: number | null;
  readonly gateRuns: number;
  readonly gateMs: number;
  readonly redMs: number;
  readonly flakyTests: number;
};

export type LandedLines = {
  readonly commit: string;
  readonly tasks: number;
  readonly linesAdded: number | null;
  readonly linesRemoved: number | null;
};

/** Without landings that were taken back; one that was found again is listed once. */
export function landingsOf({ state, story }: Seen): readonly LandedLines[] {
  const kept = new Map(story.landings.map((one) => [one.commit, one]));
  for (const commit of state.lost.keys()) kept.delete(commit);
  return [...kept.values()].map(({ commit, members }) => {
    const made = members.map(({ task }) => metricsOf(state.tasks.get(task)));
    const sum = (key: "linesAdded" | "linesRemoved") =>
      made.reduce<number | null>((all, one) => (all === null || !one ? null : all + one[key]), 0);
    const lines = { linesAdded: sum("linesAdded"), linesRemoved: sum("linesRemoved") };
    return { commit, tasks: members.length, ...lines };
  });
}

/** Read off the branch that landed; undefined if an earlier attempt was found to have landed. */
const metricsOf = (task: Task | undefined) =>
  task?.state.is === "done" && task.state.handoff.commit !== undefined
    ? task.state.handoff.metrics
    : undefined;

export function figuresOf(
  { state, story }: Seen,
  view: RunView,
  { landings, criticalMs }: { readonly landings: readonly LandedLines[]; readonly criticalMs: number },
): Figures {
  const { counts, tally, spent } = view;
  const { workMs, wallMs, mostAtOnce } = tally.agents;
  const landedTasks = total(landings.map(({ tasks }) => tasks)) ?? 0;
  const linesAdded = total(landings.map((one) => one.linesAdded));
  const linesRemoved = total(landings.map((one) => one.linesRemoved));
  const lines = total([linesAdded, linesRemoved]);
  const lost = (reason: string) => tally.losses.find((loss) => loss.reason === reason)?.count ?? 0;
  const refused = lost("conflict") + lost("gate red");
  const isReported = spent.tokens > 0 || spent.microdollars > 0;
  const tokens = spent.tokens > 0 ? spent.tokens : null; // Some agents report only money.
  const microdollars = isReported && spent.unpriced === 0 ? spent.microdollars : null;
  const repairTokens = tokens === null ? null : repairTokensOf(state, story);
  return {
    tasks: counts.total,
    tasksDone: counts.done,
    subtasks: state.tasks
      .values()
      .filter(({ spec }) => spec.spawn !== undefined)
      .toArray().length,
    questions: story.questions,
    landings: landings.length,
    landedTasks,
    linesAdded,
    linesRemoved,
    refused,
    failedAttempts: failedAttempts(view).length,
    mergeSuccessShare: ratio(landedTasks, landedTasks + refused),
    wallMs,
    agentsMs: workMs,
    mostAgents: mostAtOnce,
    speedUp: ratio(workMs, wallMs),
    criticalMs,
    efficiencyShare: ratio(Math.min(criticalMs, wallMs), wallMs),
    modelCalls: tally.calls.turns > 0 ? tally.calls.calls : null,
    tokens,
    microdollars,
    unaccountedCalls: spent.unaccounted.calls,
    unreportedAttempts: spent.unreported,
    repairTokens,
    repairShare: ratio(repairTokens, tokens),
    tokensPerTask: ratio(tokens, counts.done),
    microdollarsPerTask: ratio(microdollars, counts.done),
    tokensPerLine: ratio(tokens, lines),
    microdollarsPerLine: ratio(microdollars, lines),
    gateRuns: tally.gate.runs,
    gateMs: tally.gate.ms,
    redMs: tally.red.ms,
    flakyTests: tally.flaky.tests.length,
  };
}

const total = (numbers: readonly (number | null)[]): number | null =>
  numbers.reduce((all, one) => (all === null || one === null ? null : all + one), 0);

const ratio = (a: number | null, b: number | null): number | null =>
  a === null || b === null || b === 0 ? null : a / b;

/** Tokens of fix tasks and the tasks below them, and of other tasks' failed attempts. */
function repairTokensOf({ tasks }: RunState, { tally }: Story): number {
  const isOfFix = (id: TaskId | undefined): boolean => {
    const task = id === undefined ? undefined : tasks.get(id);
    return task !== undefined && (isRepair(task) || isOfFix(parentId(task.id)));
  };
  let tokens = 0;
  for (const { id, used } of tasks.values())
    tokens += isOfFix(id) ? used.tokens : (tally.lostTokens.get(id) ?? 0);
  return tokens;
}
