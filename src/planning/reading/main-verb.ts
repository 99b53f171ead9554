/** Which verb is a sentence's request? The first word, or one behind a condition, a label or "the app must". */

import type { Order } from "./draft.ts";
import type { Main } from "./found.ts";
import { imperativeAt, isStatement, lettingAt } from "./imperative.ts";
import { type Lead, leadAt } from "./lead.ts";
import { phraseAt, verbOf } from "./lexicon.ts";
import { beginsSequence } from "./sequence.ts";
import type { Range, Span } from "./span.ts";

export function mainAt(span: Span, lead: Lead, to: number): Main | undefined {
  const order: Order = { is: lead.order };
  const { at } = lead;
  return (
    beginsSequence(span, lead, to) ??
    labelled(span, lead, to) ??
    direct(span, at, to, order) ??
    (lead.isAsked ? gerund(span, at, to, order) : undefined) ??
    (lead.isAsking ? asking(span, lead, to, order) : undefined) ??
    afterModal(span, at, to, order, lead.isAsked ? CAN : undefined) ??
    afterComma(span, at, to, order)
  );
}

function direct(span: Span, at: number, to: number, order: Order): Main | undefined {
  const found = imperativeAt(span, at, to) ?? unknownAt(span, at, to);
  if (!found || isStatement(span, at, to)) return undefined;
  return { is: "request", verb: found.verb, from: at, rest: found.rest, order };
}

/** "would you mind renaming it" */
function gerund({ tokens, lexicon }: Span, at: number, to: number, order: Order): Main | undefined {
  const lower = at < to ? tokens[at]!.lower : "";
  const verb = lower.endsWith("ing") ? verbOf(lower, lexicon) : undefined;
  return verb === undefined ? undefined : { is: "request", verb, from: at, rest: at + 1, order };
}

/** "Frobnicate the widget": what begins a sentence and has an object is an imperative, in no list as it may be. */
function unknownAt({ tokens, lexicon }: Span, at: number, to: number) {
  const { has, words } = lexicon;
  const { lower, kind } = tokens[at]!;
  const next = tokens[at + 1]?.lower ?? "";
  if (kind !== "word" || at + 1 >= to || !/^[a-z]{3,15}$/.test(lower) || /(?:s|ly|ing|ed)$/.test(lower))
    return undefined;
  if (!ARTICLES.has(next) || has.determiners.has(lower) || has.pronouns.has(lower)) return undefined;
  if (has.prepositions.has(lower) || has.subordinators.has(lower) || has.finite.has(lower)) return undefined;
  return words.modals.includes(lower) ? undefined : { verb: lower, rest: at + 1 };
}

const ARTICLES: ReadonlySet<string> = new Set(
  "the a an my your our this these those all every each".split(" "),
);

/** "TODO: add tests", "fix(parser): handle tabs". The label's own verb counts if nothing else does. */
function labelled(span: Span, lead: Lead, to: number): Main | undefined {
  const { tokens, text, lexicon } = span;
  const end = Math.min(to, lead.at + MAX_LABEL);
  let colon = lead.at;
  while (colon < end && tokens[colon]!.lower !== ":") colon += 1;
  if (colon >= end || colon + 1 >= to || !/\s/.test(text[tokens[colon]!.end] ?? "")) return undefined;
  const own = imperativeAt(span, lead.at, to);
  const hasObject = own !== undefined && own.rest < colon && tokens[own.rest]!.lower !== "(";
  const isUmbrella = tokens.slice(lead.at, colon).some(({ lower }) => lexicon.has.umbrella.has(lower));
  if (hasObject && !isUmbrella) return undefined;
  const inner = leadAt(span, colon + 1, to);
  const found = imperativeAt(span, inner.at, to);
  // "feat(search): support typo tolerance": behind one word, more than a sure verb is read as one.
  const isType = found !== undefined && colon === lead.at + 1 && !isStatement(span, inner.at, to);
  if (found && found.is !== "bare" && (found.is !== "maybe" || isType))
    return { is: "request", verb: found.verb, from: inner.at, rest: found.rest, order: { is: inner.order } };
  if (own && !hasObject)
    return { is: "request", verb: own.verb, from: lead.at, rest: colon + 1, order: { is: lead.order } };
  return undefined;
}

const MAX_LABEL = 7;
const MAX_SUBJECT = 10;
const MAX_BEFORE = 80;

/** "I want the app to support dark mode", "we need a login page" */
function asking(span: Span, { from, at }: Lead, to: number, order: Order): Main {
  const { tokens } = span;
  const end = Math.min(to, at + MAX_SUBJECT);
  for (let index = at + 1; index < end; index += 1) {
    const { lower, kind } = tokens[index]!;
    if (kind === "mark" || kind === "break") break;
    if (lower !== "to") continue;
    const found = imperativeAt(span, index + 1, to);
    if (found) return { is: "request", verb: found.verb, from, rest: found.rest, order };
  }
  return { is: "request", from: at, rest: at, order };
}

/** "The app must log errors" asks for logging, "the cache should be cleared" for clearing it. */
export function afterModal(
  span: Span,
  at: number,
  to: number,
  order: Order,
  more?: ReadonlySet<string>,
): Main | undefined {
  const { tokens, lexicon } = span;
  const { has, phrases } = lexicon;
  const end = Math.min(to, at + MAX_SUBJECT);
  for (let index = at; index < end; index += 1) {
    const { lower, kind } = tokens[index]!;
    if (phraseAt(phrases.denials, tokens, index, to) > 0)
      return isComplaint(span, at, index) ? undefined : { is: "constraint", from: at };
    if (has.modals.has(lower) || more?.has(lower))
      return behindModal(span, { from: at, to: index }, to, order);
    if ((kind === "mark" && lower !== "(" && lower !== ")") || kind === "break") return undefined;
    if (has.subordinators.has(lower) && index > at && lower !== "that") return undefined;
    if (has.finite.has(lower)) return undefined;
  }
  return undefined;
}

/** "Users cannot log in" is what is wrong, "the API cannot change" what must not be. */
const isComplaint = ({ tokens }: Span, from: number, denial: number) =>
  /^can('t|not)$/.test(tokens[denial]!.lower) &&
  tokens.slice(from, denial).some(({ lower }) => PEOPLE.has(lower));
const PEOPLE: ReadonlySet<string> = new Set(
  "i users user customers customer people visitors clients admins editors developers they he she nobody".split(
    " ",
  ),
);

/** "It would be great if the page could be updated". */
const CAN: ReadonlySet<string> = new Set(["could", "can", "would"]);

function behindModal(span: Span, subject: Range, to: number, order: Order): Main | undefined {
  const { tokens, lexicon } = span;
  let at = subject.to + 1;
  const needsTo = !["should", "must", "shall", ...CAN].includes(tokens[subject.to]!.lower);
  if (needsTo && tokens[at]?.lower !== "to") return undefined;
  const isBe = (index: number) => tokens[index]?.lower === "be";
  while (at < to && SKIPPED.has(tokens[at]!.lower)) at += 1;
  if (isBe(at) && tokens[at + 1]?.lower === "able" && tokens[at + 2]?.lower === "to") at += 3;
  if (isBe(at)) {
    while (at + 1 < to && SKIPPED.has(tokens[at + 1]!.lower)) at += 1;
    const verb = verbOf(tokens[at + 1]?.lower ?? "", lexicon);
    if (verb === undefined || subject.from >= subject.to) return undefined;
    return { is: "request", verb, from: subject.from, rest: at + 2, object: subject, order };
  }
  const found = imperativeAt(span, at, to) ?? lettingAt(span, at, to);
  if (!found) return undefined;
  const isOfThing = !US.has(tokens[subject.to - 1]?.lower ?? "");
  const own = isOfThing && subject.from < subject.to ? { subject: { from: subject.from, to: at } } : {};
  return { is: "request", verb: found.verb, from: subject.from, rest: found.rest, order, ...own };
}

/** What these should do is done by hand. */
const US: ReadonlySet<string> = new Set("we you i someone somebody everyone team".split(" "));

const SKIPPED: ReadonlySet<string> = new Set([
  "to",
  "also",
  "always",
  "only",
  "then",
  "automatically",
  "still",
  "just",
]);

/** "If the tests fail, fix them": the condition stays with it. A name that is called goes: "Hey Kim, add a test". */
function afterComma(span: Span, at: number, to: number, order: Order): Main | undefined {
  const { tokens, lexicon } = span;
  const { has } = lexicon;
  const first = tokens[at]!.lower;
  const isCondition = has.subordinators.has(first) || has.prepositions.has(first);
  const end = Math.min(to, at + MAX_BEFORE);
  const forEach = first === "for" && has.quantifiers.has(tokens[at + 1]?.lower ?? "");
  for (let index = at + 1; index < end; index += 1) {
    const { lower, isInside } = tokens[index]!;
    const sure = forEach && index > at + 2 && index < at + 8 ? imperativeAt(span, index, to) : undefined;
    if (sure?.is === "sure") return { is: "request", verb: sure.verb, from: at, rest: sure.rest, order };
    if (isInside || !(lower === "," || lower === "—" || lower === "–" || lower === "-" || lower === "so"))
      continue;
    const lead = leadAt(span, index, to);
    if (lead.negativeFrom !== undefined) return undefined;
    const found = imperativeAt(span, lead.at, to);
    const modal = isCondition && !found ? afterModal(span, lead.at, to, order) : undefined;
    if (modal?.is === "request") return { ...modal, from: at };
    if (!found || isStatement(span, lead.at, to)) continue;
    const isLikely = found.is === "sure" || lead.isAsked || lead.order !== "none";
    if (!isLikely && !(isCondition && found.is !== "maybe")) continue;
    const from = isCondition || index - at > 2 ? at : lead.at;
    const own: Order = lead.order === "none" ? order : { is: lead.order };
    return { is: "request", verb: found.verb, from, rest: found.rest, order: own };
  }
  return undefined;
}
