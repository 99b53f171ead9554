/** What a forecast assumes where a plan does not say: how long things take, what they cost, how often they fail. */

export type Assumed = {
  /** One attempt at a task: of this agent, else of all agents. */
  readonly workMsByAgent: ReadonlyMap<string, number>;
  readonly workMs: number;
  /** One turn of a planner; a plan that is there already takes none. */
  readonly planMs: number;
  /** One run of the gate, with what git does around it. */
  readonly gateMs: number;
  readonly workTokens: number;
  /** Undefined: the price is unknown, not zero. */
  readonly workDollars: number | undefined;
  /** Of all attempts: those whose agent fails, and of the others those whose candidate turns the gate red. */
  readonly failShare: number;
  readonly refusedShare: number;
  /** What was assumed and where it comes from, in words for people. */
  readonly because: readonly string[];
};

/** What earlier runs have shown; what they have not is left out. */
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

/** `failures`: none, unless they are asked for; `learnt` takes the shares that earlier runs have shown. */
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
