/** Makes a task of each item if the request is a list of orders; the text around the list goes into all of them. */
import { subjectOf } from "../wording.ts";
import { carriedByAll, isThing, kindOf, type Lexicon, orderIn, type When, whenOf } from "./lexicon.ts";
import { inOneFile, isTests, togetherIn } from "./merge.ts";
import { type List, type Sections, sectionsIn, withoutNumber } from "./sections.ts";
import type { Part, RequestShape } from "./shape.ts";
import { sentencesOf } from "./text.ts";

export const listed: RequestShape = (request, { lexicon, limits, tree }) => {
  const sections = sectionsIn(request, lexicon);
  if (sections === undefined || sections.lists.length === 0) return undefined;
  const around = sections.around.flatMap(sentencesOf);
  if (!around.every((sentence) => isAround(sentence, lexicon))) return undefined;
  const tail = sentencesOf(sections.tail);
  if (!tail.every((sentence) => isAround(sentence, lexicon) || closes(sentence, lexicon))) return undefined;
  if (!mayLead(sections.lead, lexicon)) return undefined;
  const limiting = sections.lists.flatMap(({ items }) => items.filter((words) => isLimit(words, lexicon)));
  const parts = partsOf(sections, lexicon, (texts) => togetherIn(texts, tree));
  if (parts === undefined || parts.length < 2) return undefined;
  if (
    inOneFile(
      sections.lead,
      parts.map(({ text }) => text),
      tree,
      lexicon,
    )
  )
    return undefined;
  const closing = tail.filter((sentence) => closes(sentence, lexicon));
  const all = parts.map((_, at) => at);
  return {
    parts: [...parts, ...closing.map((text) => ({ text, words: text, after: all }))].map(
      ({ text, words, after }): Part => ({
        subject: subjectOf(whenOf(text, lexicon)?.rest ?? text, limits.maxSubjectChars),
        ...{ words, after },
      }),
    ),
    shared: [...around, ...tail.filter((one) => !closing.includes(one)), ...sections.aside, ...limiting],
    assumptions: sections.lists.some((list) => isInOrder(list, sections.lead))
      ? ["The numbers of the list are taken as an order."]
      : [],
  };
};

const isLimit = (words: string, lexicon: Lexicon): boolean => kindOf(words, lexicon) === "limit";

type ListedPart = { readonly text: string; readonly words: string; readonly after: readonly number[] };

/** Undefined if an item is not an order. */
function partsOf(
  { lists, lead, tail }: Sections,
  lexicon: Lexicon,
  together: (texts: readonly string[]) => readonly (readonly number[])[],
): readonly ListedPart[] | undefined {
  const parts: ListedPart[] = [];
  const isApart = TOLD_APART.test(lead) || TOLD_APART.test(tail);
  let phase: readonly number[] = [];
  for (const list of lists) {
    const items = list.items.filter((words) => !isLimit(words, lexicon));
    const read = items.map((words) => {
      if (isApart && orderIn(words, lexicon) === undefined && NO_WORK.test(words)) return undefined;
      return orderOf(words, list, lead, lexicon) ?? (isApart ? ownWork(words) : undefined);
    });
    if (read.includes(undefined)) return undefined;
    const orders = read as readonly ItemOrder[];
    const groups = together(list.isText ? orders.map(({ text }) => text) : items);
    const firsts = groups.map(([at]) => orders[at!]!);
    const begun = parts.length;
    for (const [at, group] of groups.entries()) {
      const own = isInOrder(list, lead) ? (at > 0 ? [at - 1] : []) : waitsFor(at, firsts);
      const words = group.map((place) => items[place]!).join("\n");
      const isHeaded = list.heading !== undefined && !list.isText;
      parts.push({
        text: firsts[at]!.text,
        words: isHeaded ? `${list.heading}\n${words}` : words,
        after: own.length > 0 ? own.map((place) => begun + place) : phase,
      });
    }
    if (list.heading !== undefined && PHASE.test(list.heading))
      phase = parts.flatMap((_, at) => (at >= begun ? [at] : []));
  }
  return parts;
}

/** "Do these in parallel:" or "In parallel:" leads to pieces of work; "when they run in parallel:" does not. */
const AT_ONCE =
  "^(?:please )?(?:(?:do|work on|tackle|take|handle) [\\w ]{1,30} )?in parallel(?:,? please)?:\\s*$";

/**
 * "One commit each", "each of these can be its own PR", "unrelated to each other": items under such words need no verb.
 */
const UNIT = "(?:commit|pr|pull request|merge request)";
const TOLD_APART = new RegExp(
  [
    `\\b(?:one|an?) ${UNIT} (?:each|apiece|for each|per (?:item|fix|point|line))\\b`,
    `\\beach(?: of (?:these|them)| one| item| fix| point)?(?: (?:can|could|should|must|may|to|be|gets?|in|as|is))* (?:its|their) own ${UNIT}\\b`,
    "\\b(?:unrelated|independent)(?: (?:to|of|from))? (?:each other|one another)\\b",
    AT_ONCE,
  ].join("|"),
  "im",
);
/** Under such words, numbers count the items without ordering them. */
const UNORDERED = new RegExp(
  `\\b(?:unrelated|independent)(?: (?:to|of|from))? (?:each other|one another)\\b|\\bin no particular order\\b|${AT_ONCE}`,
  "im",
);
const isInOrder = ({ isNumbered }: List, lead: string): boolean => isNumbered && !UNORDERED.test(lead);

/** An item that names a fault or a wish, without a verb of its own. */
const ownWork = (words: string): ItemOrder => ({ text: sentencesOf(words)[0] ?? words, verb: "" });

/** A question, a postponed item or a reference to another item is not work by itself. */
const NO_WORK =
  /\?|~~|\b(?:not now|not yet|later|ignore|skip|decided|discuss(?:ion|ed)?|see (?:above|below|\d)|same (?:as|for)|I think)\b/i;

/** Numbered headings are in order: "## Phase 2" comes after "## Phase 1". */
const PHASE = /\b(?:phase|step|stage|milestone)\s*\d/i;

/**
 * True for a lead that ends in a colon, and for a sentence that all tasks can carry because it asks for no work of its
 * own.
 */
const isAround = (sentence: string, lexicon: Lexicon): boolean =>
  sentence.endsWith(":") || carriedByAll(sentence, lexicon);

/** False for the lead of a story: "Steps to reproduce:", "When I do this:", "Steps:". */
const mayLead = (before: string, { story }: Lexicon): boolean =>
  !story.test(before.slice(-MAX_LEAD_CHARS)) && !/(?:^|\n)\s*steps:?\s*$/i.test(before);
const MAX_LEAD_CHARS = 2_000;

type ItemOrder = { readonly text: string; readonly verb: string; readonly when?: When };

function orderOf(words: string, list: List, lead: string, lexicon: Lexicon): ItemOrder | undefined {
  const at = whenOf(words, lexicon);
  const [line = ""] = words.split("\n", 1);
  const [first = ""] = list.isText ? [line] : sentencesOf(at?.rest ?? words);
  const text = list.isText ? withoutNumber(first.replace(/^[\s#*]+|[\s*:#]+$/g, "")) : first;
  const order = orderIn(text, lexicon);
  if (order && /\w/.test(order.object))
    return { text, verb: order.verb.toLowerCase(), ...(at && { when: at.when }) };
  if (!isThing(words, lexicon)) return undefined;
  if (list.isBoxed)
    return IS_DONE_WHEN.test(first) || IS_CHOICE.test(first) || ASKS_TO_TICK.test(lead)
      ? undefined
      : { text: first, verb: "" };
  if (list.items.length >= MIN_THINGS && isOfWork(lead)) return { text: first, verb: "" };
  const verb = makingVerb(lead, lexicon);
  return verb !== undefined && list.items.length >= MIN_THINGS && !list.isNumbered
    ? { text: `${verb} ${first}`, verb: verb.toLowerCase() }
    : undefined;
}

const MIN_THINGS = 3;

/** Checkboxes of a pull-request form, which say when the work is done. */
const IS_DONE_WHEN =
  /^(?:(?:all |unit |new |existing )*tests?\b.*\b(?:pass(?:es|ing)?|added|written|green)\b|(?:added|updated|reviewed|documented|tested|checked|ran)\b|(?:docs?|documentation|readme|changelog)\b.{0,20}\b(?:added|updated|entry)\b|(?:ci|lint(?:er)?|build)\b.{0,20}\b(?:pass(?:es)?|green|clean)\b|self-?review)/i;

/** Checkboxes of an issue form, which say what it is or where it was seen. */
const IS_CHOICE =
  /^(?:yes|no|other|question|bug(?: ?fix| report)?|(?:new )?feature(?: request)?|breaking change|docs|documentation|refactoring|chore|windows|linux|mac ?os|ios|android|chrome|firefox|safari|edge)\b[^\p{L}]*(?:\([^)]*\))?\W*$/iu;
const ASKS_TO_TICK =
  /(?:\?|\b(?:platforms?|os|operating systems?|browsers?|environments?|versions?|components?|severity|priority|types?(?: of .{1,20})?|affected|affects|checklist)\W*)\s*$/i;

/** "Next round:" or "Left for the launch:" leads to pieces of work; other leads list properties of one thing. */
const isOfWork = (lead: string): boolean => {
  const last = sentencesOf(lead).at(-1) ?? "";
  return last.endsWith(":") && OF_WORK.test(last);
};
const OF_WORK =
  /\b(?:to-?dos?|to do|left|remaining|outstanding|(?:still )?missing|backlog|road ?map|wish ?list|next (?:round|up|sprint|release|version|iteration|milestone|week|steps)|for (?:the |this )?(?:next )?(?:launch|sprint|release|milestone|iteration))\b/i;

/** The verb of a lead such as "Add these commands:", which lists things to make; undefined for a thing with fields. */
function makingVerb(lead: string, lexicon: Lexicon): string | undefined {
  const last = sentencesOf(lead).at(-1) ?? "";
  const order = last.endsWith(":") ? orderIn(last, lexicon) : undefined;
  if (order === undefined || !lexicon.words.verbs.build.includes(order.verb.toLowerCase())) return undefined;
  const nouns = order.object.toLowerCase().split(/[^a-z]+/);
  return nouns.some((noun) => lexicon.words.lists.fields.includes(noun)) ? undefined : order.verb;
}

/** Work on the results of the other items. */
const CLOSING =
  /^(?:test\b|verify\b|validate\b|document\b|(?:code[- ])?review\b|(?:update|write|extend|add)\s+(?:\w+\s+){0,2}(?:docs?|documentation|readme|changelog)\b)/i;
const LAST =
  /^(?:release|publish|deploy|tag|roll out)\b|^(?:review|audit)\s+(?:it|them|everything|the (?:changes?|results?|code|work|whole))\b/i;
/** Work on what is left over, breaks, calls the code or is outdated by the items before. */
const FOLLOWS =
  /\b(?:whatever|everything|the rest|the above|accordingly|afterwards?|what(?:ever)? (?:breaks|fails|is left)|callers?|usages|call sites|the new)\b|^(?:remove|delete|drop|clean up)\b.*\b(?:old|legacy|obsolete|unused|dead)\b/i;
/** "Use it in the server", "write a reader for them". */
const POINTS_BACK =
  /^\S+\s+(?:it|them|these|those)\b|\b(?:for|to|from|of|with|in|on|using|into)\s+(?:it|them|these|those|this|that)(?=[\s.,;]*$|[.,;])/i;

export const pointsBack = (text: string): boolean => POINTS_BACK.test(text) || FOLLOWS.test(text);

/** A sentence after a list that orders work on its results: "Finally, run all tests", "Update the changelog". */
export function closes(sentence: string, lexicon: Lexicon): boolean {
  const at = whenOf(sentence, lexicon);
  const order = orderIn(at?.rest ?? sentence, lexicon);
  if (order === undefined || kindOf(sentence, lexicon) === "limit") return false;
  return at?.when === "finally" || at?.when === "then" || isClosing(sentence) || LAST.test(sentence);
}

const isClosing = (text: string): boolean => CLOSING.test(text) || isTests(text);

/**
 * The items that an item waits for. Items without numbers run side by side, except those that refer to earlier ones.
 */
export function waitsFor(at: number, all: readonly ItemOrder[]): readonly number[] {
  const { text, when } = all[at]!;
  const before = all.slice(0, at).map((_, index) => index);
  if (when === "finally" || LAST.test(text) || FOLLOWS.test(text)) return before;
  if (isClosing(text)) return before.filter((index) => !isClosing(all[index]!.text));
  return when === "then" || POINTS_BACK.test(text) ? before.slice(-1) : [];
}
