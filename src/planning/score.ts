/** How complex is a request? Five counts, a tier, and how often it must be split at least. */
import type { Score } from "./plan.ts";
import type { Reading } from "./reading.ts";
import type { Words } from "./words.ts";

export function scoreOf(reading: Reading, _words: Words): Score {
  const verbs = Math.min(2 * reading.clauses.filter(({ verb }) => verb !== undefined).length, 10);
  const tier = verbs < 5 ? 1 : 2;
  return { verbs, connectors: 0, domain: 0, scope: 0, risk: 0, total: verbs, tier, min_depth: tier };
}
