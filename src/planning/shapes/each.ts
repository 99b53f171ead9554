/** Makes a task of each thing in a row that is separate work: "port a, b and c, each with its own test". */
import { contentOf, shares } from "../content.ts";
import { readsIn, type Tree } from "../paths.ts";
import { subjectOf, withoutArticle } from "../wording.ts";
import { inGroups } from "./groups.ts";
import { carriedByAll, kindOf, type Lexicon, type Order, orderIn, whenOf, wishIn } from "./lexicon.ts";
import { limitAlone, withoutLimits } from "./limits.ts";
import { closes } from "./listed.ts";
import type { Part, RequestShape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const each: RequestShape = (request, { lexicon, limits, tree }) => {
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const sentences = sentencesOf(request);
  const agents = agentsIn(sentences);
  if (agents === undefined && !isToldApart(withoutBrackets(request))) return undefined;
  const [found, more] = sentences.flatMap((sentence) => rowIn(sentence, { lexicon, tree }) ?? []);
  if (found === undefined || more !== undefined) return undefined;
  const { sentence, titleOf } = found;
  if (found.items.length > limits.maxTasksUnsaid) return undefined;
  const others = sentences.filter((one) => one !== sentence);
  const closing = others.filter((one) => isLast(one, lexicon));
  const shared = others.filter((one) => !closing.includes(one));
  if (!shared.every((one) => isOfAll(one, lexicon))) return undefined;
  const items = inTurn(found.items, shared);
  const needs = items.map((_, at) => needed(at, items, shared));
  const isFew = agents !== undefined && agents < items.length && needs.every(({ length }) => length === 0);
  const rows = isFew ? inGroups(items, agents) : items.map((item) => [item]);
  if (rows.length < 2) return undefined;
  const reads = readsIn([sentence, ...shared].join("\n"), tree, limits.maxContextFiles);
  const parts = rows.map((row, at): Part => {
    const item = row.join(", ");
    const rest = items.filter((other) => !row.includes(other)).join(", ");
    return {
      subject: subjectOf(titleOf(item), limits.maxSubjectChars),
      words: sentence,
      text: titleOf(item),
      says: `Do only this part: ${item}${item.endsWith("/") ? ", and what belongs to it alone elsewhere" : ""}. Other tasks do the rest: ${rest}. What is said of all or each of them, do for this one.`,
      reads,
      after: needs[at]!.filter((other) => other < at),
    };
  });
  const all = parts.map((_, at) => at);
  return {
    parts: [
      ...parts,
      ...closing.map((words): Part => {
        const text = whenOf(words, lexicon)?.rest ?? words;
        return { subject: subjectOf(text, limits.maxSubjectChars), words, after: all };
      }),
    ],
    shared,
    limits: withoutLimits(sentence).limits,
    assumptions: [],
  };
};

/** "Using 5 agents", after an order or alone: several agents mean several pieces of work. */
const agentsIn = (sentences: readonly string[]): number | undefined =>
  sentences
    .map((sentence) => limitAlone(sentence)?.agents ?? withoutLimits(sentence).agents)
    .find((agents) => agents !== undefined);

/** What a part is if it is separate work, and not a column or a message of one thing. */
const UNIT =
  "(?:(?:test |source |doc |docs |feature )?(?:files?|modules?|packages?|crates?|folders?|director(?:y|ies)|drivers?|backends?|services?|class(?:es)?|components?|plugins?|features?|prs?|pull requests?|branch(?:es)?|commits?|tasks?|agents?|lockfiles?|migrations?|tests?|suites?|pages?))\\b";
/** True if the request itself says that these are several pieces of work. */
const isToldApart = (text: string): boolean =>
  APART.test(text) || (LEADS.test(text) && APART_UNITS.some((units) => units.test(text)));

const APART =
  /\b(?:in parallel|separately|individually|independent(?:ly)?|share nothing|an? (?:\w+ ){1,3}for each(?= *(?:[.,;)]|$)))/im;
/**
 * Compiling these takes 7 ms, and as one pattern 18 ms, so they are tried only if one of their first words is present.
 */
const APART_UNITS: readonly RegExp[] = [
  new RegExp(`\\bseparate ${UNIT}`, "i"),
  new RegExp(`\\bone (?:\\w+ )?${UNIT} (?:each|per|for each)`, "i"),
  new RegExp(`\\b(?:its|their) own (?:\\w+ )?${UNIT}`, "i"),
  new RegExp(`\\b(?:each|every one)\\b[^.;]{0,60}\\b(?:with|gets|has|needs)\\b[^.;]{0,60}\\b${UNIT}`, "i"),
];
const LEADS = /\b(?:separate|one|own|each)\b/i;

/** Words in brackets explain a word; a comma in them separates no parts. */
const withoutBrackets = (text: string): string => text.replace(/\s*\([^()]*\)/g, "");

/** True if a sentence applies to every part: "CRUD for a, b and c. Each with tests."; also "register them". */
const isOfAll = (sentence: string, lexicon: Lexicon): boolean =>
  carriedByAll(sentence, lexicon) ||
  (kindOf(sentence, lexicon) === "order" && /\b(?:each|every one|them|all of them)\b/i.test(sentence));

const AFTER_ALL =
  /\b(?:when|once|after)\s+(?:the last\b[^,.;]{0,30}|all(?: of them| \w+){0,2}|everything|they(?: all)?)\s+(?:is|are|has|have)\s+(?:been\s+)?\w+/i;

/**
 * True if a sentence is about work after all parts: "Finally, update the docs", "x can go when the last one is merged".
 */
const isLast = (sentence: string, lexicon: Lexicon): boolean =>
  AFTER_ALL.test(sentence) || (closes(sentence, lexicon) && !/\beach\b/i.test(sentence));

type Row = {
  readonly sentence: string;
  readonly titleOf: (item: string) => string;
  readonly items: readonly string[];
};
type Around = { readonly lexicon: Lexicon; readonly tree: Tree };

/** The things in a row that one sentence orders. */
function rowIn(sentence: string, { lexicon, tree }: Around): Row | undefined {
  const said = whenOf(sentence, lexicon);
  const text = said === undefined || said.when === "meanwhile" ? (said?.rest ?? sentence) : undefined;
  if (text === undefined) return undefined;
  const folders = foldersIn(text, tree);
  if (folders !== undefined) {
    const { before, items } = folders;
    if (orderIn(before, lexicon) === undefined) return undefined;
    return { sentence, items, titleOf: (item) => `${before} in ${item}` };
  }
  const plain = withoutLimits(withoutBrackets(text)).text;
  const order = orderIn(plain, lexicon) ?? wishIn(plain, lexicon);
  if (order === undefined || !ONE_BY_ONE.test(order.verb)) return undefined;
  const row = namesIn(order, lexicon);
  if (row === undefined) return undefined;
  return { sentence, items: row.items, titleOf: (item) => `${order.verb} ${row.before}${item}${row.after}` };
}

/**
 * Verbs whose objects are made or changed one by one. What a program shows or sends to several things is one piece of
 * work.
 */
const ONE_BY_ONE =
  /^(?:add|build|convert|cover|create|develop|document|implement|introduce|migrate|modernize|port|redesign|refactor|replace|restyle|rewrite|support|test|translate|upgrade|write)$/i;

type Names = { readonly before: string; readonly items: readonly string[]; readonly after: string };

const MIN_ITEMS = 3;
const GOES_TO = /^(?:convert|migrate|port|translate|upgrade)$/i;
const MAX_OBJECT_CHARS = 400;
/** What ends the row. */
const END =
  /[,;]?\s+(?:like|as|from|following|using|with|by|so|that|which|while|where|until|because|since|if|via|based|—|–|-)\s|[:;]|,\s*(?:each|all|they|one|both|every|which|separate|individually|independently|no|not)\b|[.!?]\s*$/i;

/** "tests for a, b and c", "the a, the b and the c from x to y". */
function namesIn({ verb, object }: Order, lexicon: Lexicon): Names | undefined {
  const said = object.replace(/\s+/g, " ").split(END, 1)[0]!;
  if (said.length > MAX_OBJECT_CHARS || /["`]/.test(said)) return undefined;
  const pieces = said.split(/,\s*(?:and\s+)?|\s+and\s+/).map((piece) => piece.trim());
  // "… and c in the new style", "… and c to the new API".
  pieces.push(pieces.pop()!.split(GOES_TO.test(verb) ? /\s+(?:in|on|to|into|onto)\s+/ : /\s+in\s+/, 1)[0]!);
  if (pieces.length < MIN_ITEMS || !said.includes(",")) return undefined;
  const [, lead = "", first = pieces[0]!] = /^(.+ (?:for|to|of|in|on)) (.+)$/i.exec(pieces[0]!) ?? [];
  const written = [first, ...pieces.slice(1)];
  // "The map layer" is a noun and not an order to map.
  if (!written.every((item) => isName(item, lexicon))) return undefined;
  const named = written.map(withoutArticle);
  const [words, ...others] = named.map((item) => item.split(" ").length);
  // "Make the list show name, email and role": the words before the row do not belong to its first item.
  if (lead === "" && words! > Math.max(...others) + 1) return undefined;
  if (new Set(named).size < named.length || isOfFields(lead, lexicon)) return undefined;
  const { items, noun } = withoutNoun(named);
  const article = first === named[0] ? "" : "the ";
  return {
    before: `${lead === "" ? "" : `${lead} `}${article}`,
    items,
    after: noun === "" ? "" : ` ${noun}`,
  };
}

/** "Columns for name, email and role" are not separate work. */
const isOfFields = (lead: string, { words }: Lexicon): boolean =>
  lead
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((noun) => words.lists.fields.includes(noun));

const MAX_NAME_WORDS = 4;

function isName(item: string, lexicon: Lexicon): boolean {
  const words = item.toLowerCase().split(" ");
  return (
    /[\p{L}\p{N}]/u.test(item) &&
    withoutArticle(item).split(" ").length <= MAX_NAME_WORDS &&
    !words.some((word) => lexicon.finite.has(word) || NO_NAME.test(word)) &&
    !(words.length > 1 && orderIn(item, lexicon))
  );
}

const NO_NAME = /^(?:for|to|of|in|on|who|when|its?|each|all|only|not|no|etc\.?|more|so|tests?|docs)$/;

/** "pdf, docx and xlsx readers" are three readers; "users and dock appointments" have no noun in common. */
function withoutNoun(items: readonly string[]): { readonly items: readonly string[]; readonly noun: string } {
  const [last = "", noun = "", more] = items.at(-1)!.split(" ");
  const before = items.slice(0, -1);
  const isAlike = before.every((item) => !item.includes(" ") && isPlural(item) === isPlural(last));
  return isAlike && more === undefined && isPlural(noun)
    ? { items: [...before, last], noun: noun.replace(/ies$/, "y").replace(/s$/, "") }
    : { items, noun: "" };
}

const isPlural = (word: string): boolean => /[^s]s$/i.test(word);

/** "… in all 6 services (cmd/*)", "… in packages/*": the existing folders, if they are as many as the text says. */
function foldersIn(
  text: string,
  tree: Tree,
): { readonly before: string; readonly items: readonly string[] } | undefined {
  const found = FOLDERS.exec(text);
  if (found === null) return undefined;
  const [, before = "", number, parent = ""] = found;
  const isBelow = (path: string) => path.startsWith(parent) && !path.includes("/", parent.length);
  if ([...tree.files].some(isBelow)) return undefined; // Some of these files are not in a folder.
  const items = [...tree.folders].filter(
    (folder) => folder.startsWith(parent) && folder.indexOf("/", parent.length) === folder.length - 1,
  );
  if (items.length < 2 || (number !== undefined && Number(number) !== items.length)) return undefined;
  return { before, items: items.sort() };
}

const FOLDERS =
  /^((?:[^.;:]|\.(?=\w)){3,200}?)\s+(?:in|for|to|across|of)\s+(?:(?:each of|all of|all|each|every)\s+)?(?:(?:the|our|these)\s+)?(?:(\d{1,3})\s+)?(?:[\w-]+\s+){0,2}\(?`?((?:[\w.@-]+\/)+)\*\/?`?\)?(?=[\s,.;]|$)/i;

/** Parts that need other parts come after those that need none. */
const inTurn = (items: readonly string[], shared: readonly string[]): readonly string[] =>
  items
    .map((item, at) => ({ item, isLater: needed(at, items, shared).length > 0 }))
    .sort((a, b) => Number(a.isLater) - Number(b.isLater))
    .map(({ item }) => item);

/** "Appointments reference the other two": the indexes of the parts that this one needs. */
function needed(at: number, items: readonly string[], shared: readonly string[]): readonly number[] {
  const nouns = items.map(contentOf);
  const said = shared.flatMap((sentence) => {
    const needs = NEEDS.exec(sentence);
    if (needs === null) return [];
    const subject = contentOf(sentence.slice(0, needs.index));
    return shares(subject, nouns[at]!) > 0 ? [sentence.slice(needs.index)] : [];
  });
  return items.flatMap((_, other) => {
    const isNamed = said.some(
      (rest) => /\bothers?\b/i.test(rest) || shares(contentOf(rest), nouns[other]!) > 0,
    );
    return isNamed && other !== at ? [other] : [];
  });
}

const NEEDS =
  /\b(?:references?|refers? to|depends? on|needs?|uses?|builds? on|extends?|belongs? to|comes? after|waits? for)\b/i;
