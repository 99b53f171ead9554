/** Estimates how much less tasks would have waited to land if two candidates had been gated at once. */

/** In ms, over all tasks: `readyAt` of those that landed, and how long a run of the gate takes. */
export function savedBySecondGate(readyAt: readonly number[], gateMs: number): number {
  const sorted = readyAt.toSorted((a, b) => a - b);
  return waitOf(sorted, gateMs, 1) - waitOf(sorted, gateMs, 2);
}

/** Every gate takes all that wait when it becomes free. Nothing is bad: what a second gate saves then is a bit more. */
function waitOf(readyAt: readonly number[], gateMs: number, gates: number): number {
  const freeAt = Array.from({ length: gates }, () => Number.NEGATIVE_INFINITY);
  let sum = 0;
  for (let i = 0; i < readyAt.length; ) {
    const gate = freeAt.indexOf(Math.min(...freeAt));
    const start = Math.max(freeAt[gate]!, readyAt[i]!);
    for (; i < readyAt.length && readyAt[i]! <= start; i += 1) sum += start + gateMs - readyAt[i]!;
    freeAt[gate] = start + gateMs;
  }
  return sum;
}
