/** What does a sentence ask for? Its imperatives, also behind politeness, a subject or a condition. */
import { boundaryAfter, constraintEnd, OURS } from "./boundary.ts";
import { joined } from "./clean.ts";
import { type Draft, namesIn, type Order, type Part, plain, textOf } from "./draft.ts";
import type { Asked, Main } from "./found.ts";
import { imperativeAt, lettingAt, SEPARATORS } from "./imperative.ts";
import { type Lead, leadAt } from "./lead.ts";
import { mainAt } from "./main-verb.ts";
import { phraseIn } from "./phrase.ts";
import { aboutOf, besideBehind } from "./sequence.ts";
import type { Range, Span } from "./span.ts";

/** Every part of it once, in order. At most as many as it has tokens. */
export function partsOf(span: Span, range: Range): readonly Part[] {
  const parts: Part[] = [];
  const last: Clause[] = [];
  let isLater = false;
  let subject: Range | undefined;
  for (let at = range.from; at < range.to; ) {
    const lead = leadAt(span, at, range.to);
    if (lead.negativeFrom !== undefined) {
      const end = constraintEnd(span, lead.negativeFrom, range.to);
      parts.push(constraintOf(span, { from: lead.negativeFrom, to: end }));
      at = end;
      continue;
    }
    if (lead.at >= range.to) break;
    const main = goingOn(span, lead, range.to, subject);
    if (!main) {
      parts.push({ is: "statement", draft: plain(span, { from: at, to: range.to }) });
      break;
    }
    if (main.is === "constraint") {
      const end = constraintEnd(span, main.from, range.to);
      parts.push(constraintOf(span, { from: lead.at, to: end }));
      at = end;
      continue;
    }
    const end = boundaryAfter(span, main, range.to);
    subject = main.subject;
    const found = clausesOf(span, main, { from: main.from, to: end });
    parts.push(...(isLater ? alike(found.parts) : found.parts));
    isLater ||= main.beside?.is === "after" || LATER.has(main.order.is);
    if (found.last) last.push(found.last);
    at = end;
  }
  return [...sharingObjects(parts), ...lastOf(last, parts)];
}

/** "It should list x, filter y and export z": all of these are what it should do. */
function goingOn(span: Span, lead: Lead, to: number, subject: Range | undefined): Main | undefined {
  if (!subject || lead.order !== "none" || lead.isAsked) return mainAt(span, lead, to);
  const letting = lettingAt(span, lead.at, to);
  const main: Main | undefined = letting
    ? { is: "request", verb: letting.verb, from: lead.at, rest: letting.rest, order: { is: "none" } }
    : mainAt(span, lead, to);
  if (main?.is !== "request" || main.order.is !== "none" || OURS.has(main.verb ?? "add")) return main;
  return { ...main, subject: main.subject ?? subject };
}

type Clause = Extract<Part, { readonly is: "clause" }>;

/** "Before releasing, do a and b": all that the sentence asks for comes first. */
function lastOf(last: readonly Clause[], parts: readonly Part[]): readonly Part[] {
  const before = parts.filter(({ is }) => is === "clause").length;
  return last.map((part, n) => ({
    ...part,
    order: { is: "previous", isNamed: true, of: Math.max(1, before + n) },
  }));
}

/** "Then a and b", "once c is done, a and b": what is joined waits as well. */
const alike = (parts: readonly Part[]): readonly Part[] =>
  parts.map((part) =>
    part.is === "clause" && part.order.is === "none" ? { ...part, order: { is: "alike" } } : part,
  );

function constraintOf(span: Span, range: Range): Part {
  const draft = plain(span, range);
  return { is: "constraint", text: draft.text, draft };
}

/** `last`: what has to wait for the whole sentence. */
type Found = { readonly parts: readonly Part[]; readonly last?: Clause };

function clausesOf(span: Span, main: Asked, whole: Range): Found {
  const behind = main.beside ? undefined : besideBehind(span, main, whole);
  const range = behind ? { from: whole.from, to: behind.at } : whole;
  const beside = main.beside ?? behind?.beside;
  const { draft, constraint } = draftOf(span, main, range);
  const order = main.order.is === "none" ? trailing(span, main, range) : main.order;
  const own: Clause = { is: "clause", draft, order };
  const more: readonly Part[] =
    constraint === undefined ? [] : [{ is: "constraint", text: constraint, draft: EMPTY }];
  if (beside === undefined) return { parts: [own, ...more] };
  const { verb, rest } = beside.main;
  const text = joined(`${verb} ${textOf(span, { from: rest, to: beside.range.to })}`);
  const other = { ...draftOf(span, beside.main, beside.range).draft, text };
  if (beside.is === "before")
    return { parts: [own, ...more], last: { is: "clause", draft: other, order: REFERS } };
  const first: Part = { is: "clause", draft: other, order: { is: "named" } };
  return { parts: [first, { ...own, order: REFERS }, ...more] };
}

/** "test it" waits for what it is; "deploy once the parser is fixed" for the parser. */
function trailing(span: Span, main: Asked, { to }: Range): Order {
  const { tokens, lexicon } = span;
  const { has } = lexicon;
  if (to - main.rest === 1 && has.pronouns.has(tokens[main.rest]!.lower)) return REFERS;
  for (let at = main.rest; at < to; at += 1) {
    const { lower } = tokens[at]!;
    if (lower === "after" || lower === "once")
      return { ...aboutOf(span, { from: at + 1, to }), isDone: false };
    if (has.subordinators.has(lower)) break;
  }
  return main.order;
}

const LATER: ReadonlySet<Order["is"]> = new Set(["then", "finally", "about"]);
const REFERS: Order = { is: "previous", isNamed: false, of: 1 };
const EMPTY: Draft = { text: "", object: "", items: [], isUnbounded: false, files: [], names: [] };

type Drafted = { readonly draft: Draft; readonly constraint?: string };

function draftOf(
  span: Span,
  main: Pick<Asked, "verb" | "rest" | "object" | "subject">,
  range: Range,
): Drafted {
  const { verb, rest } = main;
  const phrase = phraseIn(span, verb, main.object ?? { from: rest, to: range.to });
  const { constraint, ...found } = phrase;
  const { subject } = main;
  const own = textOf(span, range);
  const text =
    subject && subject.to <= range.from && subject.from < range.from
      ? `${textOf(span, subject)} ${own}`
      : own;
  const isForEach = /^for (?:each|every|all)\b/i.test(text);
  const draft = {
    text,
    ...(verb !== undefined && { verb }),
    ...found,
    isUnbounded: found.isUnbounded || isForEach,
  };
  return { draft: { ...draft, ...namesIn(span, range) }, ...(constraint !== undefined && { constraint }) };
}

/** "build, test and deploy the app": each verb has the last one's object. */
function sharingObjects(parts: readonly Part[]): readonly Part[] {
  const found = [...parts];
  for (let at = found.length - 2; at >= 0; at -= 1) {
    const part = found[at]!;
    const next = found[at + 1]!;
    if (part.is !== "clause" || next.is !== "clause" || part.draft.verb === undefined) continue;
    if (part.draft.object !== "" || part.draft.items.length > 0 || next.order.is !== "none") continue;
    const { object, files, names } = next.draft;
    if (object === "" || /^(?:what|why|how|whether|where|if|that)\b/i.test(object)) continue;
    const draft: Draft = { ...EMPTY, files, names, object, text: `${part.draft.text} ${object}` };
    const { verb } = part.draft;
    const isUnbounded = next.draft.items.length === 0 && next.draft.isUnbounded;
    found[at] = { ...part, draft: { ...draft, verb, isUnbounded, ...countOf(next.draft) } };
    // "design and build it": what is looked into, or thought out, comes first.
    if (LOOKING.has(verb)) found[at + 1] = { ...next, order: REFERS };
  }
  return found;
}

const countOf = ({ count }: Draft) => (count === undefined ? {} : { count });
const LOOKING: ReadonlySet<string> = new Set(
  "design plan research investigate analyse analyze diagnose explore architect".split(" "),
);

/** Whether a bullet is a sentence about the thing above it: "it can hold 10 items", "must work offline". */
export function isTold(span: Span): boolean {
  const { tokens, lexicon } = span;
  if (isRequest(span) || lexicon.has.subordinators.has(tokens[0]?.lower ?? "")) return false;
  for (const { lower, kind } of tokens.slice(0, MAX_SUBJECT)) {
    if (lexicon.has.finite.has(lower) || SAYING.has(lower)) return true;
    if (kind === "break" || lower === ":" || lexicon.has.subordinators.has(lower)) return false;
  }
  return false;
}

const MAX_SUBJECT = 7;
/** What a thing does, that is not named by the same word in the plural. */
const SAYING: ReadonlySet<string> = new Set(
  "holds supports allows lets accepts requires handles remembers sends stores saves survives expires respects".split(
    " ",
  ),
);

/** Whether a text begins with an imperative that stands on its own, as a bullet may. */
export function isRequest(span: Span): boolean {
  const to = span.tokens.length;
  const lead = leadAt(span, 0, to);
  if (lead.negativeFrom !== undefined) return false;
  const imperative = imperativeAt(span, lead.at, to);
  if (imperative === undefined) return false;
  if (imperative.is === "sure" || lead.isAsked || lead.order !== "none") return true;
  if (imperative.is === "likely") return true;
  return (
    imperative.is === "bare" && to - lead.at > 1 && !SEPARATORS.has(span.tokens[imperative.rest]?.lower ?? "")
  );
}
