/** Where does a clause end? Before an imperative that "and" or a comma joins to it, not within a list. */

import type { Asked } from "./found.ts";
import { type Imperative, imperativeAt, isStatement, lettingAt } from "./imperative.ts";
import { type Lead, leadAt } from "./lead.ts";
import { phraseAt } from "./lexicon.ts";
import { afterModal } from "./main-verb.ts";
import type { Span } from "./span.ts";

/** What was seen of the clause so far. */
type Seen = {
  /** After "with", of things that are called like verbs: "with create, read, update". */
  isVerbalList: boolean;
  isAfterColon: boolean;
  /** Within "that …", "when …": */
  isSubordinate: boolean;
  /** within "so that users can …": */
  hasModal: boolean;
  /** within "to support …": */
  isInfinitive: boolean;
  /** of a program, which may do several things. */
  isProgram: boolean;
  /** of what "it should" do, in words of which one is surely a verb. */
  readonly isVerbs: boolean;
  readonly isDefinite: boolean;
  /** Its object begins with a file, there: */
  readonly isFile: boolean;
  readonly rest: number;
};

/** The comma or "and" that ends it, or `to`. */
export function boundaryAfter(span: Span, main: Asked, to: number): number {
  const { tokens } = span;
  const seen: Seen = {
    isVerbalList: false,
    isAfterColon: false,
    isSubordinate: false,
    hasModal: false,
    isInfinitive: false,
    isProgram: false,
    isVerbs: main.subject !== undefined && listsVerbs(span, main.rest, to),
    isDefinite: isDefinite(span, main.rest),
    isFile: tokens[main.rest]?.kind === "path",
    rest: main.rest,
  };
  for (let at = main.rest; at < to; at += 1) {
    const { lower, isInside } = tokens[at]!;
    if (isInside) continue;
    if (JOINS.has(lower) && endsAt(span, { at, to, main, seen })) return at;
    note(span, at, to, seen);
  }
  return to;
}

const JOINS: ReadonlySet<string> = new Set([",", "and", "but", "then", "plus", "&", "—", "–", "-", "also"]);

const isDefinite = ({ tokens, lexicon }: Span, at: number) => {
  const token = tokens[at];
  if (!token) return false;
  if (token.kind === "path" || token.kind === "code" || token.kind === "quote") return true;
  return lexicon.has.determiners.has(token.lower) || lexicon.has.pronouns.has(token.lower);
};

function note({ tokens, lexicon, text }: Span, at: number, to: number, seen: Seen): void {
  const { lower, end } = tokens[at]!;
  const next = tokens[at + 1]?.lower ?? "";
  const length = phraseAt(lexicon.phrases.with, tokens, at, to);
  if (length > 0 && lexicon.verbs.has(tokens[at + length]?.lower ?? "")) seen.isVerbalList = true;
  if (lower === ":" && /\s/.test(text[end] ?? "")) seen.isAfterColon = true;
  if (lower === "to" && lexicon.verbs.has(next)) {
    seen.isInfinitive = true;
    seen.isProgram ||= PROGRAMS.has(tokens[at - 1]?.lower ?? "");
  }
  if (lexicon.has.subordinators.has(lower) && !ORDERS.has(lower)) seen.isSubordinate = true;
  if (seen.isSubordinate && MODALS.has(lower)) seen.hasModal = true;
}

const PROGRAMS: ReadonlySet<string> = new Set(
  "script command tool job function bot program cli macro cronjob cron task trigger hook action utility".split(
    " ",
  ),
);
/** What a program hardly does, and who is asked for one does: "a script to export the data and document it". */
export const OURS: ReadonlySet<string> = new Set(
  "add fix write document test implement refactor create review deploy release publish bump rename migrate".split(
    " ",
  ),
);

const ORDERS: ReadonlySet<string> = new Set(["before", "after", "once", "as"]);
const MODALS: ReadonlySet<string> = new Set([
  "can",
  "could",
  "will",
  "would",
  "may",
  "might",
  "should",
  "must",
  "to",
]);

type Here = { readonly at: number; readonly to: number; readonly main: Asked; readonly seen: Seen };

function endsAt(span: Span, { at, to, main, seen }: Here): boolean {
  const lead = leadAt(span, at, to);
  if (lead.negativeFrom !== undefined) return beginsConstraint(span, lead, seen);
  const letting = main.subject && lettingAt(span, lead.at, to);
  const found = isShouted(span, lead.at) ? undefined : (imperativeAt(span, lead.at, to) ?? letting);
  if (found && !isStatement(span, lead.at, to)) {
    // "build, test and deploy the app": verbs without an object are all imperatives.
    if (at === main.rest && main.verb !== undefined && found.is !== "bare") return true;
    if (at === main.rest && main.verb !== undefined && isSeries(span, found, to)) return true;
    return isNext(span, { lead, found, seen });
  }
  if (seen.isAfterColon) return false;
  if (lead.isAsking && lead.at < to) return true;
  if (seen.isSubordinate && !lead.hasComma) return false;
  return (lead.hasComma || lead.hasWord) && afterModal(span, lead.at, to, { is: "none" }) !== undefined;
}

/** "list the last 10, filter by date and export CSV": not "show the order total and export date". */
function listsVerbs(span: Span, from: number, to: number): boolean {
  const { tokens, lexicon, text } = span;
  const end = Math.min(to, from + MAX_LISTED);
  for (let at = from; at < end; at += 1) {
    if (tokens[at]!.isInside || !JOINS.has(tokens[at]!.lower)) continue;
    const lead = leadAt(span, at, to);
    const found = imperativeAt(span, lead.at, to) ?? lettingAt(span, lead.at, to);
    const next = found && tokens[found.rest];
    if (!next || found.is === "bare") continue;
    if (found.is !== "maybe" || lexicon.has.prepositions.has(next.lower)) return true;
    if (/^[A-Z]{2,}$/.test(text.slice(next.start, next.end))) return true;
  }
  return false;
}

const MAX_LISTED = 60;

/** "GET, PUT and DELETE requests": a name among words that are not written so. */
function isShouted({ text, tokens }: Span, at: number): boolean {
  const [own, next] = [tokens[at], tokens[at + 1]].map((one) => (one ? text.slice(one.start, one.end) : ""));
  return /^[A-Z]{2,}$/.test(own!) && /^[a-z]/.test(next!);
}

/** A verb without an object, and another behind it that has one, or that is the last. */
function isSeries(span: Span, found: Imperative, to: number): boolean {
  if (found.rest >= to) return true;
  const lead = leadAt(span, found.rest, to);
  return imperativeAt(span, lead.at, to) !== undefined;
}

type Candidate = { readonly lead: Lead; readonly found: Imperative; readonly seen: Seen };

function isNext(span: Span, { lead, found, seen }: Candidate): boolean {
  if (lead.order !== "none" || lead.isAsked) return true;
  if (seen.isAfterColon || seen.isVerbalList) return false;
  const isSure = found.is === "sure";
  if (seen.isSubordinate) return isSure && (lead.hasComma || !seen.hasModal);
  if (seen.isProgram && !lead.hasComma && !OURS.has(found.verb)) return false;
  if (seen.isInfinitive) return isSure || (lead.hasComma && found.is === "likely");
  if (isSure || found.is === "likely" || (found.is === "maybe" && seen.isVerbs)) return true;
  // "update models.py, filter the rest": a file is whole by itself.
  if (found.is === "maybe") return lead.hasComma && seen.isFile && lead.from === seen.rest + 1;
  if (found.is !== "bare" || !lead.hasWord || !seen.isDefinite) return false;
  const isLast = found.rest >= span.tokens.length || /^[.!?…\n]$/.test(span.tokens[found.rest]!.lower);
  return isLast && !span.lexicon.weak.has(span.tokens[lead.at]!.lower);
}

/** "no" and "not" after "and" alone go on with what was before: "no docs and no tests". */
function beginsConstraint({ tokens }: Span, { negativeFrom, hasComma }: Lead, seen: Seen): boolean {
  const { lower } = tokens[negativeFrom!]!;
  if (seen.isSubordinate && !hasComma) return false;
  return hasComma || !(lower === "no" || lower === "not" || lower === "nothing" || lower === "with");
}

/** A denial reaches over "and": only a comma, a "but" or a new denial ends it. */
export function constraintEnd(span: Span, from: number, to: number): number {
  const { tokens } = span;
  for (let at = from + 1; at < to; at += 1) {
    const { lower, isInside } = tokens[at]!;
    if (isInside || !JOINS.has(lower)) continue;
    const lead = leadAt(span, at, to);
    if (lead.negativeFrom !== undefined) return at;
    const isParted = lead.hasComma || lower === "but" || lead.order !== "none";
    const found = isParted ? imperativeAt(span, lead.at, to) : undefined;
    if (found && (found.is === "sure" || lead.isAsked || lead.order !== "none")) return at;
  }
  return to;
}
