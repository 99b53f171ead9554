/** Classifies sentences by their first words, from the published lists: order, time word, limit or statement. */
import { asksOnly } from "../asks-only.ts";
import type { WordList, Words } from "../data.ts";
import { limitAlone } from "./limits.ts";

export type Lexicon = {
  readonly words: Words;
  /** All verbs that can begin an order. */
  readonly verbs: ReadonlySet<string>;
  /** `report`: orders that change nothing. `check`: orders that may change something. */
  readonly report: ReadonlySet<string>;
  readonly check: ReadonlySet<string>;
  readonly starts: {
    readonly verb: RegExp;
    readonly polite: RegExp;
    readonly limit: RegExp;
    readonly when: Readonly<Record<When, RegExp>>;
  };
  readonly story: RegExp;
  /** What a limit can be about. */
  readonly limited: RegExp;
  readonly finite: ReadonlySet<string>;
};

export type When = "first" | "then" | "meanwhile" | "finally";
const WHEN: readonly When[] = ["first", "then", "meanwhile", "finally"];

export function lexiconOf(words: Words): Lexicon {
  const known = lexicons.get(words);
  if (known) return known;
  const verbs = Object.values(words.verbs).flat();
  const lexicon: Lexicon = {
    words,
    verbs: new Set(verbs),
    report: new Set(words.verbs.report),
    check: new Set(words.verbs.check),
    starts: {
      verb: startOf(verbs),
      polite: startOf(words.polite),
      limit: startOf(words.limits.starts),
      when: Object.fromEntries(WHEN.map((when) => [when, startOf(words.order[when])])) as Record<
        When,
        RegExp
      >,
    },
    story: new RegExp(`\\b${anyOf(words.story)}\\b`, "i"),
    limited: new RegExp(`\\b${anyOf(words.limits.about)}(?:s|d|ed|ing)?\\b`, "i"),
    finite: new Set(words.finite),
  };
  lexicons.set(words, lexicon);
  return lexicon;
}

/** Patterns of a hundred words, compiled once per list of words. */
const lexicons = new WeakMap<Words, Lexicon>();

/** The longest first, so that "clean up" is not read as "clean". An apostrophe may be curly. */
const anyOf = (list: WordList): string =>
  `(?:${[...list, NOTHING]
    .sort((a, b) => b.length - a.length)
    .map((word) => RegExp.escape(word).replaceAll(/'|\\x27/g, "['’]"))
    .join("|")})`;

/** Makes an empty list match nothing. */
const NOTHING = "\u0000";

const startOf = (list: WordList): RegExp => new RegExp(`^${anyOf(list)}(?![\\w'’-])[,:]?\\s*`, "i");

export type Order = {
  /** The verb as it was written. */
  readonly verb: string;
  /** The text after the verb. */
  readonly object: string;
};

/** The order that a sentence gives, without polite words before it; undefined if it gives none. */
export function orderIn(sentence: string, lexicon: Lexicon): Order | undefined {
  const said = withoutPolite(sentence, lexicon);
  const found = lexicon.starts.verb.exec(said);
  if (found === null || lexicon.starts.limit.test(said)) return undefined;
  const object = said.slice(found[0].length);
  if (isStatement(object, lexicon)) return undefined;
  return { verb: found[0].replace(/[,:]?\s*$/, ""), object };
}

const WISH = /^(?:we|i)(?:['’]d| would)? (?:need|want|like)\s+(?!to\b|you\b)/i;

/** "We need CRUD for users" is an order without a verb of its own. */
export function wishIn(sentence: string, lexicon: Lexicon): Order | undefined {
  const said = withoutPolite(sentence, lexicon);
  const found = WISH.exec(said);
  return found === null ? undefined : { verb: "Add", object: said.slice(found[0].length) };
}

/** The sentence without polite words before it. */
export function withoutPolite(sentence: string, { starts }: Lexicon): string {
  let said = sentence.replace(/^["'(*_\s]+/, "");
  for (let n = 0; n < 3; n += 1) said = said.replace(starts.polite, "");
  return said;
}

const ASKS = /^(?:that|what|which|where|whether|who|how|why|when|if|whatever|so|and)$/;

/** "Build fails on Windows", "Test suite is red": the second or third word is already a verb. */
function isStatement(object: string, { finite }: Lexicon): boolean {
  const [second = "", third = ""] = object.slice(0, 80).toLowerCase().replaceAll("’", "'").split(/\s+/);
  return finite.has(second) || (finite.has(third) && !ASKS.test(second));
}

/**
 * The kind of a sentence. A `limit` says how the work is to be done ("do not change the API") and applies to all tasks.
 * A sentence that begins like a limit but may be work itself ("do not crash when the file is missing") is `unclear`.
 */
export type Kind = "order" | "limit" | "unclear" | "statement";

export function kindOf(sentence: string, lexicon: Lexicon): Kind {
  if (limitAlone(sentence)) return "limit";
  if (orderIn(sentence, lexicon) !== undefined) return "order";
  const said = withoutPolite(sentence, lexicon);
  if (!lexicon.starts.limit.test(said)) return "statement";
  return lexicon.limited.test(said) && !CONDITION.test(said) ? "limit" : "unclear";
}

/** A limit always applies; a condition shows that the sentence describes behaviour. */
const CONDITION = /\b(?:when|whenever|if|while|twice)\b/i;
const PROHIBITION = /^(?:don['’]t|do not|never|no|avoid)\b/i;

/** True for sentences that all parts may carry: they limit or explain, and ask for nothing of their own. */
export function carriedByAll(sentence: string, lexicon: Lexicon): boolean {
  const kind = kindOf(sentence, lexicon);
  if (kind !== "unclear") return kind !== "order";
  return !CONDITION.test(sentence) && !/^(?:make sure|ensure)\b/i.test(withoutPolite(sentence, lexicon));
}

/** A demand in the middle of a sentence: "v1 must keep working", "…, but don't touch the internal ones". */
export const demands = (sentence: string): boolean => DEMANDS.test(sentence);

const DEMANDS =
  /\b(?:must|shall|needs? to|ha(?:s|ve) to|(?:at (?:least|most)|no more than|within|under|up to|max(?:imum)?) \d+)\b|[,;:(]\s*(?:(?:and|but)\s+)?(?:please\s+)?(?:do not|don['’]t|never)\s+\w/i;

/** "Please don't merge any two of those": a prohibition without a condition. */
export function isProhibition(sentence: string, lexicon: Lexicon): boolean {
  const said = withoutPolite(sentence, lexicon);
  return PROHIBITION.test(said) && !CONDITION.test(said);
}

/** `step`: the number in "Step 2:". `isPhase`: true for "Phase 2:". */
type Timed = {
  readonly when: When;
  readonly rest: string;
  readonly step?: number;
  readonly isPhase?: boolean;
};

const STEP = /^(step|phase|stage|milestone)\s+(\d{1,2})\s*[:.)—–-]\s*/i;

/** The time word at the start of a sentence, and the text after it. */
export function whenOf(sentence: string, lexicon: Lexicon): Timed | undefined {
  const said = sentence.replace(/^(?:and|but|so)\s+/i, "");
  const step = STEP.exec(said);
  if (step)
    return {
      when: Number(step[2]) <= 1 ? "first" : "then",
      rest: said.slice(step[0].length),
      step: Number(step[2]),
      isPhase: step[1]!.toLowerCase() !== "step",
    };
  for (const when of WHEN) {
    const found = lexicon.starts.when[when].exec(said);
    if (found) return { when, rest: said.slice(found[0].length) };
  }
  return afterClause(said, lexicon);
}

const CLAUSE = /^(?:once|after|as soon as)\s/i;
const MAX_CLAUSE_CHARS = 300;

/** "Once it is deployed, run the script", "After the check (no rows left) switch over": the order after the clause. */
function afterClause(said: string, lexicon: Lexicon): Timed | undefined {
  if (!CLAUSE.test(said)) return undefined;
  for (const { index } of said.slice(0, MAX_CLAUSE_CHARS).matchAll(/[,)](?=\s)/g)) {
    const clause = said.slice(0, index + 1);
    if (clause.split("(").length !== clause.split(")").length) continue;
    const rest = said.slice(index + 1).trimStart();
    if (orderIn(rest, lexicon)) return { when: "then", rest };
  }
  return undefined;
}

/**
 * True if the first order only reads and no later order changes something; false for "review x and fix it". `isLater`:
 * the text follows other work, so that "verify the login" and "deploy it" do not ask for code.
 */
export function isReport(text: string, lexicon: Lexicon, isLater = false): boolean {
  const first = orderIn(whenOf(text, lexicon)?.rest ?? text, lexicon);
  const asks = asksOnly(text); // "Show me which tests are slow" begins with a verb that may change something.
  if (first === undefined) return asks;
  const { verbs, report, check } = lexicon;
  const verb = first.verb.toLowerCase();
  const isOperated = isLater && OPERATING.test(verb) && !isToBeMade(first.object);
  const isCheck = check.has(verb) ? isLater || ASKED_FOR.test(first.object) : isOperated;
  if (!report.has(verb) && !isCheck && !asks) return false;
  const joins = text.matchAll(/(?:\b(?:and|then|or)|[.,;:!?\n-])\s+(?:then\s+|also\s+|to\s+)?([a-z]+)/gi);
  return ![...joins].some(([, word = ""]) => {
    const other = word.toLowerCase();
    return verbs.has(other) && !report.has(other) && !check.has(other);
  });
}

/** After other work, these leave no change in the repository. */
const OPERATING = /^(?:deploy|publish|push|tag|run|roll back)$/;

/** "Run a script …: it has to be resumable": something new, with requirements, must be written before it can run. */
const isToBeMade = (object: string): boolean =>
  /^an?\b/i.test(object) && /\b(?:has to|have to|must|should)\b/i.test(object);

/** "Check whether", "find all", "list every": these ask for an answer. */
const ASKED_FOR = /^(?:whether|if|why|how|what|which|where|who|all|every|each|out)\b/i;

const MAX_THING_WORDS = 14;
/** The end of a thing's name, where words about it may follow. */
const ABOUT = /\s*\([^()]*\)|(?:[,;:]|\s[—–-])\s.*$|\s(?:that|which|who)\s.*$/gis;

/**
 * True for the name of something to be made: "dark mode", "status page that shows the queue"; false for a statement.
 */
export function isThing(words: string, { finite }: Lexicon): boolean {
  if (/\n|~~|\?\s*$/.test(words)) return false;
  const said = words
    .toLowerCase()
    .replace(ABOUT, "")
    .split(/[^\p{L}\p{N}'’]+/u)
    .filter(Boolean);
  return (
    said.length > 0 &&
    said.length <= MAX_THING_WORDS &&
    !said.some((word) => finite.has(word) || /^(?:i|we|you|it|he|she|they|i['’].+|no|not|none)$/.test(word))
  );
}
