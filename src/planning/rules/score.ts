/**
 * How complex is a request? Five counts, a tier, and how often it must be split at least. A verb counts where it is a
 * clause's imperative, or begins one of several things to do; names ("with add, subtract"), code and quotes do not.
 */
import { inflections } from "../../delegation/keywords.ts";
import type { Score } from "../plan.ts";
import { lexiconOf, type Phrases, phraseAt, phrasesOf } from "../reading/lexicon.ts";
import { type Token, tokenise } from "../reading/tokens.ts";
import type { Clause, Reading } from "../reading.ts";
import type { WordList, Words } from "../words.ts";

export type Tiers = { readonly tier2From: number; readonly tier3Above: number };

/** Tier 1 is below 5, tier 3 above 15. */
export const TIERS: Tiers = { tier2From: 5, tier3Above: 15 };

export function scoreOf(reading: Reading, words: Words, tiers: Tiers = TIERS): Score {
  const tokens = tokenise(reading.text, lexiconOf(words));
  const known = countsOf(words, reading.text.toLowerCase());
  const has = (list: keyof Counts) => mentions(tokens, known[list]) > 0;
  const points = (list: keyof Counts, worth: number) => (has(list) ? worth : 0);
  const verbs = Math.min(2 * actionsIn(reading, words), 10);
  const connectors = Math.min(2 * mentions(tokens, known.connectors), 8);
  const domain = points("architecture", 2) + points("security", 2) + points("integration", 1);
  const isOfFiles = has("severalFiles") || reading.clauses.some(namesSeveralFiles) || filesIn(reading) > 1;
  const isOfSystems = has("severalSystems") || distinct(tokens, known.systems) > 1;
  const scope = (isOfFiles ? 3 : 0) + (isOfSystems ? 3 : 0);
  const risk = points("production", 2) + points("data", 2) + points("performance", 1);
  const total = verbs + connectors + domain + scope + risk;
  const tier = total < tiers.tier2From ? 1 : total <= tiers.tier3Above ? 2 : 3;
  return { verbs, connectors, domain, scope, risk, total, tier, min_depth: tier };
}

function actionsIn({ clauses }: Reading, words: Words): number {
  const { verbs } = lexiconOf(words);
  const isAction = (item: string) => {
    const [first = "", next] = item.toLowerCase().split(" ", 2);
    return next !== undefined && verbs.has(first);
  };
  return clauses
    .map(
      ({ verb, items, itemsAre }) =>
        (verb === undefined ? 0 : 1) + (itemsAre === "each" ? items.filter(isAction).length : 0),
    )
    .reduce((sum, count) => sum + count, 0);
}

const namesSeveralFiles = ({ count, isUnbounded }: Clause) => isUnbounded || count !== undefined;

const filesIn = ({ clauses }: Reading) => new Set(clauses.flatMap(({ files }) => files)).size;

type Counts = {
  readonly [key in
    | "connectors"
    | "systems"
    | keyof Words["domain"]
    | keyof Words["risk"]
    | "severalFiles"
    | "severalSystems"]: Phrases;
};

/** Of the words that the text may have: to make the forms of all took longer than to count. */
function countsOf(words: Words, lower: string): Counts {
  const { domain, scope, risk } = words;
  const inflected = (list: WordList) => inflectedOf(list.filter((phrase) => lower.includes(stemOf(phrase))));
  return {
    connectors: phrasesOf(words.connectors),
    systems: inflected(scope.systems),
    architecture: inflected(domain.architecture),
    security: inflected(domain.security),
    integration: inflected(domain.integration),
    severalFiles: phrasesOf(scope.severalFiles),
    severalSystems: phrasesOf(scope.severalSystems),
    production: inflected(risk.production),
    data: inflected(risk.data),
    performance: inflected(risk.performance),
  };
}

/** What no form of a phrase is without: an ending changes two letters of a word at most. */
function stemOf(phrase: string): string {
  const space = phrase.indexOf(" ");
  const first = space === -1 ? phrase : phrase.slice(0, space);
  return first.slice(0, Math.max(1, first.length - 2));
}

/** The last word of each in its ordinary forms: "migration" is "migrations", "load test" is "load testing". */
const inflectedOf = (list: WordList) =>
  phrasesOf(
    list.flatMap((phrase) => {
      const space = phrase.lastIndexOf(" ") + 1;
      return inflections(phrase.slice(space)).map((form) => phrase.slice(0, space) + form);
    }),
  );

function mentions(tokens: readonly Token[], phrases: Phrases): number {
  let count = 0;
  for (let at = 0; at < tokens.length; ) {
    const length = phraseAt(phrases, tokens, at);
    if (length > 0) count += 1;
    at += Math.max(1, length);
  }
  return count;
}

/** Of two systems that are called by their first words, each counts once: "front end" and "backend" are two. */
function distinct(tokens: readonly Token[], phrases: Phrases): number {
  const found = new Set<string>();
  tokens.forEach(({ lower }, at) => {
    if (phraseAt(phrases, tokens, at) > 0) found.add(lower.slice(0, 4));
  });
  return found.size;
}
