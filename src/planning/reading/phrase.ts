/** What follows a verb? Its object, what is listed there, how many there are, and whether there is an end to it. */
import type { Clause } from "../reading.ts";
import { textOf } from "./draft.ts";
import { phraseAt } from "./lexicon.ts";
import { itemsOf, listed } from "./listed.ts";
import type { Range, Span } from "./span.ts";

export type Phrase = Pick<Clause, "object" | "items" | "itemsAre" | "count" | "isUnbounded"> & {
  /** "without new dependencies" */
  readonly constraint?: string;
};

export function phraseIn(span: Span, verb: string | undefined, { from, to }: Range): Phrase {
  const within = constraintAt(span, { from, to });
  const whole = { from, to: reasonAt(span, { from, to: within }) };
  const colon = within < to ? colonIn(span, { from: within, to }) : to;
  const below = colon < to ? listed(span, { from: colon + 1, to }) : [];
  const list: List =
    below.length < 2
      ? listIn(span, verb, whole)
      : { object: textOf(span, whole), items: itemsOf(span, below), itemsAre: "with" };
  const count = list.items.length > 1 ? undefined : countAt(span, whole);
  return {
    ...list,
    ...(count !== undefined && { count }),
    isUnbounded: count === undefined && isUnbounded(span, { from: Math.max(0, from - 1), to: within }),
    ...(within < to && { constraint: textOf(span, { from: within, to: below.length < 2 ? to : colon }) }),
  };
}

/** Where "without …" begins, unless it is part of what happens ("that fails without a network"). */
function constraintAt({ tokens, lexicon }: Span, { from, to }: Range): number {
  for (let at = from; at < to; at += 1) {
    const { lower, isInside } = tokens[at]!;
    if (!isInside && phraseAt(lexicon.phrases.within, tokens, at, to) > 0) return at;
    if (lexicon.has.subordinators.has(lower) && at > from) return to;
  }
  return to;
}

/** Where a reason or condition begins. */
function reasonAt({ tokens, lexicon }: Span, { from, to }: Range): number {
  for (let at = from + 1; at < to; at += 1) {
    const { lower, isInside } = tokens[at]!;
    if (!isInside && lexicon.has.reasons.has(lower)) return at;
  }
  return to;
}

type List = Pick<Phrase, "object" | "items" | "itemsAre">;

function listIn(span: Span, verb: string | undefined, whole: Range): List {
  return (
    afterColon(span, whole) ??
    afterWith(span, verb, whole) ??
    inBrackets(span, whole) ?? // "(add, subtract)"
    (verb === undefined || isPaired(span, verb, whole) ? undefined : severalObjects(span, whole)) ?? {
      object: textOf(span, whole),
      items: [],
    }
  );
}

function afterColon(span: Span, { from, to }: Range): List | undefined {
  const { tokens, lexicon } = span;
  const colon = colonIn(span, { from, to });
  if (colon >= to || tokens[colon]!.isInside) return undefined;
  const parts = listed(span, { from: colon + 1, to });
  if (parts.length < 2) return undefined;
  const before = tokens.slice(from, colon);
  const isPlural = /[^s]s$/.test(before.findLast(({ kind }) => kind === "word")?.lower ?? "");
  const isByOne = before.some(
    ({ lower }, n) => lower === "by" && n > 0 && before[n - 1]!.lower === before[n + 1]?.lower,
  );
  const isEach = isPlural || isByOne || before.some(({ lower }) => lexicon.has.umbrella.has(lower));
  const object = textOf(span, { from, to: colon });
  return { object, items: itemsOf(span, parts), itemsAre: isEach ? "each" : "with" };
}

/** Where one that begins a list stands, or `to`. */
function colonIn({ tokens, text }: Span, { from, to }: Range): number {
  let colon = from + 1;
  while (colon < to && !(tokens[colon]!.lower === ":" && /\s/.test(text[tokens[colon]!.end] ?? "")))
    colon += 1;
  return colon;
}

function afterWith(
  span: Span,
  verb: string | undefined,
  { from, to }: Range,
  start = from + 1,
): List | undefined {
  const { tokens, lexicon } = span;
  if (verb !== undefined && lexicon.has.noList.has(verb)) return undefined;
  for (let at = start; at < to; at += 1) {
    if (tokens[at]!.isInside) continue;
    const length = phraseAt(lexicon.phrases.with, tokens, at, to);
    if (length === 0) continue;
    const parts = listed(span, { from: at + length, to });
    // "a page, a form with a and b, and a test": what comes with one of several is no list of its own.
    const isOfSeveral = tokens.slice(from, at - 1).some(({ lower, isInside }) => lower === "," && !isInside);
    if (parts.length < 2 || isOfSeveral) return undefined;
    // "a cache with Redis, including metrics and docs": the list begins at the later word.
    const later = parts.slice(1).find((part) => phraseAt(lexicon.phrases.with, tokens, part.from, to) > 0);
    if (later && start === from + 1) return afterWith(span, verb, { from, to }, later.from);
    return { object: textOf(span, { from, to: at }), items: itemsOf(span, parts), itemsAre: "with" };
  }
  return undefined;
}

/** "replace lodash with map and filter", "split it into a.ts and b.ts": what is behind "with" is no further thing to do it to. */
const isPaired = ({ tokens, lexicon }: Span, verb: string, { from, to }: Range) =>
  lexicon.has.noList.has(verb) &&
  tokens.slice(from, to).some(({ lower }) => lower === "with" || lower === "into");

function inBrackets(span: Span, { from, to }: Range): List | undefined {
  const { tokens } = span;
  if (to - from < 4 || tokens[to - 1]!.lower !== ")") return undefined;
  let open = from + 1;
  while (open < to && !(tokens[open]!.lower === "(" && tokens[open]!.isInside)) open += 1;
  if (open >= to) return undefined;
  const inner = tokens.slice(open + 1, to - 1).map((token) => ({ ...token, isInside: false }));
  if (inner.length === 0 || inner[0]!.lower === "e.g." || !inner.some(({ lower }) => lower === ","))
    return undefined;
  const bare = { ...span, tokens: inner };
  const parts = listed(bare, { from: 0, to: inner.length });
  if (parts.length < 2 || parts.some((part) => part.to - part.from > MAX_BRACKET_WORDS)) return undefined;
  return { object: textOf(span, { from, to: open }), items: itemsOf(bare, parts), itemsAre: "with" };
}

/** Longer ones are remarks. */
const MAX_BRACKET_WORDS = 4;

/** "search and filters"; of "tests for the parser and the lexer" the object is "tests". */
function severalObjects(span: Span, whole: Range): List | undefined {
  const parts = listed(span, whole);
  const [first, ...rest] = parts;
  if (!first || rest.length === 0 || parts.some((part) => saysSomething(span, part))) return undefined;
  if (rest.some((part) => isDoing(span, first, part) || isStage(span, part))) return undefined;
  if (isMixed(span, parts)) return undefined;
  if (isDestination(span, first) || isRelative(span, first) || isPurpose(span, first, rest)) return undefined;
  const cut = sharedAt(span, first, rest);
  if (cut === undefined) return { object: "", items: itemsOf(span, parts), itemsAre: "each" };
  const object = textOf(span, { from: first.from, to: cut.object });
  const items = itemsOf(span, [{ from: cut.item, to: first.to }, ...rest]);
  return { object, items, itemsAre: "each" };
}

/** "from a.ts to b.ts and c.ts": where one thing goes is not several things to do. */
function isDestination({ tokens }: Span, { from, to }: Range): boolean {
  const found = new Set(tokens.slice(from, to).map(({ lower }) => lower));
  return found.has("from") && found.has("to");
}

/** "a script that reads a file, counts the words and …" is one thing. */
const isRelative = ({ tokens }: Span, { from, to }: Range) =>
  tokens.slice(from + 1, to).some(({ lower }) => RELATIVE.has(lower));
const RELATIVE: ReadonlySet<string> = new Set(["that", "which", "who", "whether"]);

/** "scrape the sites and store headlines in a table": what may be a second thing to do is no thing to do the first to. */
function isDoing({ tokens, lexicon }: Span, first: Range, { from, to }: Range): boolean {
  const { determiners, prepositions } = lexicon.has;
  if (!lexicon.verbs.has(tokens[from]!.lower) || !determiners.has(tokens[first.from]!.lower)) return false;
  return to - from > 3 && tokens.slice(from + 2, to).some(({ lower }) => prepositions.has(lower));
}

/** "to some first, then to all": one thing, in stages. */
const isStage = ({ tokens }: Span, { from }: Range) =>
  tokens[from]!.lower === "then" || tokens[from]!.lower === "next";

/** "a form with a and b, and a test": which belongs to which is left to who does it. */
function isMixed(span: Span, parts: readonly Range[]): boolean {
  const { tokens, lexicon } = span;
  const at = parts.findIndex(({ from, to }) =>
    tokens.slice(from + 1, to).some((_, n) => phraseAt(lexicon.phrases.with, tokens, from + 1 + n, to) > 0),
  );
  if (at === -1 || at === parts.length - 1) return false;
  return new Set(parts.slice(at).map(({ from }) => shapeOf(span, from))).size > 1;
}

/** So is "a script to read a file, count the words and …". */
const isPurpose = ({ tokens, lexicon }: Span, { from, to }: Range, rest: readonly Range[]) =>
  rest.every((one) => lexicon.verbs.has(tokens[one.from]!.lower)) &&
  tokens
    .slice(from, to - 1)
    .some(({ lower }, n) => lower === "to" && lexicon.verbs.has(tokens[from + n + 1]!.lower));

/** A finite verb makes it a sentence, no thing. */
const saysSomething = ({ tokens, lexicon }: Span, { from, to }: Range) =>
  tokens
    .slice(from, to)
    .some(
      ({ lower }, n) =>
        lexicon.has.finite.has(lower) && !(n > 0 && n < to - from - 1 && DESCRIBES.has(lower)),
    );

/** Between an article and a noun: "the broken search". */
const DESCRIBES: ReadonlySet<string> = new Set(["broken", "failed", "shown", "kept", "fail"]);

type Cut = { readonly object: number; readonly item: number };

/** Where the first of the things begins, if they are alike: both "the …", or both without an article. */
function sharedAt(span: Span, first: Range, rest: readonly Range[]): Cut | undefined {
  const { tokens, lexicon } = span;
  const { each } = lexicon.has;
  if (rest.some(({ from, to }) => tokens.slice(from, to - 1).some(({ lower }) => each.has(lower))))
    return undefined;
  const file = filesAt(span, first, rest);
  const isSmall = (at: number) =>
    each.has(tokens[at]!.lower) || lexicon.has.determiners.has(tokens[at]!.lower);
  if (file !== undefined) return { object: isSmall(file - 1) ? file - 1 : file, item: file };
  const shape = shapeOf(span, rest[0]!.from);
  for (let at = first.to - 2; at >= first.from; at -= 1) {
    if (!each.has(tokens[at]!.lower)) continue;
    const isAlike =
      rest.every(({ from }) => shapeOf(span, from) === shape) && shapeOf(span, at + 1) === shape;
    return isAlike ? { object: at, item: at + 1 } : undefined;
  }
  return undefined;
}

/** "the files a.ts, b.ts and c.ts" */
function filesAt({ tokens }: Span, first: Range, rest: readonly Range[]): number | undefined {
  const last = first.to - 1;
  const isFile = (at: number) => tokens[at]?.file !== undefined || tokens[at]?.kind === "code";
  if (last <= first.from || !isFile(last)) return undefined;
  if (!rest.every(({ from, to }) => to - from === 1 && isFile(from))) return undefined;
  return tokens[last - 1]!.kind === "word" ? last : undefined;
}

function shapeOf({ tokens, lexicon }: Span, at: number): string {
  const { lower, kind } = tokens[at]!;
  if (lower === "a" || lower === "an") return "a";
  if (kind === "path" || kind === "code" || kind === "quote") return "name";
  return lexicon.has.determiners.has(lower) ? "the" : "bare";
}

const MAX_COUNT = 1_000;

/** "16 agent files", "all sixteen of the files": a number first, and several things soon after it. */
function countAt({ tokens, lexicon }: Span, { from, to }: Range): number | undefined {
  const { has, words } = lexicon;
  let at = from;
  while (at < to && at < from + 3 && (LEADS_TO_NUMBER.has(tokens[at]!.lower) || at === from - 1)) at += 1;
  const token = tokens[at];
  if (!token || at >= to) return undefined;
  const count = /^\d{1,4}$/.test(token.lower) ? Number(token.lower) : words.grammar.numbers.get(token.lower);
  if (count === undefined || count < 2 || count > MAX_COUNT) return undefined;
  for (let next = at + 1; next < Math.min(to, at + 5); next += 1) {
    const { lower, kind } = tokens[next]!;
    if (has.units.has(lower)) return undefined;
    if (lower === "of" || lower === "the") continue;
    if (kind !== "word" && kind !== "name" && kind !== "code" && kind !== "quote") return undefined;
    if (has.prepositions.has(lower) || SEPARATES.has(lower)) return undefined;
    if (/[^s]s$/.test(lower) && !isFollowedByNoun(lower)) return count;
  }
  return undefined;
}

/** "s" that is no plural. */
const isFollowedByNoun = (lower: string) =>
  lower === "this" || lower === "its" || lower === "css" || lower === "js";
const LEADS_TO_NUMBER: ReadonlySet<string> = new Set([
  "all",
  "the",
  "these",
  "those",
  "our",
  "my",
  "at",
  "least",
  "of",
]);
const SEPARATES: ReadonlySet<string> = new Set(["and", "or", ",", "to"]);

/** How far a quantity and its thing may stand apart: "all the old TypeScript files". */
const MAX_APART = 4;

function isUnbounded({ tokens, lexicon }: Span, { from, to }: Range): boolean {
  const { has, phrases, words } = lexicon;
  for (let at = from; at < to; at += 1) {
    if (phraseAt(phrases.unbounded, tokens, at, to) > 0) return true;
    if (!has.quantifiers.has(tokens[at]!.lower)) continue;
    for (let next = at + 1; next < Math.min(to, at + 1 + MAX_APART); next += 1) {
      const { lower, kind } = tokens[next]!;
      if (kind === "mark" || kind === "break") break;
      if (words.unbounded.things.some((thing) => lower === thing || isPlural(lower, thing))) return true;
    }
  }
  return false;
}

const isPlural = (lower: string, thing: string) =>
  lower === `${thing}s` ||
  lower === `${thing}es` ||
  (thing.endsWith("y") && lower === `${thing.slice(0, -1)}ies`);
