/** What is a request made of? Words and marks; quotes, code, paths and identifiers are whole and are not read. */
import { isAscii } from "../plain.ts";
import { fileOf } from "./file-names.ts";
import { type Lexicon, phraseAt } from "./lexicon.ts";

export type Token = {
  /** `name`: an address or identifier, or words that belong together; `break`: the end of a line. */
  readonly kind: "word" | "mark" | "code" | "quote" | "path" | "name" | "break";
  /** In lower case; empty for what is not to be read as English. */
  readonly lower: string;
  readonly start: number;
  readonly end: number;
  /** What stands in the quotes or the code span. */
  readonly inner?: string;
  readonly file?: string;
  /** Within brackets nothing is split. */
  readonly isInside: boolean;
};

/** Every character is looked at a fixed number of times. Nothing throws. */
export function tokenise(text: string, lexicon: Lexicon): readonly Token[] {
  const scan: Scan = { text, lexicon, at: 0, tokens: [], unclosed: new Set() };
  while (scan.at < text.length) step(scan);
  return withInside(withJoined(scan.tokens, lexicon), text);
}

type Draft = Omit<Token, "isInside">;

type Scan = {
  readonly text: string;
  readonly lexicon: Lexicon;
  at: number;
  readonly tokens: Draft[];
  /** Marks that nothing closes from here on: each is searched for once. */
  readonly unclosed: Set<string>;
};

function step(scan: Scan): void {
  const { text, at } = scan;
  const char = text[at]!;
  if (char === "\n") push(scan, { kind: "break", lower: "\n", start: at, end: at + 1 });
  else if (char === " ") scan.at += 1;
  else if (char === "`") codeSpan(scan);
  else if (!(CLOSES.has(char) && quoteSpan(scan, char))) chunk(scan);
}

function push(scan: Scan, token: Draft): void {
  scan.tokens.push(token);
  scan.at = token.end;
}

function codeSpan(scan: Scan): void {
  const { text, at } = scan;
  let open = at;
  while (text[open] === "`") open += 1;
  const fence = text.slice(at, open);
  const close = scan.unclosed.has(fence) ? -1 : text.indexOf(fence, open);
  if (close === -1) {
    scan.unclosed.add(fence);
    push(scan, { kind: "mark", lower: "`", start: at, end: open });
  } else pushSpan(scan, "code", { from: open, to: close, end: close + fence.length });
}

type Inner = { readonly from: number; readonly to: number; readonly end: number };

function pushSpan(scan: Scan, kind: "code" | "quote", { from, to, end }: Inner): void {
  const inner = scan.text.slice(from, to).trim();
  const file = fileOf(inner, scan.lexicon);
  push(scan, { kind, lower: "", start: scan.at, end, inner, ...(file !== undefined && { file }) });
}

const CLOSES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["“", "”"],
  ["„", "“"],
  ["‘", "'"],
  ["«", "»"],
  ["「", "」"],
  ["『", "』"],
]);

/** Whether a quotation began here. An apostrophe does not begin one, and inches do not. */
function quoteSpan(scan: Scan, char: string): boolean {
  const { text, at } = scan;
  if (scan.unclosed.has(char) || isWordChar(text[at - 1]) || !/\S/.test(text[at + 1] ?? " ")) return false;
  const mark = CLOSES.get(char)!;
  let close = text.indexOf(mark, at + 1);
  if (mark === "'") while (close !== -1 && isWordChar(text[close + 1])) close = text.indexOf(mark, close + 1);
  if (close === -1) {
    scan.unclosed.add(char);
    return false;
  }
  pushSpan(scan, "quote", { from: at + 1, to: close, end: close + 1 });
  return true;
}

const isWordChar = (char: string | undefined) =>
  char !== undefined && (char < "\x80" ? /\w/ : /[\p{L}\p{N}]/u).test(char);

const CHUNK = /[^\s,;`"“”„«»「」『』]+/y;

/** A run of non-blanks: its marks at both ends, and between them a name, or words and marks. */
function chunk(scan: Scan): void {
  const { text, at, lexicon } = scan;
  CHUNK.lastIndex = at;
  const run = CHUNK.exec(text)?.[0] ?? "";
  if (run === "") {
    mark(scan, at);
    return;
  }
  if (/^[a-z]+$/.test(run)) {
    push(scan, { kind: "word", lower: run, start: at, end: at + run.length });
    return;
  }
  let start = at;
  let end = at + run.length;
  if (!isGlob(run)) while (start < end && OPENING.has(text[start]!)) start += 1;
  const isCall = text.slice(start, end).includes("(");
  while (start < end && CLOSING.has(text[end - 1]!) && !(isCall && text[end - 1] === ")")) end -= 1;
  for (let index = at; index < start; index += 1) mark(scan, index);
  const core = text.slice(start, end);
  if (text[end] === "." && lexicon.has.abbreviations.has(`${core.toLowerCase()}.`)) end += 1;
  const file = fileOf(core, lexicon);
  if (file !== undefined) push(scan, { kind: "path", lower: "", start, end, file });
  else if (isName(core)) push(scan, { kind: "name", lower: "", start, end });
  else wordsOf(scan, start, end);
  for (let index = end; index < at + run.length; index += 1) mark(scan, index);
}

const OPENING: ReadonlySet<string> = new Set("([{<*_");
const CLOSING: ReadonlySet<string> = new Set(")]}>.!?:…*_。！？、，：；");

const isGlob = (run: string) => run.includes("*") && run.includes("/");

function mark(scan: Scan, index: number): void {
  if (index >= scan.at) push(scan, { kind: "mark", lower: scan.text[index]!, start: index, end: index + 1 });
}

/** An address, a number of an issue, an identifier: "https://…", "#12", "user.name", "add()", "@scope/name", ".git/config". */
function isName(core: string): boolean {
  if (/^(?:[a-z][a-z\d+.-]*:\/\/|www\.|@[\w-]+\/|[#@][\w-]+$|~?\/|\.{1,2}\/|\.[\w-]+\/)/i.test(core))
    return true;
  if (/^[\w$.]+\([^()\s]*\)$/.test(core) || isGlob(core)) return true;
  return core.includes(".") && /[^\W\d]\.[^\W\d]/.test(core) && !/^(?:[a-z]\.)+[a-z]$/i.test(core);
}

const PIECE = /[\w$]+(?:[-.'+][\w$]+)*|./y;
const PIECE_OF_ANY = /[\p{L}\p{M}\p{N}_$]+(?:[-.'+][\p{L}\p{M}\p{N}_$]+)*|./uy;

function wordsOf(scan: Scan, start: number, end: number): void {
  scan.at = start;
  const pattern = isAscii(scan.text.slice(start, end)) ? PIECE : PIECE_OF_ANY;
  while (scan.at < end) {
    pattern.lastIndex = scan.at;
    const piece = pattern.exec(scan.text)?.[0] ?? scan.text[scan.at]!;
    // An abbreviation has its full stop within it; nothing else reaches over the end.
    const to =
      end - scan.at - piece.length === 1 && scan.text[end - 1] === "." ? end : scan.at + piece.length;
    const kind = isWordChar(String.fromCodePoint(piece.codePointAt(0)!)) ? "word" : "mark";
    push(scan, { kind, lower: scan.text.slice(scan.at, to).toLowerCase(), start: scan.at, end: to });
  }
}

/** "drag and drop" is one name. */
function withJoined(tokens: readonly Draft[], { phrases }: Lexicon): readonly Draft[] {
  const found: Draft[] = [];
  for (let at = 0; at < tokens.length; ) {
    const length = phraseAt(phrases.joined, tokens, at);
    const token = tokens[at]!;
    if (length === 0) found.push(token);
    else found.push({ kind: "name", lower: "", start: token.start, end: tokens[at + length - 1]!.end });
    at += Math.max(1, length);
  }
  return found;
}

/** Only what closes again soon is a bracket; a long text in one is read like any other. */
const MAX_BRACKET_TOKENS = 60;

function withInside(tokens: readonly Draft[], text: string): readonly Token[] {
  const inside = new Int32Array(tokens.length + 1);
  const open: number[] = [];
  tokens.forEach(({ kind, start }, index) => {
    if (kind !== "mark") return;
    const char = text[start]!;
    if (char === "(" || char === "[" || char === "{") open.push(index);
    const opening = PAIRS.get(char);
    if (opening === undefined || open.length === 0) return;
    const from = open.pop()!;
    if (text[tokens[from]!.start] !== opening || index - from > MAX_BRACKET_TOKENS) return;
    inside[from]! += 1;
    inside[index + 1]! -= 1;
  });
  let depth = 0;
  return tokens.map((token, index) => {
    depth += inside[index]!;
    return { ...token, isInside: depth > 0 };
  });
}

const PAIRS: ReadonlyMap<string, string> = new Map([
  [")", "("],
  ["]", "["],
  ["}", "{"],
]);
