/** The limits of one call of `executeTask`: each number with its unit and reason; callers lower or raise them. */
import { closest } from "../text/closest.ts";
import { isRecord } from "../text/json.ts";

export type Allowance = {
  /** Tasks in the chain, the first included. */
  readonly tasks: number;
  /** Time from the start of the chain, including waiting for answers. */
  readonly ms: number;
  /** Tokens of all turns, as handlers report them; else estimated from the length of the texts. */
  readonly tokens: number;
};

export type SubtaskLimits = {
  /** Levels of tasks, the first included. */
  readonly maxDepth: number;
  /** How often one task may continue after a subtask or a question. */
  readonly maxContinuations: number;
  /** The time for one prompt of one session. */
  readonly turnMs: number;
  /** The longest time that a question waits; a question may ask for less. */
  readonly askMs: number;
  /** The time to find and read files for one task. */
  readonly contextMs: number;
  /** What the whole chain may use. */
  readonly chain: Allowance;
  /**
   * The context of a task: more than most models take in well. An inheritance in full that is larger is refused, not
   * cut.
   */
  readonly contextTokens: number;
  /** For a result's content, and for its notes: longer ones are stored as artefacts. */
  readonly resultTokens: number;
  /** Characters of the inputs of one task, as canonical JSON. */
  readonly inputChars: number;
  readonly matchedFiles: number;
  /** `maxParallel`: tasks of one map at the same time. `mapInputs`: tasks of one map in all. */
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

/** Zero is a valid limit; a value that is not a number is a mistake of the calling program, and is thrown. */
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
