/** Scores how complex a request or a task is by its words: five counts, their sum from 0 to 35, and the tier. */

export type Score = {
  readonly verbs: number;
  readonly connectors: number;
  readonly domain: number;
  readonly scope: number;
  readonly risk: number;
  /** The sum of all five: from 0 to 35. */
  readonly total: number;
  readonly tier: 1 | 2 | 3;
  /**
   * How many levels the request should be split into at least; equals the tier. Advice, never a reason to refuse a
   * plan.
   */
  readonly min_depth: 1 | 2 | 3;
};

type Tiers = { readonly tier2From: number; readonly tier3Above: number };

/** Tier 1 is below 5, tier 3 above 15. */
const TIERS: Tiers = { tier2From: 5, tier3Above: 15 };

/** Only the first 20,000 characters count. */
export function scoreOf(text: string, tiers: Tiers = TIERS): Score {
  const tokens = tokensOf(text);
  const { architecture, security, integration, severalFiles, severalSystems } = SCORE_WORDS;
  const { production, data, performance } = SCORE_WORDS;
  const points = (list: readonly string[], worth: number) => (mentions(tokens, list) > 0 ? worth : 0);
  const verbs = Math.min(2 * ordersIn(tokens), 10);
  const connectors = Math.min(2 * mentions(tokens, SCORE_WORDS.connectors), 8);
  const domain = points(architecture, 2) + points(security, 2) + points(integration, 1);
  const systems = SCORE_WORDS.systems.filter((system) => mentions(tokens, [system]) > 0).length;
  const scope = points(severalFiles, 3) + (systems > 1 ? 3 : points(severalSystems, 3));
  const risk = points(production, 2) + points(data, 2) + points(performance, 1);
  const total = verbs + connectors + domain + scope + risk;
  const tier = total < tiers.tier2From ? 1 : total <= tiers.tier3Above ? 2 : 3;
  return { verbs, connectors, domain, scope, risk, total, tier, min_depth: tier };
}

const MAX_READ_CHARS = 20_000;
const CODE = /`[^`\n]{1,200}`/g;
/** A token is a word, or "." for the end of a sentence or the start of a list item. */
const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}'-]*|[.!?:;\n]/gu;
const END = ".";

function tokensOf(text: string): readonly string[] {
  const read = text.slice(0, MAX_READ_CHARS).replace(CODE, " ").toLowerCase();
  return (read.match(TOKEN) ?? []).map((token) => (/[\p{L}\p{N}]/u.test(token) ? token : END));
}

/** Counts verbs that give an order: at the start of a sentence, and after a word that joins two orders. */
const ordersIn = (tokens: readonly string[]): number =>
  tokens.filter((token, at) => ACTION_VERBS.has(token) && (at === 0 || JOINS.has(tokens[at - 1]!))).length;

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

/** "migrations" is a form of "migration", "deployed" of "deploy", "integrating" of "integrate". */
function isFormOf(token: string, word: string): boolean {
  if (token === word) return true;
  const stem = word.endsWith("e") ? word.slice(0, -1) : word;
  if (!token.startsWith(stem)) return false;
  return /^(?:e?s|e?d|ing)$/.test(token.slice(stem.length));
}

const words = (list: string): readonly string[] => list.split(", ");

/** Lower case. The last word of each also counts in the plural and with "-d", "-ed" or "-ing". */
const SCORE_WORDS = {
  connectors: words("and, then, with, plus, also, including, after, before, once, while, next, finally"),
  architecture: words(
    "architecture, microservice, event sourcing, scalability, distributed, framework, refactor, redesign",
  ),
  security: words(
    "security, secure, auth, authentication, login, password, oauth, token, secret, encryption, permission",
  ),
  integration: words("integration, integrate, third-party, webhook, external api, sdk, graphql, rest api"),
  severalFiles: words(
    "files, modules, components, packages, folders, codebase, repo, repository, everywhere",
  ),
  severalSystems: words("services, systems, microservices, platforms, environments, end-to-end, full-stack"),
  /** Two different ones make several systems. */
  systems: words("frontend, backend, database, server, client, cli, api, queue, dashboard, infrastructure"),
  production: words("production, deploy, deployment, release, rollout, rollback, downtime, outage"),
  data: words("migrate, migration, database, schema, data loss, backup, backfill, user data, transaction"),
  performance: words(
    "performance, slow, latency, throughput, optimize, bottleneck, memory leak, faster, timeout",
  ),
} as const;

/** Verbs of software work, in the form of an order. */
const ACTION_VERBS: ReadonlySet<string> = new Set(
  words(
    "add, analyze, audit, build, bump, change, check, clean, configure, connect, convert, create, delete, deploy, design, " +
      "develop, document, drop, enable, disable, explain, export, extend, extract, find, fix, format, generate, handle, " +
      "implement, import, improve, install, integrate, investigate, list, make, merge, migrate, move, optimize, port, " +
      "publish, refactor, release, remove, rename, replace, review, rewrite, run, scan, secure, set, show, simplify, " +
      "split, summarize, support, test, update, upgrade, validate, verify, write",
  ),
);
