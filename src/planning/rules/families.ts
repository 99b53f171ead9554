/** What does a word such as CRUD or auth stand for, where it is what is to be built? */
import { hasWord } from "../plain.ts";
import type { Clause } from "../reading.ts";
import type { Words } from "../words.ts";
import { theOne, withoutArticle } from "./wording.ts";

/** Its operations as they are called, and what they are for, if that has to be said. */
export type Family = { readonly items: readonly string[]; readonly of: string };

/** "CRUD operations for users", "user auth": the word must be what is built, not what is built for it. */
export function familyOf(
  clause: Pick<Clause, "object" | "items" | "itemsAre">,
  words: Words,
): Family | undefined {
  if (clause.items.length > 1) return undefined;
  const [thing, part] =
    clause.itemsAre === "with" ? [clause.object, clause.items[0]] : halvesOf(clause.object);
  const ofPart = part === undefined ? undefined : familyIn(part, words);
  const found = ofPart ?? familyIn(thing, words);
  if (!found) return undefined;
  return { items: found.items, of: found.of !== "" ? found.of : ofPart ? theOne(thing) : found.called };
}

/** "a calculator with basic operations": one thing is no list, and is not read as one. */
function halvesOf(object: string): readonly [string, string | undefined] {
  const [thing = object, part] = object
    .slice(0, 300)
    .split(/\s(?:with|including|supporting|featuring|having)\s/i, 2);
  return [thing, part];
}

/** `called`: what the whole is called if it is for nothing else, and is more than its operations. */
type FamilyIn = Family & { readonly called: string };

/** "user", "basic", "simple JWT" may come before; more says that it is about something else. */
const MAX_WORDS_BEFORE = 3;
const PREPOSITION = /^(?:to|for|in|on|from|of|into|across|at|by|under|with|using|via|within)\s/i;
const OTHERWISE = /\b(?:for|in|of|to|on|from|with|about|tests?)\b/i;
const NOUNS =
  /^\s*(?:operations?|endpoints?|api|apis|routes?|functions?|methods?|actions?|handlers?|flows?|system|module|support|features?)\b/i;

function familyIn(phrase: string, { families }: Words): FamilyIn | undefined {
  const text = withoutArticle(phrase.slice(0, 300)).trim();
  const lower = text.toLowerCase();
  for (const [name, items] of [...families].sort(([a], [b]) => b.length - a.length)) {
    const at = wordAt(lower, name);
    const before = text.slice(0, Math.max(0, at));
    if (at === -1 || before.split(" ").length > MAX_WORDS_BEFORE || OTHERWISE.test(before)) continue;
    const rest = text
      .slice(at + name.length)
      .replace(NOUNS, "")
      .trim();
    if (rest !== "" && !PREPOSITION.test(rest)) continue;
    // "auth" is a thing that has operations; "CRUD operations" are the operations themselves, of some thing.
    if (!items.some((one) => OPERATIONS.has(one))) return { items, of: "", called: text };
    const noun = nounIn(text.slice(at));
    const named = items.map((one) => (items.includes("subtract") ? `${one}()` : `the ${one} ${noun}`));
    return { items: named, of: rest.replace(PREPOSITION, ""), called: "" };
  }
  return undefined;
}

const OPERATIONS: ReadonlySet<string> = new Set(["create", "read", "update", "delete", "add", "subtract"]);

/** What one of them is: "CRUD endpoints" has a create endpoint, "a CRUD API" as well. */
function nounIn(text: string): string {
  const found = /\b(operation|endpoint|route|function|method|action|handler|api)s?\b/i
    .exec(text)?.[1]
    ?.toLowerCase();
  return found === undefined ? "operation" : found === "api" ? "endpoint" : found;
}

const isOfWord = (char: string) => char === "_" || hasWord(char);

function wordAt(text: string, word: string): number {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const [before, after] = [text[at - 1] ?? " ", text[at + word.length] ?? " "];
    if (!isOfWord(before) && before !== "-" && !isOfWord(after)) return at;
  }
  return -1;
}
