/** Which words do the rules go by? Published in planning/words.json; a team can put its own file in its place. */

export type WordList = readonly string[];

export type Words = {
  readonly version: 2;
  /**
   * What software work is called, in the form of an order. `build` makes something new, `report` changes nothing; `check`
   * is either: "check why" reports, "check the input" changes code.
   */
  readonly verbs: Lists<"build" | "change" | "remove" | "operate" | "report" | "check">;
  /** What may stand before an order without changing it. */
  readonly polite: WordList;
  /** What a sentence begins with that says when its work is done. */
  readonly order: Lists<"first" | "then" | "meanwhile" | "finally">;
  /** What a sentence begins with that may limit the work, and what it is about if it does: "keep the API as it is". */
  readonly limits: Lists<"starts" | "about">;
  /** Above a list: its items tell what happened, and ask for nothing. */
  readonly story: WordList;
  /** Behind the first word: that one is a noun, and the sentence a statement ("Build fails on Windows"). */
  readonly finite: WordList;
  /** `with` begins a list of parts; what has one of `fields` has fields, and no parts. */
  readonly lists: Lists<"with" | "fields">;
  /** What a word stands for when nothing is listed: "crud" is four operations. */
  readonly families: ReadonlyMap<string, WordList>;
  /** What work is shared out over; `whole` means all files, `inPlace` changes each file by itself. */
  readonly files: Lists<"nouns" | "folders" | "whole" | "inPlace">;
  /** `verbs` and `words` name nothing that could be worked on; `clear` is known in every repository. */
  readonly vague: Lists<"verbs" | "words" | "clear">;
};

type Lists<Key extends string> = { readonly [key in Key]: WordList };

/** Every problem with its place: `order.then[3]: an empty string`. Never throws. */
export function readWords(value: unknown): Words | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const at = (place: string, problem: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push(place === "" ? problem : `${place}: ${problem}`);
  };
  const top = new Place("", value, at);
  const words: Words = {
    version: 2,
    verbs: top.lists("verbs", ["build", "change", "remove", "operate", "report", "check"]),
    polite: top.list("polite"),
    order: top.lists("order", ["first", "then", "meanwhile", "finally"]),
    limits: top.lists("limits", ["starts", "about"]),
    story: top.list("story"),
    finite: top.list("finite"),
    lists: top.lists("lists", ["with", "fields"]),
    families: top.families("families"),
    files: top.lists("files", ["nouns", "folders", "whole", "inPlace"]),
    vague: top.lists("vague", ["verbs", "words", "clear"]),
  };
  if (top.get("version") !== 2) at("version", "must be 2, the version of this format");
  top.end();
  return problems.length === 0 ? words : { problems };
}

const MAX_PROBLEMS = 50;
const MAX_WORDS = 5_000;
const MAX_WORD_CHARS = 80;

type At = (place: string, problem: string) => void;

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

  families(key: string): ReadonlyMap<string, WordList> {
    const place = new Place(this.#of(key), this.get(key), this.#at);
    return new Map([...place.#fields.keys()].map((name) => [plainWord(name), place.list(name)]));
  }

  lists<Key extends string>(key: string, keys: readonly Key[]): Lists<Key> {
    const place = new Place(this.#of(key), this.get(key), this.#at);
    const found = Object.fromEntries(keys.map((one) => [one, place.list(one)])) as Lists<Key>;
    place.end();
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
  return value.flatMap((one, index) => word(one, `${place}[${index}]`, at) ?? []);
}

const plainWord = (written: string): string => written.trim().toLowerCase();

function word(value: unknown, place: string, at: At): string | undefined {
  if (typeof value !== "string") return void at(place, "must be a string");
  if (value.trim() === "") return void at(place, "an empty string");
  if (value.length > MAX_WORD_CHARS) return void at(place, `is longer than ${MAX_WORD_CHARS} characters`);
  return plainWord(value);
}
