/** The assumptions of a forecast where a plan gives no value: durations, costs and failure rates. */

export type Assumed = {
  /** The duration of one attempt at a task: of this agent, else of all agents. */
  readonly workMsByAgent: ReadonlyMap<string, number>;
  readonly workMs: number;
  /** The duration of one planner turn; 0 if the plan exists already. */
  readonly planMs: number;
  /** The duration of one gate run, with the git commands around it. */
  readonly gateMs: number;
  readonly workTokens: number;
  /** Undefined if the price is unknown, which is not zero. */
  readonly workDollars: number | undefined;
  /**
   * `failShare`: the share of attempts whose agent fails. `refusedShare`: of the other attempts, the share whose
   * candidate turns the gate red.
   */
  readonly failShare: number;
  readonly refusedShare: number;
  /** What was assumed and its source, in words for people. */
  readonly because: readonly string[];
};

/** What was learnt from earlier runs; values that they do not show are left out. */
export type Learnt = Partial<Omit<Assumed, "workMsByAgent" | "workDollars" | "because">> & {
  readonly runs: number;
  readonly attempts: number;
  readonly workMsByAgent: ReadonlyMap<string, number>;
  readonly workDollars?: number;
};

export const NOTHING_LEARNT: Learnt = { runs: 0, attempts: 0, workMsByAgent: new Map() };

const MINUTE = 60_000;

const DEFAULTS = {
  workMs: { value: 10 * MINUTE, why: "a task of a few files takes an agent some five to fifteen minutes" },
  planMs: { value: MINUTE, why: "one long answer of a model" },
  gateMs: { value: MINUTE, why: "a build and its tests, as most projects have them" },
  workTokens: { value: 200_000, why: "some forty calls, each with what was said before" },
} as const;

/** `failures`: none by default; `learnt` takes the shares of earlier runs. */
type Given = { readonly failures?: number | "learnt" };

export function assume(learnt: Learnt, { failures = 0 }: Given = {}): Assumed {
  const isLearnt = failures === "learnt";
  return {
    workMsByAgent: learnt.workMsByAgent,
    workMs: learnt.workMs ?? DEFAULTS.workMs.value,
    planMs: learnt.planMs ?? DEFAULTS.planMs.value,
    gateMs: learnt.gateMs ?? DEFAULTS.gateMs.value,
    workTokens: learnt.workTokens ?? DEFAULTS.workTokens.value,
    workDollars: learnt.workDollars,
    failShare: isLearnt ? (learnt.failShare ?? 0) : failures,
    refusedShare: isLearnt ? (learnt.refusedShare ?? 0) : 0,
    because: [
      `work: ${timeText(learnt, "workMs", "an attempt")}`,
      `gate: ${timeText(learnt, "gateMs", "a run")}`,
      learnt.workTokens === undefined
        ? `tokens: ${many(DEFAULTS.workTokens.value)} an attempt, a default: ${DEFAULTS.workTokens.why}`
        : `tokens: ${many(learnt.workTokens)} an attempt, ${source(learnt)}`,
      learnt.workDollars === undefined
        ? "price: not known; only what the plan itself says is counted"
        : `price: $${learnt.workDollars.toFixed(2)} an attempt, ${source(learnt)}`,
      failureText(learnt, failures),
    ],
  };
}

const many = (tokens: number) => Math.round(tokens).toLocaleString("en");

export const isByChance = ({ failShare, refusedShare }: Assumed): boolean =>
  failShare > 0 || refusedShare > 0;

function timeText(learnt: Learnt, name: "workMs" | "gateMs", unit: string): string {
  const value = learnt[name];
  if (value === undefined)
    return `${shortTime(DEFAULTS[name].value)} ${unit}, a default: ${DEFAULTS[name].why}`;
  if (name === "gateMs") return `${shortTime(value)} ${unit}, the median in ${runsText(learnt)}`;
  const agents = learnt.workMsByAgent.size;
  const each = agents > 1 ? `, with ${agents} agents each by its own` : "";
  return `${shortTime(value)} ${unit}, ${source(learnt)}${each}`;
}

const source = (learnt: Learnt) => `the median of ${learnt.attempts} attempts in ${runsText(learnt)}`;

const runsText = ({ runs }: Learnt) => `${runs} earlier ${runs === 1 ? "run" : "runs"} of this repository`;

/** "4.2 s", "75 s", "10 min". */
function shortTime(ms: number): string {
  if (ms >= 2 * MINUTE) return `${Math.round(ms / MINUTE)} min`;
  return `${ms < 10_000 ? (ms / 1_000).toFixed(1) : Math.round(ms / 1_000)} s`;
}

function failureText(
  { failShare = 0, refusedShare = 0, attempts }: Learnt,
  given: number | "learnt",
): string {
  const seen = `${percent(failShare)} of attempts failed and ${percent(refusedShare)} were refused in earlier runs`;
  if (given === "learnt")
    return attempts === 0 ? "failures: none; there are no earlier runs to learn from" : `failures: ${seen}`;
  if (given > 0) return `failures: ${percent(given)} of attempts, as was given`;
  if (failShare === 0 && refusedShare === 0)
    return attempts === 0 ? "failures: none" : "failures: none, as in earlier runs";
  return `failures: none, though ${seen} (--fail-rate learnt)`;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
