/** Finds the JSON objects and lists in a text, and keeps what was complete of those that are cut off or broken. */

export type Json = null | boolean | number | string | JsonList | JsonObject;
export type JsonList = readonly Json[];
/** A map, so that a key like "__proto__" is a key like any other. */
export type JsonObject = ReadonlyMap<string, Json>;

type JsonFound =
  | { readonly is: "whole"; readonly value: JsonList | JsonObject }
  /**
   * The text ended inside the value (`cut`), or continued with something other than JSON (`broken`). `open` has the
   * containers that were still open, outermost first, each already part of the one before it; a key without its value
   * holds null.
   */
  | {
      readonly is: "cut" | "broken";
      readonly open: readonly (JsonList | JsonObject)[];
      readonly at: number;
      readonly why: string;
    };

/**
 * Yields all outermost objects and lists in the order of the text. Accepts what models write: prose and code fences
 * around the value, commas before a closing bracket, `//` comments, and line breaks inside strings.
 *
 * After a broken value it continues where the value broke, never further back, because a nested value would break at
 * the same place. So every character is read a few times at most.
 */
export function* findJson(text: string): Generator<JsonFound> {
  const opening = /[[{]/g;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const reader = readFrom(text, match.index);
    yield reader.found;
    if (reader.found.is === "cut") return;
    opening.lastIndex = Math.max(reader.at, match.index + 1);
  }
}

/** The line and column of a position in a text, for people. */
export function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

/** Deeper than any real answer, and shallow enough for recursive code that reads the value. */
const MAX_DEPTH = 64;

type Container = Json[] | Map<string, Json>;
type Reader = {
  readonly text: string;
  at: number;
  readonly open: Container[];
  /** For each open container, the key whose value comes next; unused for lists. */
  readonly keys: string[];
  /** What may come next. `key` and `item` also allow the closing bracket, so that a trailing comma is accepted. */
  want: "value" | "item" | "key" | "colon" | "comma";
};

/** Why reading stopped: the first bracket was closed (`whole`), or never will be. */
type Stop = { readonly is: "whole" } | { readonly is: "cut" | "broken"; readonly why: string };

function readFrom(text: string, start: number): { readonly found: JsonFound; readonly at: number } {
  const reader: Reader = { text, at: start, open: [], keys: [], want: "value" };
  for (;;) {
    skipBlanks(reader);
    const outermost = reader.open[0];
    const stop = reader.at < text.length ? step(reader) : CUT;
    if (stop === undefined) continue;
    const { at, open } = reader;
    const found: JsonFound = stop.is === "whole" ? { is: "whole", value: outermost! } : { ...stop, open, at };
    return { found, at };
  }
}

const CUT: Stop = { is: "cut", why: "the text ends in the middle" };

function step(reader: Reader): Stop | undefined {
  const char = reader.text[reader.at]!;
  switch (reader.want) {
    case "value":
      return readValue(reader, char);
    case "item":
      return char === "]" ? close(reader) : readValue(reader, char);
    case "key":
      return char === "}" ? close(reader) : readKey(reader, char);
    case "colon":
      return char === ":" ? pass(reader, "value") : broken('expected ":" after a key');
    case "comma": {
      const isList = Array.isArray(reader.open.at(-1));
      if (char === (isList ? "]" : "}")) return close(reader);
      return char === "," ? pass(reader, isList ? "item" : "key") : broken(`expected "," or the end`);
    }
  }
}

const broken = (why: string): Stop => ({ is: "broken", why });

function pass(reader: Reader, next: Reader["want"]): undefined {
  reader.at += 1;
  reader.want = next;
}

function readValue(reader: Reader, char: string): Stop | undefined {
  if (char === "{") return open(reader, new Map(), "key");
  if (char === "[") return open(reader, [], "item");
  if (char !== '"') return readToken(reader);
  const string = readString(reader.text, reader.at);
  if (string === undefined) return CUT;
  attach(reader, string.value);
  reader.at = string.end;
  reader.want = "comma";
  return undefined;
}

function open(reader: Reader, container: Container, next: Reader["want"]): Stop | undefined {
  if (reader.open.length === MAX_DEPTH) return broken(`more than ${MAX_DEPTH} brackets are nested`);
  if (reader.open.length > 0) attach(reader, container);
  reader.open.push(container);
  reader.keys.push("");
  return pass(reader, next);
}

function close(reader: Reader): Stop | undefined {
  reader.open.pop();
  reader.keys.pop();
  pass(reader, "comma");
  return reader.open.length === 0 ? { is: "whole" } : undefined;
}

function attach({ open, keys }: Reader, value: Json): void {
  const parent = open.at(-1)!;
  if (Array.isArray(parent)) parent.push(value);
  else parent.set(keys.at(-1)!, value);
}

/** A repeated key makes the object broken: either value may be the intended one. */
function readKey(reader: Reader, char: string): Stop | undefined {
  if (char !== '"') return broken("expected a key in double quotes");
  const string = readString(reader.text, reader.at);
  if (string === undefined) return CUT;
  // A quote in prose begins a "key" that runs on into the answer; a real key has no line break.
  if (string.value.includes("\n")) return broken("a key goes over the end of its line");
  const parent = reader.open.at(-1) as Map<string, Json>;
  if (parent.has(string.value)) return broken("a key is written twice in one object");
  parent.set(string.value, null);
  reader.keys[reader.keys.length - 1] = string.value;
  reader.at = string.end;
  reader.want = "colon";
  return undefined;
}

const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const BEGUN = /^(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-?\d*\.?\d*(?:[eE][+-]?\d*)?)$/;
/** Longer than any meaningful number. */
const MAX_TOKEN_CHARS = 400;

/** Reads a word or a number. At the very end of the text it may be incomplete. */
function readToken(reader: Reader): Stop | undefined {
  const { text, at } = reader;
  const token = /^[-+.\w]*/.exec(text.slice(at, at + MAX_TOKEN_CHARS))![0];
  const word = WORDS.get(token);
  const value = word === undefined && NUMBER.test(token) ? Number(token) : word;
  const isLast = at + token.length === text.length;
  if (isLast && BEGUN.test(token)) return CUT;
  if (value === undefined) return broken("expected a value");
  attach(reader, value);
  reader.at += token.length;
  reader.want = "comma";
  return undefined;
}

/** The string whose opening quote is at `start`; undefined if the text ends inside. */
function readString(
  text: string,
  start: number,
): { readonly value: string; readonly end: number } | undefined {
  let value = "";
  let from = start + 1;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return { value: value + text.slice(from, at), end: at + 1 };
    if (code !== BACKSLASH) continue;
    const escaped = readEscape(text, at);
    value += text.slice(from, at) + escaped.value;
    from = escaped.end;
    at = escaped.end - 1;
  }
  return undefined;
}

const QUOTE = 34;
const BACKSLASH = 92;
const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" }),
);

/** An escape that JSON does not know, like the `\d` of a pattern, stands for itself. */
function readEscape(text: string, at: number): { readonly value: string; readonly end: number } {
  const char = text[at + 1] ?? "";
  const hex = char === "u" ? /^[0-9a-fA-F]{4}/.exec(text.slice(at + 2, at + 6))?.[0] : undefined;
  if (hex !== undefined) return { value: String.fromCharCode(Number.parseInt(hex, 16)), end: at + 6 };
  const value = ESCAPES.get(char) ?? (/[a-zA-Z0-9]/.test(char) ? `\\${char}` : char);
  return { value, end: at + 2 };
}

/** White space, also the kinds that JSON does not allow, and comments to the end of the line. */
function skipBlanks(reader: Reader): void {
  const { text } = reader;
  for (;;) {
    while (reader.at < text.length && isBlank(text.charCodeAt(reader.at))) reader.at += 1;
    const isComment = text.startsWith("//", reader.at);
    const isHalfComment = reader.at === text.length - 1 && text[reader.at] === "/";
    if (!isComment && !isHalfComment) return;
    const end = text.indexOf("\n", reader.at);
    reader.at = end === -1 ? text.length : end;
  }
}

const isBlank = (code: number) =>
  code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0xfeff || code === 0x2028;
