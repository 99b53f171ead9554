/** Splits one sentence with several orders: "in parallel", "first …, then …", "(1) … (2) …", semicolons. */
import { readsIn, type Tree } from "../paths.ts";
import { subjectOf } from "../wording.ts";
import { carriedByAll, isThing, kindOf, type Lexicon, orderIn, whenOf } from "./lexicon.ts";
import { togetherIn } from "./merge.ts";
import type { RequestShape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const clauses: RequestShape = (request, { lexicon, limits, tree }) => {
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const sentences = sentencesOf(request);
  const inNumbers = sentences.filter((sentence) => NUMBERED.test(sentence) || AT_ONCE.test(sentence));
  const orders = inNumbers.length > 0 ? inNumbers : sentences.filter((one) => isOrder(one, lexicon));
  const [only] = orders;
  if (only === undefined || orders.length > 1 || only.length > MAX_CHARS) return undefined;
  const rest = sentences.filter((sentence) => sentence !== only);
  if (!rest.every((sentence) => carriedByAll(sentence, lexicon))) return undefined;
  const split = SPLITS.map((by) => by(only, { lexicon, tree })).find((found) => found !== undefined);
  if (split === undefined) return undefined;
  const groups = togetherIn(split.pieces, tree);
  if (groups.length < 2) return undefined;
  return {
    parts: groups.map((group, at) => {
      const text = group.map((place) => split.pieces[place]!).join("; ");
      return {
        subject: subjectOf(split.pieces[group[0]!]!, limits.maxSubjectChars),
        words: only,
        text,
        says: `Do only this part: ${split.isNumbered ? `${at + 1}. ` : ""}${text}. Other tasks do the rest of the sentence.`,
        after: split.isOrdered && at > 0 ? [at - 1] : [],
      };
    }),
    shared: rest,
    assumptions: split.isNumbered ? ["The numbers of the parts are taken as an order."] : [],
  };
};

const MAX_CHARS = 2_000;

const isOrder = (sentence: string, lexicon: Lexicon): boolean =>
  kindOf(whenOf(sentence, lexicon)?.rest ?? sentence, lexicon) === "order";

type Split = { readonly pieces: readonly string[]; readonly isOrdered: boolean; readonly isNumbered?: true };
type Around = { readonly lexicon: Lexicon; readonly tree: Tree };
type Splitter = (sentence: string, around: Around) => Split | undefined;

const withoutEnd = (text: string): string => text.trim().replace(/(?:[\s.,;!]|\band)+$/i, "");

/** "Do these in parallel: a, b, c": a row of pieces of work follows. */
const AT_ONCE =
  /^(?:please )?(?:do|work on|build|make|tackle|take|handle) [\w ]{1,30} in parallel(?:,? please)?:\s+/i;
/** "(1)", "2.", "(b)". */
const MARK = /(?:^|\s)(?:\(?\d{1,2}[.)]|\([a-z]\))\s+/;

/** A comma separates only names of things; orders in a row are separated by their verbs. */
const rowOf: Splitter = (sentence, { lexicon }) => {
  const lead = AT_ONCE.exec(sentence);
  if (lead === null) return undefined;
  const row = sentence.slice(lead[0].length);
  const isMarked = MARK.test(row);
  const by = isMarked ? new RegExp(MARK, "g") : /,(?:\s+and)?\s+|\s+and\s+/;
  const pieces = row
    .split(by)
    .map(withoutEnd)
    .filter((piece) => piece !== "");
  const isWork = (piece: string) =>
    orderIn(piece, lexicon) === undefined ? isThing(piece, lexicon) : isMarked;
  return pieces.length > 1 && pieces.every(isWork) ? { pieces, isOrdered: false } : undefined;
};

/** Undefined unless each piece is an order by itself, with an object. */
function ordersOf(pieces: readonly string[], isOrdered: boolean, { lexicon }: Around): Split | undefined {
  const said = pieces.map((piece) => withoutEnd(piece.replace(/^(?:and|also)\s+/i, "")));
  const isEach = said.every((piece) => /\w/.test(orderIn(piece, lexicon)?.object ?? ""));
  return said.length > 1 && isEach ? { pieces: said, isOrdered } : undefined;
}

/** "In parallel, add a, fix b and update c". A comma separates only if an order follows. */
const inParallel: Splitter = (sentence, around) => {
  const timed = whenOf(sentence, around.lexicon);
  const text =
    timed?.when === "meanwhile" ? timed.rest : /^(.+?),? (?:all )?in parallel[.!]?$/is.exec(sentence)?.[1];
  if (text === undefined) return undefined;
  const pieces: string[] = [];
  let from = 0;
  for (const { index, 0: mark } of text.matchAll(/\s*;\s+(?:and\s+)?|,\s+(?:and\s+)?|\s+and\s+/gi)) {
    if (!orderIn(text.slice(index + mark.length), around.lexicon)) continue;
    pieces.push(text.slice(from, index));
    from = index + mark.length;
  }
  return ordersOf([...pieces, text.slice(from)], false, around);
};

/** "First add a, then change b, and finally remove c". */
const inOrder: Splitter = (sentence, around) => {
  const timed = whenOf(sentence, around.lexicon);
  if (timed?.when !== "first") return undefined;
  const next = /[,;]\s+(?:and\s+)?(?:then|next|after that|afterwards|finally|lastly)\b,?\s+/i;
  return ordersOf(timed.rest.split(next), true, around);
};

const NUMBERED = /\(?\b1[.)]\s.*\s\(?2[.)]\s/s;

/** "Please (1) add a, (2) fix b". */
const numbered: Splitter = (sentence, around) => {
  if (!NUMBERED.test(sentence)) return undefined;
  const marks = [...sentence.matchAll(/(?:^|\s)\(?(\d{1,2})[.)]\s+/g)];
  if (!marks.every(([, number], at) => Number(number) === at + 1)) return undefined;
  const lead = sentence.slice(0, marks[0]!.index);
  if (around.lexicon.story.test(lead)) return undefined;
  if (lead !== "" && !/:\s*$/.test(lead) && lead.split(" ").length > MAX_LEAD_WORDS) return undefined;
  const pieces = marks.map(({ index, 0: mark }, at) =>
    sentence.slice(index + mark.length, marks[at + 1]?.index),
  );
  const said = pieces.map(withoutEnd);
  const isEach = said.every((piece) => orderIn(piece, around.lexicon) || isThing(piece, around.lexicon));
  const orders = said.filter((piece) => orderIn(piece, around.lexicon));
  const isWork = orders.length === said.length || (orders.length > 0 && !FAULT.test(sentence));
  return isEach && isWork && said.length > 1
    ? { pieces: said, isOrdered: true, isNumbered: true }
    : undefined;
};
/** Words of a fault report, which also numbers its steps. */
export const FAULT = /\b(?:crash|bug|error|fail|broken|hang|freez|wrong|blank)/i;
const MAX_LEAD_WORDS = 4;

const bySemicolons: Splitter = (sentence, around) =>
  sentence.includes(";") ? ordersOf(sentence.split(/\s*;\s+/), false, around) : undefined;

/** "Fix a in x.ts and also change y.ts": only if each order names files of its own. */
const also: Splitter = (sentence, around) => {
  const split = ordersOf(sentence.split(/,?\s+(?:and\s+)?also\s+/i), false, around);
  return split && areApart(split.pieces, around.tree) ? split : undefined;
};

const SPLITS: readonly Splitter[] = [inParallel, rowOf, inOrder, numbered, bySemicolons, also];

/** True if each text names files, and no two name the same. */
export function areApart(texts: readonly string[], tree: Tree): boolean {
  const named = texts.map((text) => readsIn(text, tree, 20));
  const all = named.flat();
  return named.every(({ length }) => length > 0) && new Set(all).size === all.length;
}
