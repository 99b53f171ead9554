/** Is the request a list of orders? Then each item is a task; what stands around the list belongs to all of them. */
import { subjectOf } from "../wording.ts";
import { kindOf, type Lexicon, orderIn, type When, whenOf } from "./lexicon.ts";
import type { Part, RequestShape } from "./shape.ts";
import { linesOf, sentencesOf, type TextLine } from "./text.ts";

export const listed: RequestShape = (request, { lexicon, limits }) => {
  const list = listIn(linesOf(request));
  if (list === undefined) return undefined;
  const around = [list.before, list.after].flatMap(sentencesOf);
  if (!around.every((sentence) => isAround(sentence, lexicon))) return undefined;
  if (!mayLead(list.before, lexicon)) return undefined;
  const limiting = list.items.filter((words) => kindOf(words, lexicon) === "limit");
  const items = list.items.filter((words) => !limiting.includes(words));
  const orders = items.flatMap((words) => orderOf(words, lexicon) ?? []);
  if (items.length < 2 || orders.length < items.length) return undefined;
  return {
    parts: items.map((words, at): Part => {
      const after = list.isNumbered ? [at - 1].filter((before) => before >= 0) : waitsFor(at, orders);
      return { subject: subjectOf(orders[at]!.text, limits.maxSubjectChars), words, after };
    }),
    shared: [...around, ...limiting],
    assumptions: list.isNumbered ? ["The numbers of the list are taken as an order."] : [],
  };
};

type List = {
  readonly before: string;
  readonly items: readonly string[];
  readonly after: string;
  readonly isNumbered: boolean;
};

/** One list, with nothing around it but sentences. What is indented below an item belongs to the item. */
function listIn(lines: readonly TextLine[]): List | undefined {
  const first = lines.findIndex(({ is }) => is === "item");
  const top = lines[first];
  if (top?.is !== "item") return undefined;
  const items: string[][] = [];
  let end = first;
  for (; end < lines.length; end += 1) {
    const line = lines[end]!;
    if (line.is === "item" && line.in <= top.in) {
      if (line.isNumbered !== top.isNumbered) return undefined;
      items.push([line.text]);
    } else if (line.is === "blank" || line.is === "item" || isBelow(line.text, top.in)) {
      items.at(-1)!.push(asWritten(line));
    } else break;
  }
  const outside = [...lines.slice(0, first), ...lines.slice(end)];
  if (outside.some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const textOf = (some: readonly TextLine[]) =>
    some
      .map(({ text }) => text)
      .join("\n")
      .trim();
  return {
    before: textOf(lines.slice(0, first)),
    items: items.map((item) => item.join("\n").trim()),
    after: textOf(lines.slice(end)),
    isNumbered: top.isNumbered,
  };
}

const isBelow = (text: string, indent: number) => /^[ \t]*/.exec(text)![0].length > indent;

const asWritten = (line: TextLine): string =>
  line.is === "item" ? `${" ".repeat(line.in)}- ${line.text}` : line.text;

/** A sentence that asks for work of its own, but for a lead that ends in a colon, is none that all tasks carry. */
const isAround = (sentence: string, lexicon: Lexicon): boolean =>
  sentence.endsWith(":") || ["limit", "statement"].includes(kindOf(sentence, lexicon));

/** "Steps to reproduce:" leads to a story, "When I do this:" and "Steps:" too. */
const mayLead = (before: string, { story }: Lexicon): boolean =>
  !story.test(before.slice(-MAX_LEAD_CHARS)) && !/(?:^|\n)\s*steps:?\s*$/i.test(before);
const MAX_LEAD_CHARS = 2_000;

type ItemOrder = { readonly text: string; readonly verb: string; readonly when?: When };

function orderOf(words: string, lexicon: Lexicon): ItemOrder | undefined {
  const at = whenOf(words, lexicon);
  const [text = ""] = sentencesOf(at?.rest ?? words);
  const order = orderIn(text, lexicon);
  return order && { text, verb: order.verb.toLowerCase(), ...(at && { when: at.when }) };
}

/** What these do is done to what the others made. */
const CLOSING =
  /^(?:(?:add|write|create|extend)\s+(?:\w+\s+){0,2}tests?\b|test\b|verify\b|validate\b|document\b|(?:update|write|extend|add)\s+(?:\w+\s+){0,2}(?:docs?|documentation|readme|changelog)\b)/i;
const LAST = /^(?:release|publish|deploy|tag|roll out)\b/i;
/** What is left over, what breaks, who calls it, what is old then: all of it comes from the items before. */
const FOLLOWS =
  /\b(?:whatever|everything|the rest|the above|accordingly|afterwards?|what(?:ever)? (?:breaks|fails|is left)|callers?|usages|call sites|the new)\b|^(?:remove|delete|drop|clean up)\b.*\b(?:old|legacy|obsolete|unused|dead)\b/i;
/** "Use it in the server", "write a reader for them". */
const POINTS_BACK =
  /^\S+\s+(?:it|them|these|those)\b|\b(?:for|to|from|of|with|in|on|using|into)\s+(?:it|them|these|those|this|that)(?=[\s.,;]*$|[.,;])/i;

/** Items without numbers run side by side, but for those that say that they follow. */
function waitsFor(at: number, all: readonly ItemOrder[]): readonly number[] {
  const { text, when } = all[at]!;
  const before = all.slice(0, at).map((_, index) => index);
  if (when === "finally" || LAST.test(text) || FOLLOWS.test(text)) return before;
  if (CLOSING.test(text)) return before.filter((index) => !CLOSING.test(all[index]!.text));
  return when === "then" || POINTS_BACK.test(text) ? before.slice(-1) : [];
}
