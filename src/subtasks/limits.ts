/** The limits of one call of `executeTask`: each number with its unit and reason; callers lower or raise them. */
import { closest } from "../text/closest.ts";
import { isRecord } from "../text/json.ts";

export type Allowance = {
  /** Tasks in the chain, the first included. */
  readonly tasks: number;
  /** Time from the start of the chain, waiting for answers included. */
  readonly ms: number;
  /** Of all turns, as handlers report them; else estimated by the length of the texts. */
  readonly tokens: number;
};

export type SubtaskLimits = {
  /** Levels of tasks, the first included. */
  readonly maxDepth: number;
  /** Times that one task may go on after a subtask or a question. */
  readonly maxContinuations: number;
  /** One prompt of one session. */
  readonly turnMs: number;
  /** The longest that a question waits; it may ask for less. */
  readonly askMs: number;
  /** Looking for files and reading them, for one task. */
  readonly contextMs: number;
  /** What the whole chain may use. */
  readonly chain: Allowance;
  /** What a task is given to read: more than most models take in well. Not cut, but refused, if it is inherited in full. */
  readonly contextTokens: number;
  /** Of a result's content, and of its notes: what is longer is kept as an artefact. */
  readonly resultTokens: number;
  /** Characters of the inputs of one task, as canonical JSON. */
  readonly inputChars: number;
  readonly matchedFiles: number;
  /** Tasks of one map at the same time, and in all. */
  readonly maxParallel: number;
  readonly mapInputs: number;
};

export const DEFAULT_LIMITS: SubtaskLimits = {
  maxDepth: 10,
  maxContinuations: 50,
  turnMs: 600_000,
  askMs: 600_000,
  contextMs: 60_000,
  chain: { tasks: 200, ms: 3_600_000, tokens: 5_000_000 },
  contextTokens: 100_000,
  resultTokens: 8_000,
  inputChars: 1_000_000,
  matchedFiles: 10,
  maxParallel: 4,
  mapInputs: 1_000,
};

export type SomeLimits = Partial<Omit<SubtaskLimits, "chain">> & { readonly chain?: Partial<Allowance> };

/** Zero is a limit like any other; what is no number is a mistake of the program's, and thrown. */
export function limitsOf(given: SomeLimits = {}): SubtaskLimits {
  named(given, DEFAULT_LIMITS, "limits");
  const { chain = {}, ...own } = given;
  named(chain, DEFAULT_LIMITS.chain, "limits.chain");
  const limits = { ...DEFAULT_LIMITS, ...own, chain: { ...DEFAULT_LIMITS.chain, ...chain } };
  for (const [name, value] of [...Object.entries(limits), ...Object.entries(limits.chain)])
    if (name !== "chain" && !(typeof value === "number" && value >= 0))
      throw new RangeError(`limits: ${name} must be a number from 0 on, not ${String(value)}`);
  return limits;
}

function named(given: unknown, known: object, where: string): void {
  if (!isRecord(given)) throw new RangeError(`${where}: must be an object, not ${String(given)}`);
  const names = Object.keys(known);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const near = closest(unknown, names);
  const meant = near.length > 0 ? `did you mean ${near.join(" or ")}?` : `there are ${names.join(", ")}`;
  throw new RangeError(`${where}: there is no ${unknown}; ${meant}`);
}
