/** Estimates how much less tasks would have waited to land with a second gate. */

/** In ms, over all tasks. `readyAt`: when the tasks that landed were ready; `gateMs`: how long a gate run takes. */
export function savedBySecondGate(readyAt: readonly number[], gateMs: number): number {
  const sorted = readyAt.toSorted((a, b) => a - b);
  return waitOf(sorted, gateMs, 1) - waitOf(sorted, gateMs, 2);
}

/**
 * Assumes that a gate that becomes free takes all waiting tasks, and that every run passes: the real saving is a bit
 * larger.
 */
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
