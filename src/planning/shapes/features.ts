/** Splits a request for one thing with several parts: "Build x with a, b and c", or a word that stands for parts. */
import { subjectOf, withoutArticle } from "../wording.ts";
import { kindOf, type Lexicon, type Order, orderIn } from "./lexicon.ts";
import { limitAlone, withoutLimits } from "./limits.ts";
import type { RequestShape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const features: RequestShape = (request, { lexicon, limits }) => {
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const sentences = sentencesOf(request);
  const orders = sentences.flatMap((sentence) => {
    const order = limitAlone(sentence) ? undefined : orderIn(withoutLimits(sentence).text, lexicon);
    return order ? [{ sentence, order }] : [];
  });
  const [only] = orders;
  if (only === undefined || orders.length > 1) return undefined;
  const limited = withoutLimits(only.sentence);
  const order = orderIn(limited.text, lexicon) ?? only.order;
  // Sentences before the order explain it; a sentence after it that is not a limit may ask for more.
  const behind = sentences.slice(sentences.indexOf(only.sentence) + 1);
  if (!behind.every((sentence) => kindOf(sentence, lexicon) === "limit")) return undefined;
  if (sentences.some((sentence) => kindOf(sentence, lexicon) === "unclear")) return undefined;
  if (!lexicon.words.verbs.build.includes(order.verb.toLowerCase())) return undefined;
  const found = partsIn(order, lexicon);
  if (found === undefined) return undefined;
  const { items, of } = found;
  return {
    parts: items.map((item) => ({
      subject: subjectOf(`Implement ${item} ${of}`, limits.maxSubjectChars),
      words: only.sentence,
      says:
        `Implement only this part: ${item}. Other tasks do the rest: ${others(items, item)}. ` +
        "What the parts share and is not there yet, make as small as it can be.",
      after: [],
    })),
    shared: sentences.filter((sentence) => sentence !== only.sentence),
    limits: limited.limits,
    assumptions: [],
  };
};

const others = (items: readonly string[], item: string): string =>
  items.filter((one) => one !== item).join(", ");

/** `of`: the thing that they are parts of, as in "for the calculator". */
type Parts = { readonly items: readonly string[]; readonly of: string };

function partsIn(order: Order, lexicon: Lexicon): Parts | undefined {
  const object = order.object.replace(/\s+/g, " ").replace(/[.!?\s]+$/, "");
  if (object.length > MAX_OBJECT_CHARS || /[`"():;]/.test(object)) return undefined;
  if (ORDERED.test(object)) return undefined; // The text names another step, which is not a part of the thing.
  return withList(object, lexicon) ?? familyIn(object, lexicon);
}

const MAX_OBJECT_CHARS = 400;
const ORDERED = /\b(?:then|afterwards?|after|before|once|finally|later)\b/i;
const MIN_ITEMS = 3;

/** At least three parts: "with care and attention" has none, and two are seldom worth a task each. */
function withList(object: string, { words }: Lexicon): Parts | undefined {
  const begin = new RegExp(`^(.{1,80}?) (?:${words.lists.with.map(RegExp.escape).join("|")}) (.+)$`, "i");
  const [, thing = "", list = ""] = begin.exec(object) ?? [];
  const items = list
    .split(/,\s*(?:and\s+|or\s+)?|\s+and\s+/)
    .map((item) => withoutArticle(item.trim()))
    // Tests of the parts are written with the parts.
    .filter((item) => !/^(?:etc\.?|so on|more)?$|^(?:\w+ ){0,2}tests?$/i.test(item));
  if (!list.includes(",") || items.length < MIN_ITEMS || new Set(items).size < items.length) return undefined;
  const hasFields = [thing, ...items].some((text) => words.lists.fields.includes(lastWord(text)));
  if (hasFields || !items.every(isPart)) return undefined;
  return { items, of: `for the ${withoutArticle(thing)}` };
}

const lastWord = (text: string): string => text.slice(text.lastIndexOf(" ") + 1).toLowerCase();

const MAX_PART_WORDS = 4;
/** A part is a name of a few words; a longer text is not a part. */
const isPart = (item: string): boolean =>
  item.split(" ").length <= MAX_PART_WORDS &&
  !/\b(?:that|which|who|so|to|from|using|when|if|for|in|of|by|is|are|no|not|only|its?|each|all)\b|\d/i.test(
    item,
  );

/** "CRUD operations for users", "basic operations", "user auth": the last thing that is named before "for" or "to". */
function familyIn(object: string, { words }: Lexicon): Parts | undefined {
  const [, thing = "", rest = ""] = /^(.+?)((?: (?:for|to|of|on|in) .+)?)$/i.exec(object) ?? [];
  for (const [name, items] of words.families) {
    const ends = new RegExp(`(?:^| )${RegExp.escape(name)}(?: (?:${KINDS}))?$`, "i");
    if (!ends.test(thing) || thing.split(" ").length > MAX_FAMILY_WORDS) continue;
    return { items, of: rest.trim() || ofThing(thing, ends) };
  }
  return undefined;
}

const KINDS = "operations?|endpoints?|routes?|functions?|methods?|handlers?|api|pages?|support|feature|flow";
const MAX_FAMILY_WORDS = 6;

/** "calculator with basic operations" is for the calculator; "user auth" is the thing itself. */
function ofThing(thing: string, ends: RegExp): string {
  const [, before] = /^(.+) (?:with|including)$/i.exec(thing.replace(ends, "")) ?? [];
  return before === undefined ? `(${withoutArticle(thing)})` : `for the ${withoutArticle(before)}`;
}
