/** Splits a request into lists of orders, by its headings if it has any, and the text around them. */
import { type Lexicon, orderIn } from "./lexicon.ts";
import { linesOf, type TextLine } from "./text.ts";

export type List = {
  /** The heading above the list, as it was written. */
  readonly heading?: string;
  readonly items: readonly string[];
  readonly isNumbered: boolean;
  /** All items have a checkbox. */
  readonly isBoxed: boolean;
  /** The list is the text below a heading that is an order itself. */
  readonly isText?: true;
};

export type Sections = {
  readonly lists: readonly List[];
  /** Texts beside the lists, which must not contain further orders. */
  readonly around: readonly string[];
  /** Lines that apply to all parts, whatever they say: finished work, acceptance criteria, background. */
  readonly aside: readonly string[];
  /** The text above the first list, which leads to it. */
  readonly lead: string;
  /** The text below the last list, which may order work on the lists' results. */
  readonly tail: string;
};

/** Undefined if the request contains something else: a form, code, a quote or a table. */
export function sectionsIn(request: string, lexicon: Lexicon): Sections | undefined {
  const lines = linesOf(request);
  const isHeaded = lines.some(({ is }) => is === "heading");
  if (!isHeaded) return one(lines);
  if (/^(?:```|~~~)/m.test(request)) return undefined; // Text in a code block may look like a heading.
  const found = bySection(lines).map((section) => sectionOf(section, lexicon));
  if (found.includes(undefined)) return undefined;
  const whole = found as readonly Sections[];
  const last = whole.findLast(({ lists }) => lists.length > 0);
  return {
    lists: whole.flatMap(({ lists }) => lists),
    around: whole.flatMap((section) => [...section.around, ...(section === last ? [] : [section.tail])]),
    aside: whole.flatMap(({ aside }) => aside),
    lead: whole.map(({ lead }) => lead).join("\n"),
    tail: last?.tail ?? "",
  };
}

const bySection = (lines: readonly TextLine[]): readonly (readonly TextLine[])[] =>
  lines.reduce<TextLine[][]>((all, line) => {
    if (line.is === "heading" || all.length === 0) all.push([line]);
    else all.at(-1)!.push(line);
    return all;
  }, []);

/** Headings of forms, reports and change lists, whose text is not an order. */
const FORM =
  /\b(?:bugs?|describe|description|environment|versions?|system|steps|reproduc\w+|repro|expected|actual|current|behaviou?r|logs?|stack ?trace|screenshots?|checklist before|package|summary|what happened|workaround|example|issue|unreleased|added|changed|fixed|removed|deprecated|security)\b|\d+\.\d+|\?$/i;
/** Headings of text that applies to all the work. */
const ASIDE =
  /\b(?:acceptance|criteria|constraints?|context|background|motivation|why|goals?|non-goals|notes?|out of scope|requirements|definition of done|rules|guidelines|overview|introduction)\b/i;

const titleOf = (heading: string): string => heading.replace(/^[\s#*]+|[\s*:#]+$/g, "");

/** The heading without a number such as "2." or "Phase 2:". */
export const withoutNumber = (title: string): string =>
  title.replace(/^(?:\d{1,2}[.)]|(?:phase|step|part|stage)\s+\d{1,2}\s*[:.—–-]?)\s*/i, "");

function sectionOf(section: readonly TextLine[], lexicon: Lexicon): Sections | undefined {
  const [head, ...body] = section;
  if (head?.is !== "heading") return one(section);
  const title = titleOf(head.text);
  const texts = section.map(({ text }) => text).filter((text) => text.trim() !== "");
  if (ASIDE.test(title)) return { lists: [], around: [], aside: texts, lead: "", tail: "" };
  const order = orderIn(withoutNumber(title), lexicon);
  if (order === undefined && (FORM.test(title) || lexicon.story.test(title))) return undefined;
  const isText = body.every(({ is }) => is === "text" || is === "blank");
  if (order !== undefined && isText && body.some(({ is }) => is === "text")) {
    const words = texts.join("\n");
    const list = {
      items: [words],
      isNumbered: false,
      isBoxed: false,
      isText: true as const,
      heading: head.text,
    };
    return { lists: [list], around: [], aside: [], lead: "", tail: "" };
  }
  const read = one(body);
  if (read === undefined) return undefined;
  const lists = read.lists.map((list) => ({ ...list, heading: head.text }));
  // Each part of a list carries its heading.
  return { ...read, lists, aside: lists.length > 0 ? read.aside : [...read.aside, head.text] };
}

/** Lines with one list at most, and only sentences around it. Indented text below an item belongs to the item. */
function one(lines: readonly TextLine[]): Sections | undefined {
  const first = lines.findIndex(({ is }) => is === "item" || is === "ticked");
  if (first === -1)
    return lines.every(({ is }) => is === "text" || is === "blank")
      ? { lists: [], around: [textOf(lines)], aside: [], lead: textOf(lines), tail: "" }
      : undefined;
  const top = lines.find(({ is }) => is === "item");
  if (top?.is !== "item") return undefined;
  const items: string[][] = [];
  const ticked: string[] = [];
  const boxes: boolean[] = [];
  let end = first;
  for (; end < lines.length; end += 1) {
    const line = lines[end]!;
    if (line.is === "item" && line.in <= top.in) {
      if (line.isNumbered !== top.isNumbered) return undefined;
      items.push([line.text]);
      boxes.push(line.isBox);
    } else if (line.is === "ticked") ticked.push(line.text);
    else if (line.is === "blank" || line.is === "item" || isBelow(line.text, top.in)) {
      items.at(-1)?.push(asWritten(line));
    } else break;
  }
  const isBoxed = boxes.every(Boolean);
  const outside = [...lines.slice(0, first), ...lines.slice(end)];
  if (outside.some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  if (ticked.length > 0 && !isBoxed) return undefined;
  const lead = textOf(lines.slice(0, first));
  return {
    lists: [{ items: items.map((item) => item.join("\n").trim()), isNumbered: top.isNumbered, isBoxed }],
    around: [lead],
    aside: ticked,
    lead,
    tail: textOf(lines.slice(end)),
  };
}

const textOf = (some: readonly TextLine[]): string =>
  some
    .map(({ text }) => text)
    .join("\n")
    .trim();

const isBelow = (text: string, indent: number) => /^[ \t]*/.exec(text)![0].length > indent;

const asWritten = (line: TextLine): string =>
  line.is === "item" ? `${" ".repeat(line.in)}- ${line.text}` : line.text;
