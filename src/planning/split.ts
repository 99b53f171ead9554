/** Which parts is one clause made of? One for each thing that is listed, or that a word such as CRUD stands for. */
import type { Clause } from "./reading.ts";
import { capitalised, listed, theOne, withoutArticle } from "./wording.ts";
import type { Words } from "./words.ts";
import type { Work } from "./work.ts";

/** What one task of several does. */
export type Part = {
  /** An imperative sentence without its full stop. */
  readonly says: string;
  readonly item: string;
  /** What the others do, in short. */
  readonly others: readonly string[];
};

/** Empty: the clause is one thing. */
export function partsOf(clause: Clause, work: Work, words: Words): readonly Part[] {
  if (isOneDeliverable(clause, work)) return [];
  const family = familyOf(clause, work, words);
  if (family) return eachOf(family.items, (item) => `Implement ${item} for ${family.of}`);
  const items = [...new Set(clause.items)];
  if (items.length < 2) return [];
  return clause.itemsAre === "with" ? featuresOf(clause, work, items) : objectsOf(clause, items);
}

const eachOf = (items: readonly string[], say: (item: string) => string): readonly Part[] =>
  items.map((item) => ({ item, says: say(item), others: items.filter((other) => other !== item) }));

/** A document with three sections is one document; a report on one thing from three sides is one report. */
function isOneDeliverable({ itemsAre }: Clause, work: Work): boolean {
  return (
    itemsAre === "with" && (work === "docs" || work === "report" || work === "operate" || work === "verify")
  );
}

function featuresOf(clause: Clause, work: Work, items: readonly string[]): readonly Part[] {
  const object = clause.object.trim();
  if (work !== "build") return eachOf(items, (item) => sentence(clause, `${object} with ${item}`));
  const whole = theOne(object);
  if (object === "") return eachOf(items, (item) => `Implement ${item}`);
  const isCode = FUNCTIONS.test(object);
  return eachOf(
    items,
    (item) => `Implement ${isCode || ARITHMETIC.has(item) ? called(item) : item} for ${whole}`,
  );
}

/** Things whose parts are called. */
const FUNCTIONS = /\b(?:calculator|functions?|methods?)\b/i;
const ARITHMETIC: ReadonlySet<string> = new Set("add subtract multiply divide".split(" "));
const called = (item: string) => (/^[\w$.]+$/.test(item) ? `${item}()` : item);

/** "Add search and filters to the list": the object is what they have in common, if anything. */
function objectsOf(clause: Clause, items: readonly string[]): readonly Part[] {
  const tail = commonTail(clause, items);
  return eachOf(items, (item) => {
    if (startsWithVerb(item, clause)) return capitalised(item);
    return sentence(clause, tail === "" || item.endsWith(tail) ? item : `${item} ${tail}`);
  });
}

/** "fix these bugs: crash on start, wrong total" has "these bugs" as its object, which is none of the items. */
function commonTail({ object }: Clause, items: readonly string[]): string {
  if (object === "" || items.some((item) => object.includes(item))) return "";
  return PREPOSITION.test(object) ? object : "";
}

const PREPOSITION = /^(?:to|for|in|on|from|of|into|across|at|by|under|with|using|via|within)\s/i;
const startsWithVerb = (item: string, { verb }: Clause) =>
  verb === undefined || new RegExp(`^${RegExp.escape(verb)}\\s`, "i").test(item);

const sentence = ({ verb, text }: Clause, rest: string) =>
  verb === undefined ? text : `${capitalised(verb)} ${rest}`.trim();

type Family = { readonly items: readonly string[]; readonly of: string };

/** "CRUD operations for users", "user auth": the word must be what is built, not what is built for it. */
function familyOf(clause: Clause, work: Work, words: Words): Family | undefined {
  if (work !== "build" || clause.items.length > 1) return undefined;
  const item = clause.items[0];
  for (const phrase of item === undefined ? [clause.object] : [item, clause.object]) {
    const found = familyIn(phrase, words);
    if (!found) continue;
    const isItem = phrase === item && clause.itemsAre === "with";
    const of = isItem && found.of === "" ? theOne(clause.object) : found.of === "" ? found.called : found.of;
    const items = ARITHMETIC.has(found.items[0]!) ? found.items.map(called) : found.items;
    return { items, of };
  }
  return undefined;
}

const MAX_BEFORE = 3;

function familyIn(phrase: string, { families }: Words): (Family & { readonly called: string }) | undefined {
  const text = withoutArticle(phrase.slice(0, 300)).trim();
  const lower = text.toLowerCase();
  for (const [name, items] of [...families].sort(([a], [b]) => b.length - a.length)) {
    const at = wordAt(lower, name);
    if (at === -1 || text.slice(0, at).split(" ").length > MAX_BEFORE) continue;
    if (/\b(?:for|in|of|to|on|from|with|about|tests?)\b/i.test(text.slice(0, at))) continue;
    const rest = text
      .slice(at + name.length)
      .replace(PARTS, "")
      .trim();
    if (rest !== "" && !PREPOSITION.test(rest)) continue;
    const isArithmeticOrCrud = !/auth/.test(name);
    const of = isArithmeticOrCrud ? rest.replace(PREPOSITION, "") : "";
    return {
      items,
      of,
      called: isArithmeticOrCrud
        ? `the ${name} operations`.replace("operations operations", "operations").replace("crud", "CRUD")
        : text,
    };
  }
  return undefined;
}

const PARTS =
  /^\s*(?:operations?|endpoints?|api|apis|routes?|functions?|methods?|actions?|handlers?|flows?|system|module|support|features?)\b/i;

function wordAt(text: string, word: string): number {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const [before, after] = [text[at - 1] ?? " ", text[at + word.length] ?? " "];
    if (!/[\p{L}\p{N}_-]/u.test(before) && !/[\p{L}\p{N}_]/u.test(after)) return at;
  }
  return -1;
}

/** In words for who makes one part: what is left to others. */
export const othersIn = ({ others }: Part): string =>
  others.length > MAX_OTHERS
    ? `The other ${others.length} parts have tasks of their own; leave them.`
    : `Leave to their own tasks: ${listed(others)}.`;

const MAX_OTHERS = 12;
