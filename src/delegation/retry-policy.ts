/** The retry policy: how many retries a failing task gets, and how long to wait before each. */

export type RetryPolicy = {
  /** Attempts after the first. */
  readonly maxRetries: number;
  /** The wait before the first retry; each further wait is `backoffMultiplier` times as long, up to `maxDelayMs`. */
  readonly retryDelayMs: number;
  readonly backoffMultiplier: number;
  readonly maxDelayMs: number;
  /**
   * The share of a delay, from 0 to 1, that may be taken off at random, so that tasks that failed together do not retry
   * together.
   */
  readonly jitter: number;
  /** The time limit of an attempt; Infinity for no limit. */
  readonly attemptTimeoutMs: number;
};

/** The longest time that a timer can wait: a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 3,
  retryDelayMs: 1_000,
  backoffMultiplier: 2,
  maxDelayMs: 60_000,
  jitter: 0.2,
  attemptTimeoutMs: 30 * 60_000,
};

/** The defaults, replaced by the given values; throws an error that names an invalid value. */
export function retryPolicy(
  given: { readonly [K in keyof RetryPolicy]?: RetryPolicy[K] | undefined },
): RetryPolicy {
  const policy = { ...DEFAULT_RETRY_POLICY };
  for (const [name, rule] of Object.entries(RULES)) {
    const key = name as keyof RetryPolicy;
    const value = given[key];
    if (value === undefined) continue;
    if (typeof value !== "number" || !rule.allows(value)) {
      throw new RangeError(`${name} must be ${rule.words}; got ${String(value)}`);
    }
    policy[key] = value;
  }
  return policy;
}

/** The wait in milliseconds before the `retry`-th retry, counted from 1. `random` gives 0 ≤ x < 1. */
export function delayBefore(retry: number, policy: RetryPolicy, random: () => number): number {
  const { retryDelayMs, backoffMultiplier, maxDelayMs, jitter } = policy;
  if (retryDelayMs === 0) return 0; // 0 × an overflown multiplier would be no number
  const full = Math.min(maxDelayMs, retryDelayMs * backoffMultiplier ** (retry - 1));
  return Math.round(full * (1 - jitter * random()));
}

type Rule = { readonly words: string; readonly allows: (value: number) => boolean };

const duration: Rule = {
  words: `a number of milliseconds from 0 to ${MAX_TIMER_MS}`,
  allows: (value) => value >= 0 && value <= MAX_TIMER_MS,
};

const RULES: Readonly<Record<keyof RetryPolicy, Rule>> = {
  maxRetries: {
    words: "a whole number from 0 to 1000",
    allows: (value) => Number.isInteger(value) && value >= 0 && value <= 1_000,
  },
  retryDelayMs: duration,
  backoffMultiplier: { words: "a number from 1", allows: (value) => value >= 1 && Number.isFinite(value) },
  maxDelayMs: duration,
  jitter: { words: "a number from 0 to 1", allows: (value) => value >= 0 && value <= 1 },
  attemptTimeoutMs: {
    words: `a number of milliseconds from 1 to ${MAX_TIMER_MS}, or Infinity`,
    allows: (value) => (value >= 1 && value <= MAX_TIMER_MS) || value === Infinity,
  },
};
