/** How complex is a request or a task, by its words? Five counts, their sum from 0 to 35, and the tier of the sum. */

/** Lower case. The last word of each also counts in the plural and with "-d", "-ed" or "-ing". */
export type ScoreWords = {
  readonly connectors: readonly string[];
  readonly architecture: readonly string[];
  readonly security: readonly string[];
  readonly integration: readonly string[];
  readonly severalFiles: readonly string[];
  readonly severalSystems: readonly string[];
  /** Two different ones are several systems. */
  readonly systems: readonly string[];
  readonly production: readonly string[];
  readonly data: readonly string[];
  readonly performance: readonly string[];
};

export type Score = {
  readonly verbs: number;
  readonly connectors: number;
  readonly domain: number;
  readonly scope: number;
  readonly risk: number;
  /** Of all five, as they count: from 0 to 35. */
  readonly total: number;
  readonly tier: 1 | 2 | 3;
  /** How often the request should be split at least: the tier. Advice, never a reason to refuse a plan. */
  readonly min_depth: 1 | 2 | 3;
};

export type Tiers = { readonly tier2From: number; readonly tier3Above: number };

/** Tier 1 is below 5, tier 3 above 15. */
export const TIERS: Tiers = { tier2From: 5, tier3Above: 15 };

/** `verbs`: all verbs that can be an order, lower case. Only the first 20,000 characters count. */
export function scoreOf(
  text: string,
  words: ScoreWords & { readonly verbs: ReadonlySet<string> },
  tiers: Tiers = TIERS,
): Score {
  const tokens = tokensOf(text);
  const points = (list: readonly string[], worth: number) => (mentions(tokens, list) > 0 ? worth : 0);
  const verbs = Math.min(2 * ordersIn(tokens, words.verbs), 10);
  const connectors = Math.min(2 * mentions(tokens, words.connectors), 8);
  const domain = points(words.architecture, 2) + points(words.security, 2) + points(words.integration, 1);
  const systems = words.systems.filter((system) => mentions(tokens, [system]) > 0).length;
  const scope = points(words.severalFiles, 3) + (systems > 1 ? 3 : points(words.severalSystems, 3));
  const risk = points(words.production, 2) + points(words.data, 2) + points(words.performance, 1);
  const total = verbs + connectors + domain + scope + risk;
  const tier = total < tiers.tier2From ? 1 : total <= tiers.tier3Above ? 2 : 3;
  return { verbs, connectors, domain, scope, risk, total, tier, min_depth: tier };
}

const MAX_READ_CHARS = 20_000;
const CODE = /`[^`\n]{1,200}`/g;
/** A token is a word, or "." for what ends a sentence or begins an item of a list. */
const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}'-]*|[.!?:;\n]/gu;
const END = ".";

function tokensOf(text: string): readonly string[] {
  const read = text.slice(0, MAX_READ_CHARS).replace(CODE, " ").toLowerCase();
  return (read.match(TOKEN) ?? []).map((token) => (/[\p{L}\p{N}]/u.test(token) ? token : END));
}

/** A verb is an order at the start of a sentence, and after a word that joins two orders. */
function ordersIn(tokens: readonly string[], verbs: ReadonlySet<string>): number {
  return tokens.filter((token, at) => verbs.has(token) && (at === 0 || JOINS.has(tokens[at - 1]!))).length;
}

const JOINS: ReadonlySet<string> = new Set([
  END,
  "and",
  "then",
  "also",
  "please",
  "first",
  "next",
  "finally",
]);

function mentions(tokens: readonly string[], phrases: readonly string[]): number {
  const wanted = phrases.map((phrase) => phrase.split(" "));
  return tokens.filter((_, at) => wanted.some((words) => isAt(tokens, at, words))).length;
}

function isAt(tokens: readonly string[], at: number, words: readonly string[]): boolean {
  return words.every((word, i) => {
    const token = tokens[at + i];
    return token !== undefined && (i < words.length - 1 ? token === word : isFormOf(token, word));
  });
}

/** "migration" is "migrations", "deploy" is "deployed", "integrate" is "integrating". */
function isFormOf(token: string, word: string): boolean {
  if (token === word) return true;
  const stem = word.endsWith("e") ? word.slice(0, -1) : word;
  if (!token.startsWith(stem)) return false;
  return /^(?:e?s|e?d|ing)$/.test(token.slice(stem.length));
}
