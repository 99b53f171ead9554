/** Where does a text stop being JSON? The line and column that an editor shows, and what is wrong there. */

export type JsonFault = { readonly line: number; readonly column: number; readonly why: string };

/** Undefined: it is JSON. Reads every character once, and nests without a stack of calls. */
export function jsonFault(text: string): JsonFault | undefined {
  const reader: Reader = { text, at: 0, open: [], want: "value" };
  for (;;) {
    reader.at = pastBlanks(text, reader.at);
    const why = step(reader);
    if (why === "end") return undefined;
    if (why !== undefined) return { ...positionOf(text, reader.at), why };
  }
}

type Reader = {
  readonly text: string;
  at: number;
  readonly open: ("{" | "[")[];
  /** What may come next. `first…` may also be the closing bracket. */
  want: "value" | "first item" | "first key" | "key" | "colon" | "comma" | "end";
};

const BLANK = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

function matched(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

const pastBlanks = (text: string, at: number) => at + matched(BLANK, text, at).length;

/** One sign or value further; what is wrong, "end", or undefined to go on. */
function step(reader: Reader): string | undefined {
  const { text, want, open } = reader;
  const char = text[reader.at];
  if (want === "end") return char === undefined ? "end" : "something follows after the end of the plan";
  if (char === undefined)
    return open.length > 0 ? `the text ends before "${closing(open)}"` : "the text is empty";
  if (want === "colon") return char === ":" ? move(reader, "value") : 'a ":" is missing after the key';
  if (want === "comma") return afterValue(reader, char);
  if (want === "first key" || want === "key") return keyAt(reader, char);
  if (want === "first item" && char === "]") return close(reader);
  return valueAt(reader, char);
}

const closing = (open: Reader["open"]) => (open.at(-1) === "{" ? "}" : "]");

function move(reader: Reader, want: Reader["want"], chars = 1): undefined {
  reader.at += chars;
  reader.want = want;
}

function close(reader: Reader): undefined {
  reader.open.pop();
  move(reader, reader.open.length === 0 ? "end" : "comma");
}

function afterValue(reader: Reader, char: string): string | undefined {
  const end = closing(reader.open);
  if (char === end) return close(reader);
  if (char === ",") return move(reader, end === "}" ? "key" : "value");
  return `a "," or "${end}" is missing`;
}

function keyAt(reader: Reader, char: string): string | undefined {
  if (char === "}" && reader.want === "first key") return close(reader);
  if (char === '"') return stringAt(reader, "colon");
  return char === "}" ? COMMA_BEFORE_END : "a key in double quotes is missing";
}

const COMMA_BEFORE_END = "there is a comma before the closing bracket";

function valueAt(reader: Reader, char: string): string | undefined {
  const { text, at, open } = reader;
  if (char === "{" || char === "[") {
    open.push(char);
    return move(reader, char === "{" ? "first key" : "first item");
  }
  const next = open.length === 0 ? "end" : "comma";
  if (char === '"') return stringAt(reader, next);
  const plain = matched(WORD, text, at) || matched(NUMBER, text, at);
  if (plain !== "") return move(reader, next, plain.length);
  if (char === "]" && open.at(-1) === "[") return COMMA_BEFORE_END;
  return char === "/" ? "comments are not JSON" : `${JSON.stringify(char)} does not begin a value`;
}

/** By hand: a pattern for it would keep a way back for each character, and a string may have millions. */
function stringAt(reader: Reader, next: Reader["want"]): string | undefined {
  const { text } = reader;
  for (reader.at += 1; reader.at < text.length; ) {
    const char = text[reader.at]!;
    if (char === '"') return move(reader, next);
    if (char < " ") return "a string has a line end or a control character in it, or no closing quote";
    const length = char === "\\" ? matched(ESCAPE, text, reader.at).length : 1;
    if (length === 0) return "there is no such escape in a string";
    reader.at += length;
  }
  return "the text ends inside of a string";
}

function positionOf(text: string, at: number): { readonly line: number; readonly column: number } {
  let [line, start] = [1, 0];
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", end + 1)) {
    line += 1;
    start = end + 1;
  }
  return { line, column: at - start + 1 };
}
