/** Which parts is one clause made of? One for each thing that is listed, or that a word such as CRUD stands for. */

import type { Clause } from "../reading.ts";
import type { Words } from "../words.ts";
import { familyOf } from "./families.ts";
import { capitalised, listed, theOne, uncapitalised } from "./wording.ts";
import { followsAll, isComplaint, type Work, workOf } from "./work.ts";

/** What one task of several does. */
export type Part = {
  /** An imperative sentence without its full stop. */
  readonly says: string;
  readonly item: string;
  /** Its own verb and object, where the item is an imperative itself. */
  readonly verb?: string;
  readonly object?: string;
  /** What the others do, in short. */
  readonly others: readonly string[];
  /** Parts by number that must be done first. */
  readonly after: readonly number[];
  /** How often the request was split to come to it, if not twice. */
  readonly depth?: number;
};

/** Empty: the clause is one thing. */
export function partsOf(clause: Clause, work: Work, words: Words): readonly Part[] {
  const family = work === "build" ? familyOf(clause, words) : undefined;
  if (family) return eachOf(family.items, (item) => ({ says: sayOperation(item, family.of) }));
  const items = [...new Set(clause.items)];
  if (items.length < 2 || isAboutAllAtOnce(clause) || isTakenApart(clause)) return [];
  const steps = stepsOf(clause, items, words);
  if (steps) return steps;
  if (clause.itemsAre === "with") return splitsWith(clause, work) ? featuresOf(clause, items, words) : [];
  return objectsOf(clause, items);
}

type Said = Pick<Part, "says"> & Partial<Pick<Part, "verb" | "object" | "after" | "depth">>;

const sayOperation = (item: string, of: string) => `Implement ${item}${of === "" ? "" : ` for ${of}`}`;

const eachOf = (items: readonly string[], say: (item: string, n: number) => Said): readonly Part[] =>
  items.map((item, n) => ({
    item,
    others: items.filter((other) => other !== item),
    after: [],
    ...say(item, n),
  }));

/** "Compare a.ts and b.ts" is one thing, however much it names. */
const TOGETHER: ReadonlySet<string> = new Set(
  "compare merge combine unify consolidate diff deduplicate dedupe join extract move swap sync connect share".split(
    " ",
  ),
);
export const isAboutAllAtOnce = ({ verb }: Pick<Clause, "verb">): boolean =>
  verb !== undefined && TOGETHER.has(verb);

/** "Split a.ts into two files: x and y" is one cut, whatever comes of it. */
const isTakenApart = ({ verb = "", object }: Clause) =>
  /^(?:split|break|divide|separate|cut)$/.test(verb) && /\binto\b/i.test(object);

/** A document with three sections is one document; only what is built, or grows, grows in parts. */
const splitsWith = ({ verb }: Clause, work: Work) =>
  work === "build" || (work === "change" && GROWING.has(verb ?? ""));
const GROWING: ReadonlySet<string> = new Set("extend enhance enrich expand augment complete".split(" "));

/** "migrate x: convert a, backfill b, remove c": each is asked for in words of its own. */
function stepsOf(
  clause: Clause,
  items: readonly string[],
  { actionVerbs }: Words,
): readonly Part[] | undefined {
  const steps = imperativesIn(items, new Set(actionVerbs));
  if (steps.length < 2 || steps.length * 2 <= items.length) return undefined;
  // To remove the old before the new is there is no migration: its steps come one after the other.
  const isInOrder = MOVING.has(clause.verb ?? "");
  return eachOf(steps, (item, n) => {
    const [verb, object] = verbAndObject(item);
    const isLast = followsAll(workOf({ verb, object, text: item, files: [] }));
    const after = isLast ? steps.slice(0, n).map((_, before) => before) : isInOrder && n > 0 ? [n - 1] : [];
    return { says: capitalised(item), verb, object, after };
  });
}

/** What begins with no verb goes on with what stands before it: "deploy to a", "b" is "deploy to a and b". */
function imperativesIn(items: readonly string[], verbs: ReadonlySet<string>): readonly string[] {
  const steps: string[] = [];
  for (const item of items) {
    const [verb, object] = verbAndObject(item);
    if (verbs.has(verb) && object !== "") steps.push(item);
    else if (steps.length === 0) return [];
    else steps.push(`${steps.pop()!} and ${item}`);
  }
  return steps;
}

function verbAndObject(item: string): readonly [string, string] {
  const line = item.trim();
  const blank = line.indexOf(" ");
  return blank === -1
    ? [line.toLowerCase(), ""]
    : [line.slice(0, blank).toLowerCase(), line.slice(blank + 1)];
}

const MOVING: ReadonlySet<string> = new Set(
  "migrate move port switch transition replace roll cut".split(" "),
);

/** What comes with something has to wait until there is something for it to come with. */
const COMPANION =
  /^(?:(?:a|an|the|some|good|full|proper|unit|integration|e2e|end-to-end|regression|automated|basic|input|structured|clear|its own)\s)*(?:tests?|test coverage|docs?|documentation|man pages?|examples?|readme|changelog(?: entry)?|error handling|error messages|logging|validation|monitoring|metrics|retries|accessibility|comments|type annotations|types)$/i;

function featuresOf(clause: Clause, items: readonly string[], words: Words): readonly Part[] {
  const object = clause.object.trim();
  const whole = wholeOf(clause);
  // CI does not come with tests: that it runs them is what is set up.
  const companions = isSetUp(clause) ? [] : items.filter((item) => COMPANION.test(item));
  const features = items.filter((item) => !companions.includes(item));
  const core: ReadonlyMap<string, Said> = new Map(
    features.length === 0
      ? [[object, { says: `${capitalised(clause.verb ?? "implement")} ${object}` }]]
      : features.flatMap(
          (item) => withinFeature(item, whole, words) ?? [[item, sayFeature(clause, item, whole)]],
        ),
  );
  const before = [...core.keys()].map((_, n) => n);
  return eachOf(
    [...core.keys(), ...companions],
    (item) => core.get(item) ?? { ...sayCompanion(item, whole), after: before },
  );
}

const isSetUp = ({ verb = "" }: Clause) => /^set ?up$/.test(verb);

/** A calculator is called "the calculator" also by who wrote "create calculator". */
const wholeOf = ({ object }: Clause) => theOne(object.trim().replace(/^(?=calculator$)/i, "the "));

/** "a REST API with CRUD endpoints" among others is four of its own. */
function withinFeature(
  item: string,
  whole: string,
  words: Words,
): readonly (readonly [string, Said])[] | undefined {
  const family = familyOf({ object: item, items: [] }, words);
  if (!family) return undefined;
  const of = family.of === "" || family.of === item ? whole : family.of;
  return family.items.map((one) => {
    const label = of === whole ? one : `${one} of ${of}`;
    return [
      label,
      { says: `Implement ${label}${of === whole && whole !== "" ? ` for ${whole}` : ""}`, depth: 3 },
    ];
  });
}

function sayCompanion(item: string, whole: string): Said {
  const verb = /\b(?:tests?|coverage|docs?|documentation|pages?|examples?|readme|changelog|comments)\b/i.test(
    item,
  )
    ? "write"
    : "add";
  return { says: `${capitalised(verb)} ${item} for ${whole}`, verb, object: `${item} for ${whole}` };
}

function sayFeature(clause: Clause, item: string, whole: string): Said {
  const { verb, object, items, text } = clause;
  if (text.startsWith(`${verb} ${object}:`) || text.startsWith(`${capitalised(verb ?? "")} ${object}:`))
    return { says: `${capitalised(verb ?? "implement")} ${object}: ${item}` };
  if (GROWING.has(verb ?? "")) return { says: `${capitalised(verb!)} ${object} with ${item}` };
  if (isSetUp(clause)) return { says: `Set up ${item}${whole === "" ? "" : ` for ${whole}`}` };
  const isCalled = FUNCTIONS.test(object) || items.every((one) => ARITHMETIC.has(one));
  return { says: sayOperation(isCalled ? called(item) : item, whole) };
}

/** Things whose parts are called. */
const FUNCTIONS = /\b(?:calculator|functions?|methods?)\b/i;
const ARITHMETIC: ReadonlySet<string> = new Set("add subtract multiply divide".split(" "));
const called = (item: string): string => (/^[\w$.]+$/.test(item) ? `${item}()` : item);

/** "Add search and filters to the list": what stands before the first or after the last is said of all. */
function objectsOf(clause: Clause, items: readonly string[]): readonly Part[] {
  const { heads, cores, tail } = sharedBy(clause, items);
  return eachOf(items, (item, n) => {
    const rest = [heads, cores[n]!, tail].filter((piece) => piece !== "").join(" ");
    return {
      says: sayObject(clause, item, rest),
      object: rest,
    };
  });
}

/** "Fix: the total is wrong": a sentence is no object. */
function sayObject({ verb }: Clause, item: string, rest: string): string {
  if (verb === undefined) return sayThing(item);
  const isSentence = rest === item && SENTENCE.test(item.slice(0, 200));
  return isSentence ? `${capitalised(verb)}: ${uncapitalised(item)}` : `${capitalised(verb)} ${rest}`;
}

const SENTENCE =
  /^(?!(?:what|how|why|where|which|that)\b)(?:\S+\s){1,6}?(?:is|are|was|were|does|do|did|doesn't|don't|isn't|aren't|should|must|can|can't|cannot|crashes|fails|hangs|freezes)\s/i;

const sayThing = (item: string) => (isComplaint(item) ? `Fix: ${uncapitalised(item)}` : capitalised(item));

type Shared = { readonly heads: string; readonly cores: readonly string[]; readonly tail: string };

const TAIL =
  /\s(?:to|in|on|into|from|across|at|under|for)\s(?:the|our|this|its|each|every|all|my|your|[\w.-]*\/)/i;
const HEAD = /^(?:[A-Za-z]+\s)?[A-Za-z]+\s(?:for|of)\s(?!the\s)/;

function sharedBy(clause: Clause, items: readonly string[]): Shared {
  const rest = afterItems(clause);
  const last = items.at(-1)!;
  const at = rest === "" && isInline(clause) ? last.slice(0, 300).search(TAIL) : -1;
  const hasTail =
    at > 0 && !items.slice(0, -1).some((item) => TAIL.test(item)) && isSaidOfAll(items, last.slice(at));
  const withoutTail = hasTail ? [...items.slice(0, -1), last.slice(0, at)] : items;
  const head = HEAD.exec(items[0]!.slice(0, 80))?.[0] ?? "";
  const isForAll = withoutTail.slice(1).every((item) => item.split(" ").length <= 3 && !HEAD.test(item));
  const heads = isForAll && head !== "" ? head.trim() : objectBefore(clause);
  const cores = withoutTail.map((item, n) => (n === 0 && isForAll ? item.slice(head.length) : item));
  return { heads, cores, tail: hasTail ? last.slice(at).trim() : rest };
}

/** "the login bug and the wrong total on the invoice page": each "the" is somewhere of its own. */
const isSaidOfAll = (items: readonly string[], tail: string) =>
  /^\s(?:to|into|from|across)\s/i.test(tail) || !items.every((item) => /^the\s/i.test(item));

/** "the permissions of" in "fix the permissions of a and b", "models for" in "add models for a and b". */
function objectBefore({ object, text, items }: Clause): string {
  const byOne = /,?\s(\w+) by \1$/.exec(object);
  if (byOne) return `${object.slice(0, byOne.index)}:`;
  const at = object === "" ? -1 : text.indexOf(`${object} `);
  if (at === -1) return "";
  const behind = text.slice(at + object.length, at + object.length + MAX_BETWEEN_CHARS);
  const end = behind.indexOf(` ${items[0]!.slice(0, MAX_BETWEEN_CHARS / 2)}`);
  const between = end === -1 ? undefined : behind.slice(0, end).trim();
  if (between === "") return /\s(?:of|for|in|to|on|from)$/i.test(object) ? object : "";
  return between !== undefined && /^(?:of|for|in|to|on|from|into|across|against|under)$/i.test(between)
    ? `${object} ${between}`
    : "";
}

const MAX_BETWEEN_CHARS = 120;

/** Listed in the sentence itself, rather than in lines below it. */
const isInline = ({ text, items }: Clause) => items.length > 0 && text.includes(items.at(-1)!);

/** "to the list page" in "add search and filters to the list page". */
export function afterItems(clause: Clause): string {
  if (!isInline(clause)) return "";
  const last = clause.items.at(-1)!;
  const rest = clause.text
    .slice(clause.text.lastIndexOf(last) + last.length)
    .trim()
    .replace(/^,\s(?:each|all)\s(?=with\s)/i, "");
  return /^(?:to|for|in|on|from|of|into|across|at|by|under|with|using|via|within|against|without)\s/i.test(
    rest,
  )
    ? rest
    : "";
}

/** In words for who makes one part: what is left to others. */
export const othersIn = ({ others }: Part): string =>
  others.length > MAX_OTHERS
    ? `Leave the other ${others.length} parts to their own tasks.`
    : `Leave to their own tasks: ${listed(others)}.`;

const MAX_OTHERS = 12;
