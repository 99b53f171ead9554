/** Which words does a request's reading go by? Published in planning/words.json; a team can put its own in its place. */

export type WordList = readonly string[];

export type Words = {
  readonly version: 1;
  /** What software work is called, as in the dictionary. */
  readonly actionVerbs: WordList;
  /** Those of them that are nouns as often: after "and", they need more than a word behind them to count. */
  readonly alsoNouns: WordList;
  /** Verbs of several words, and what they are called here. */
  readonly phrasal: ReadonlyMap<string, string>;
  /** Forms that no rule makes, and their verbs. */
  readonly irregular: ReadonlyMap<string, string>;
  /** What joins parts of a request; counted in its score. */
  readonly connectors: WordList;
  readonly domain: Lists<"architecture" | "security" | "integration">;
  /** `systems`: two different ones are several systems. */
  readonly scope: Lists<"severalFiles" | "severalSystems" | "systems">;
  readonly risk: Lists<"production" | "data" | "performance">;
  /** `first` begins or goes on without waiting; `done`: what "once … is" ends in. */
  readonly order: Lists<"first" | "then" | "finally" | "after" | "before" | "done">;
  /** What may stand before an imperative without changing it. */
  readonly polite: WordList;
  /** Those of them after which a thing alone is a request: "I want dark mode". */
  readonly asking: WordList;
  readonly modals: WordList;
  /** What begins a constraint, what begins one within a clause, and what denies after a subject. */
  readonly negative: Lists<"starts" | "within" | "modals">;
  readonly unbounded: Lists<"quantifiers" | "things" | "phrases">;
  /** `with` and `each` begin lists, `noList` are verbs whose "with" does not, `joined` are names with an "and". */
  readonly lists: Lists<"with" | "noList" | "each" | "umbrella" | "joined">;
  /** Headings whose lists are no work. */
  readonly sections: Lists<"constraints" | "context">;
  readonly grammar: Lists<Grammar> & { readonly numbers: ReadonlyMap<string, number> };
  readonly names: Lists<"extensions" | "notFiles" | "bareFiles" | "folders">;
  /** What a word stands for when nothing is listed: "crud" is four operations. */
  readonly families: ReadonlyMap<string, WordList>;
};

type Grammar =
  | "determiners"
  | "pronouns"
  | "prepositions"
  | "subordinators"
  | "reasons"
  | "finite"
  | "adverbs"
  | "abbreviations"
  | "units"
  | "otherLanguages";

type Lists<Key extends string> = { readonly [key in Key]: WordList };

/** Every problem with its place: `order.then[3]: an empty string`. Never throws. */
export function readWords(value: unknown): Words | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const at = (place: string, problem: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push(place === "" ? problem : `${place}: ${problem}`);
  };
  const top = new Place("", value, at);
  const words: Words = {
    version: 1,
    actionVerbs: top.list("actionVerbs"),
    alsoNouns: top.list("alsoNouns"),
    phrasal: top.map("phrasal", word),
    irregular: top.map("irregular", word),
    connectors: top.list("connectors"),
    domain: top.lists("domain", ["architecture", "security", "integration"]),
    scope: top.lists("scope", ["severalFiles", "severalSystems", "systems"]),
    risk: top.lists("risk", ["production", "data", "performance"]),
    order: top.lists("order", ["first", "then", "finally", "after", "before", "done"]),
    polite: top.list("polite"),
    asking: top.list("asking"),
    modals: top.list("modals"),
    negative: top.lists("negative", ["starts", "within", "modals"]),
    unbounded: top.lists("unbounded", ["quantifiers", "things", "phrases"]),
    lists: top.lists("lists", ["with", "noList", "each", "umbrella", "joined"]),
    sections: top.lists("sections", ["constraints", "context"]),
    grammar: readGrammar(top),
    names: top.lists("names", ["extensions", "notFiles", "bareFiles", "folders"]),
    families: top.map("families", list),
  };
  if (top.get("version") !== 1) at("version", "must be 1, the version of this format");
  top.end();
  return problems.length === 0 ? words : { problems };
}

function readGrammar(top: Place): Words["grammar"] {
  const place = top.inner("grammar");
  const numbers = place.map("numbers", amount);
  return { ...place.these(GRAMMAR), numbers };
}

const GRAMMAR: readonly Grammar[] = [
  "determiners",
  "pronouns",
  "prepositions",
  "subordinators",
  "reasons",
  "finite",
  "adverbs",
  "abbreviations",
  "units",
  "otherLanguages",
];

const MAX_PROBLEMS = 50;
const MAX_WORDS = 5_000;
const MAX_WORD_CHARS = 80;

type At = (place: string, problem: string) => void;
type Read<Value> = (value: unknown, place: string, at: At) => Value | undefined;

/** An object of the file, and which of its keys were asked for. */
class Place {
  readonly #path: string;
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #at: At;
  readonly #asked = new Set<string>();

  constructor(path: string, value: unknown, at: At) {
    this.#path = path;
    this.#at = at;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isObject) at(path, path === "" ? "the word lists must be an object" : "must be an object");
    this.#fields = new Map(isObject ? Object.entries(value) : []);
  }

  get(key: string): unknown {
    this.#asked.add(key);
    return this.#fields.get(key);
  }

  list(key: string): WordList {
    return list(this.get(key), this.#of(key), this.#at) ?? [];
  }

  map<Value>(key: string, read: Read<Value>): ReadonlyMap<string, Value> {
    const place = this.inner(key);
    const entries = new Map<string, Value>();
    for (const [name, value] of place.#fields) {
      const found = read(value, place.#of(name), this.#at);
      if (found !== undefined) entries.set(name.toLowerCase(), found);
    }
    return entries;
  }

  inner(key: string): Place {
    return new Place(this.#of(key), this.get(key), this.#at);
  }

  lists<Key extends string>(key: string, keys: readonly Key[]): Lists<Key> {
    return this.inner(key).these(keys);
  }

  these<Key extends string>(keys: readonly Key[]): Lists<Key> {
    const found = Object.fromEntries(keys.map((key) => [key, this.list(key)])) as Lists<Key>;
    this.end();
    return found;
  }

  end(): void {
    for (const key of this.#fields.keys()) {
      if (!this.#asked.has(key)) this.#at(this.#of(key.slice(0, MAX_WORD_CHARS)), "is not known here");
    }
  }

  #of(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }
}

function list(value: unknown, place: string, at: At): WordList | undefined {
  if (!Array.isArray(value)) return void at(place, "must be a list of words");
  if (value.length > MAX_WORDS) return void at(place, `has more than ${MAX_WORDS} words`);
  const words: string[] = [];
  for (const [index, one] of value.entries()) {
    const found = isWord(one) ? plainWord(one) : word(one, `${place}[${index}]`, at);
    if (found !== undefined) words.push(found);
  }
  return words;
}

/** The places of two thousand words that are as they should be need not be spelled out. */
const isWord = (value: unknown): value is string =>
  typeof value === "string" && value.length <= MAX_WORD_CHARS && value.trim() !== "";

const plainWord = (word: string): string => word.trim().toLowerCase();

function word(value: unknown, place: string, at: At): string | undefined {
  if (typeof value !== "string") return void at(place, "must be a string");
  if (value.trim() === "") return void at(place, "an empty string");
  if (value.length > MAX_WORD_CHARS) return void at(place, `is longer than ${MAX_WORD_CHARS} characters`);
  return plainWord(value);
}

function amount(value: unknown, place: string, at: At): number | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  return void at(place, "must be a whole number from 1");
}
