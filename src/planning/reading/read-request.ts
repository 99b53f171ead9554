/** What does a request ask for? Its clauses, lists, files and order, found by published words. */
import { hasWord } from "../plain.ts";
import type { Reading } from "../reading.ts";
import { followsAll, isComplaint, isOfIt, workOf } from "../rules/work.ts";
import type { Words } from "../words.ts";
import { type Block, type Bullet, blocksOf } from "./blocks.ts";
import { isRequest, isTold, partsOf } from "./clauses.ts";
import { clean, joined } from "./clean.ts";
import { MAX_NAMES, type Order, type Part, plain, textOf } from "./draft.ts";
import { type Lexicon, lexiconOf } from "./lexicon.ts";
import { MAX_ITEMS, Sequence } from "./order.ts";
import { phraseIn } from "./phrase.ts";
import { sentencesOf } from "./sentences.ts";
import type { Span } from "./span.ts";
import { tokenise } from "./tokens.ts";

/**
 * Never throws, and takes time in proportion to the text.
 *
 * ```ts
 * readRequest("Fix the login bug, then add a test.", words).clauses; // fix; add, after it
 * ```
 */
export function readRequest(request: string, words: Words): Reading {
  const { text, leftOut } = clean(request);
  const lexicon = lexiconOf(words);
  const blocks = blocksOf(text);
  const read: Read = {
    lexicon,
    sequence: new Sequence(lexicon),
    constraints: new Set(),
    isForeign: isForeign(text, lexicon),
    lead: { is: "none" },
  };
  for (const block of blocks) readBlock(read, block);
  const told = blocks.map(toldIn).filter((one) => one !== "");
  if (read.sequence.size === 0 && read.constraints.size === 0) addWhole(read, told, blocks);
  return {
    text: told.join(" "),
    leftOut,
    partsLeftOut: read.sequence.leftOut,
    clauses: read.sequence.clauses(),
    constraints: [...read.constraints].slice(0, MAX_NAMES),
    pasted: blocks.flatMap((block) => (block.is === "pasted" ? [block.text] : [])),
  };
}

type Read = {
  readonly lexicon: Lexicon;
  sequence: Sequence;
  readonly constraints: Set<string>;
  /** Words that look English are not, in a text that is in another language. */
  readonly isForeign: boolean;
  /** What the list that may come belongs to. */
  lead: ListLead;
};

type ListLead =
  | { readonly is: "none" }
  /** "Features:", which asks for nothing itself. */
  | { readonly is: "label"; readonly text: string }
  /** The clause above. `isOpen`: it ends in a colon. */
  | { readonly is: "clause"; readonly isOpen: boolean }
  | { readonly is: "section"; readonly of: "constraints" | "context"; readonly isHeading: boolean };

function readBlock(read: Read, block: Block): void {
  if (block.is === "pasted") readPasted(read, block.text);
  else if (block.is === "list") readList(read, block.bullets);
  else readWritten(read, block.text.trim(), block.is === "heading");
}

function readWritten(read: Read, text: string, isHeading: boolean): void {
  const { lead } = read;
  const section = sectionOf(text, read.lexicon);
  if (section !== undefined) read.lead = { is: "section", of: section, isHeading };
  else if (!isHeading && lead.is === "section" && lead.isHeading) setAside(read, text, lead.of);
  else readText(read, text);
}

function readPasted(read: Read, text: string): void {
  // In code, what is between quotes and backticks are the names of files as often as not.
  const { tokens } = spanOf(text.replace(/["'`]/g, " "), read.lexicon);
  read.sequence.say("", tokens.flatMap(({ file }) => file ?? []).slice(0, MAX_NAMES));
}

const spanOf = (text: string, lexicon: Lexicon): Span => ({ text, lexicon, tokens: tokenise(text, lexicon) });

function sectionOf(text: string, { words }: Lexicon): "constraints" | "context" | undefined {
  const name = text.toLowerCase().replace(/[:*\s]{1,4}$/, "");
  if (name.length > 40) return undefined;
  if (words.sections.constraints.includes(name)) return "constraints";
  return words.sections.context.includes(name) ? "context" : undefined;
}

function setAside(read: Read, text: string, of: "constraints" | "context"): void {
  const span = spanOf(text, read.lexicon);
  const { text: whole, files } = plain(span, { from: 0, to: span.tokens.length });
  if (of === "constraints" && whole !== "") read.constraints.add(whole);
  else read.sequence.say(whole, files);
}

/** Sentences one after another; what the last one was decides what a list below it is. */
function readText(read: Read, text: string, order?: Order): void {
  const span = spanOf(text, read.lexicon);
  const isOpen = text.endsWith(":");
  read.lead = { is: "none" };
  if (read.isForeign) {
    read.sequence.say(joined(text), plain(span, { from: 0, to: span.tokens.length }).files);
    return;
  }
  for (const range of sentencesOf(span))
    for (const part of partsOf(span, range)) readPart(read, part, isOpen, order);
}

/** `order`: its place, if it says none itself. */
function readPart(read: Read, part: Part, isOpen: boolean, order?: Order): void {
  const rule = ruleIn(read, part);
  if (rule !== undefined) {
    read.constraints.add(rule);
    read.lead = { is: "none" };
  } else if (part.is === "clause") {
    const own = orderOf(read, part);
    read.sequence.add(part.draft, own.is === "none" && order ? order : own);
    read.lead = { is: "clause", isOpen };
  } else if (part.is === "constraint") {
    read.constraints.add(part.text);
    read.lead = { is: "none" };
  } else {
    read.sequence.say(part.draft.text, part.draft.files);
    read.lead = { is: "label", text: part.draft.text };
  }
}

/** "It should export CSV" after "add a page" waits for the page, and so does what else it should do. */
function orderOf({ sequence }: Read, { draft, order }: Extract<Part, { is: "clause" }>): Order {
  const last = sequence.lastDraft;
  if (!last || order.is !== "none" || !isOfIt(draft.text)) return order;
  if (isOfIt(last.text)) return { is: "alike" };
  return workOf(last) === "build" ? { is: "previous", isNamed: false, of: 1 } : order;
}

/** "Use Tailwind" after "create a page", "must be accessible", "out of scope: login": how, and no work of its own. */
function ruleIn({ sequence }: Read, part: Part): string | undefined {
  const { text, verb, items } = part.draft;
  if (part.is === "statement")
    return /^(?:(?:must|should) (?:be|have|work|run)\b|(?:out of|not in) scope:)/i.test(text)
      ? text
      : undefined;
  if (part.is !== "clause" || verb !== "use" || part.order.is !== "none" || items.length > 0)
    return undefined;
  return sequence.size > 0 && text.split(" ").length <= MAX_RULE_WORDS ? text : undefined;
}

const MAX_RULE_WORDS = 6;

function readList(read: Read, all: readonly Bullet[]): void {
  const kept = all.slice(0, MAX_ITEMS);
  read.sequence.leaveOut(all.length - kept.length);
  const { lead } = read;
  if (lead.is === "section") {
    for (const { text, parts } of kept) setAside(read, [text, ...parts].join(", "), lead.of);
    if (!lead.isHeading) read.lead = { is: "none" };
    return;
  }
  if (kept.every(({ text }) => SCENARIO.test(text))) {
    for (const { text } of kept) setAside(read, text, "context");
    return;
  }
  const bullets = lead.is === "clause" ? withoutMusts(read, kept) : kept;
  if (bullets.length > 0) readBullets(read, bullets, bullets.length < kept.length);
}

/** `areLater`: what is asked for there waits for the clause above, of which more was told. */
function readBullets(read: Read, bullets: readonly Bullet[], areLater: boolean): void {
  const { lead } = read;
  const spans = bullets.map(({ text }) => spanOf(text, read.lexicon));
  const requests = spans.filter((span) => isRequest(span)).length;
  const areRequests = !read.isForeign && requests * 2 >= bullets.length && requests > 0;
  if (areRequests && (areLater || !(lead.is === "clause" && ownsList(read, lead.isOpen))))
    readRequests(read, bullets, spans, areLater);
  else if (lead.is !== "clause" || areRequests || read.isForeign) readItems(read, bullets);
  else {
    const isKept = spans.map((span) => !isLast(span));
    readItems(
      read,
      bullets.filter((_, at) => isKept[at]),
    );
    const last = bullets.filter((_, at) => !isKept[at]);
    const spansOfLast = spans.filter((_, at) => !isKept[at]);
    if (last.length > 0) readRequests(read, last, spansOfLast, true);
  }
}

/** What must hold in the end, and no work of its own. */
const SCENARIO = /^(?:given|when|scenario)\b.{1,300}\bthen\b/i;

/** What is left of a list below a clause without what only tells more of it: that is no work of its own. */
function withoutMusts(read: Read, bullets: readonly Bullet[]): readonly Bullet[] {
  const { sequence, lexicon } = read;
  const draft = sequence.lastDraft;
  if (!draft || read.isForeign || isUmbrella(read, draft.object)) return bullets;
  const isNew = workOf(draft) === "build";
  const isMust = ({ text }: Bullet) => {
    const span = spanOf(text, lexicon);
    // Of what is there already, a sentence may say what is wrong: that is mended by itself.
    if (!isTold(span) || (!isNew && (isComplaint(text) || !WISHED.test(text)))) return false;
    const [first] = partsOf(span, { from: 0, to: span.tokens.length });
    return first?.is !== "constraint";
  };
  const musts = bullets.filter(isMust);
  sequence.must(musts.map(({ text, parts }) => joined([text, ...parts].join(", "))));
  for (const { text } of musts) {
    const span = spanOf(text, lexicon);
    sequence.say("", plain(span, { from: 0, to: span.tokens.length }).files);
  }
  return bullets.filter((bullet) => !musts.includes(bullet));
}

const WISHED = /\b(?:should|must|shall|can|may|will|needs? to|ha(?:s|ve) to)\b/i;

/** "Write tests" among things: what follows all the others. */
const isLast = (span: Span) => {
  const [first] = isRequest(span) ? partsOf(span, { from: 0, to: span.tokens.length }) : [];
  return first?.is === "clause" && followsAll(workOf(first.draft));
};

const isUmbrella = ({ lexicon }: Read, object: string) =>
  object
    .toLowerCase()
    .split(" ")
    .some((word) => lexicon.has.umbrella.has(word));

function readItems(read: Read, bullets: readonly Bullet[]): void {
  const { lead, sequence } = read;
  const items = itemsIn(read, bullets);
  if (lead.is === "clause" && sequence.size > 0) sequence.list(items);
  else if (items.length > 0) addList(read, items, lead.is === "label" ? lead.text : "");
}

/** "Refactor the parser:" has steps below it; "Fix these issues:" is what they are, said in one. */
function ownsList(read: Read, isOpen: boolean): boolean {
  const { sequence } = read;
  const draft = sequence.lastDraft;
  if (!draft || !isOpen) return false;
  const hasWith = / (?:with|including)\b/.test(draft.object);
  if ((isUmbrella(read, draft.object) && !hasWith) || draft.object === "") {
    sequence.takeBack();
    return false;
  }
  return true;
}

/** `areLater`: they wait for the clause above them. */
function readRequests(
  read: Read,
  bullets: readonly Bullet[],
  spans: readonly Span[],
  areLater: boolean,
): void {
  bullets.forEach(({ parts }, index) => {
    const span = spans[index]!;
    const before = read.sequence.size;
    const order: Order = index === 0 ? { is: "previous", isNamed: false, of: 1 } : { is: "alike" };
    if (isRequest(span)) readText(read, span.text, areLater ? order : undefined);
    else readThing(read, span);
    if (parts.length > 0 && read.sequence.size > before) read.sequence.list(parts.map(joined));
  });
  read.lead = { is: "none" };
}

/** Among requests: "dark mode" is one as well, "don't touch the API" is not. */
function readThing(read: Read, span: Span): void {
  const range = { from: 0, to: span.tokens.length };
  const [part] = partsOf(span, range);
  if (part?.is === "statement") read.sequence.add(part.draft, { is: "none" });
  else readText(read, span.text);
}

/** Constraints among them are none of the items. */
function itemsIn(read: Read, bullets: readonly Bullet[]): readonly string[] {
  const items: string[] = [];
  for (const { text, parts } of bullets) {
    const span = spanOf(text, read.lexicon);
    const range = { from: 0, to: span.tokens.length };
    const [first] = read.isForeign ? [] : partsOf(span, range);
    if (first?.is === "constraint") read.constraints.add(first.text);
    else {
      const below = parts.length === 0 ? "" : `: ${parts.map(joined).join(", ")}`;
      items.push(textOf(span, range) + below);
    }
    read.sequence.say("", plain(span, range).files);
  }
  return items.filter((item) => item !== "");
}

/** A list that no sentence asks for is asked for itself. */
function addList(read: Read, items: readonly string[], label: string): void {
  read.sequence.unsay(label);
  const text = label === "" ? items.join(", ") : label;
  const rest = { isUnbounded: false, files: [], names: [], itemsAre: "each" as const };
  read.sequence.add({ text, object: label, items, ...rest }, { is: "none" });
}

/** No imperative anywhere: all of it is one request, as it is. */
function addWhole(read: Read, said: readonly string[], blocks: readonly Block[]): void {
  const list = blocks.find(({ is }) => is === "list");
  const under = saidUnder(blocks);
  if (list?.is === "list" && under === undefined && !read.isForeign) {
    addList(
      read,
      list.bullets.slice(0, MAX_ITEMS).map(({ text }) => joined(text)),
      "",
    );
    return;
  }
  const told = under ?? said;
  const text = told.join(" ");
  if (!hasWord(text)) return;
  const span = spanOf(text, read.lexicon);
  const range = { from: 0, to: span.tokens.length };
  const draft = plain(span, range);
  const isOne = !read.isForeign && blocks.length === 1 && sentencesOf(span).length === 1;
  const { constraint: _, ...phrase } = isOne
    ? phraseIn(span, undefined, range)
    : { ...draft, constraint: "" };
  const { files } = read.sequence.said;
  read.sequence = new Sequence(read.lexicon);
  const all = [...new Set([...draft.files, ...files])];
  read.sequence.add({ ...draft, ...phrase, text: draft.text, files: all }, { is: "none" });
}

/** Of a form with headings, what stands under the first of them that says something. */
function saidUnder(blocks: readonly Block[]): readonly string[] | undefined {
  if (!blocks.some(({ is }) => is === "heading")) return undefined;
  const first = blocks.find((block) => block.is === "text" && /\S\s+\S+\s+\S/.test(block.text));
  return first?.is === "text" ? [joined(first.text)] : undefined;
}

function toldIn(block: Block): string {
  if (block.is === "pasted") return "";
  if (block.is !== "list") return joined(block.text);
  return block.bullets.map(({ text, parts }) => joined([text, ...parts].join(" "))).join(" ");
}

/** More words of other languages than of English, and not just one. */
function isForeign(text: string, { has }: Lexicon): boolean {
  let others = 0;
  let own = 0;
  for (const word of text.toLowerCase().split(/[^a-z\u00c0-\u024f]+/)) {
    if (has.otherLanguages.has(word)) others += 1;
    else if (has.determiners.has(word) || has.prepositions.has(word) || word === "and") own += 1;
  }
  return others > 1 && others > own;
}
