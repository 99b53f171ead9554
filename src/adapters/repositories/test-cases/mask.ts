/** Blanks comments and the contents of strings in a source text, so that the rest can be searched for code. */
import { languageOf } from "../code-lines.ts";

/**
 * Both are as long as the text, with the same line ends. `plain` has no comments; `code` also has only the quotes
 * of strings.
 */
export type Masked = { readonly plain: string; readonly code: string };

export const maskedBoth = (path: string, text: string): Masked => {
  const rules = RULES[languageOf(path)] ?? C_LIKE;
  return { plain: masked(text, { ...rules, keepsStrings: true }), code: masked(text, rules) };
};

/** Misreading a text costs only a few words, because most strings and comments end with their line. */
function masked(text: string, rules: Rules): string {
  const out = text.split("");
  let at = 0;
  while (at < text.length) {
    const end = tokenEnd(text, at, out, rules);
    at = end > at ? end : at + 1;
  }
  return out.join("");
}

type Rules = {
  readonly comment: readonly string[];
  readonly hasBlocks?: true;
  readonly quotes: string;
  /** Quotes of strings that may span several lines. */
  readonly long: readonly string[];
  /** Quotes of long strings in which a backslash is an ordinary character. */
  readonly raw?: string;
  readonly hasPatterns?: true;
  /** Set if 'a' is a character literal, and 'a in a type is a name. */
  readonly hasSigns?: true;
  readonly keepsStrings?: true;
};

const C_LIKE: Rules = { comment: ["//"], hasBlocks: true, quotes: `"'`, long: ['"""'] };
const RULES: Readonly<Record<string, Rules>> = {
  js: { comment: ["//"], hasBlocks: true, quotes: `"'`, long: ["`"], hasPatterns: true },
  python: { comment: ["#"], quotes: `"'`, long: ['"""', "'''"] },
  go: { comment: ["//"], hasBlocks: true, quotes: `"'`, long: ["`"], raw: "`" },
  rust: { comment: ["//"], hasBlocks: true, quotes: "", long: ['"'], hasSigns: true },
  ruby: { comment: ["#"], quotes: `"'`, long: [] },
  elixir: { comment: ["#"], quotes: `"`, long: ['"""'] },
  php: { comment: ["//"], hasBlocks: true, quotes: `"'`, long: [] },
  shell: { comment: ["#"], quotes: `"'`, long: [] },
};

/** Blanks the comment or string that begins at this place, and returns its end; the same place if it is code. */
function tokenEnd(text: string, at: number, out: string[], rules: Rules): number {
  const sign = text[at]!;
  if (rules.comment.some((mark) => text.startsWith(mark, at))) return blank(out, at, lineEnd(text, at));
  if (rules.hasBlocks && text.startsWith("/*", at)) return blank(out, at, after(text, "*/", at + 2));
  const inside = (end: number, quote: number) =>
    rules.keepsStrings ? end : blankInside(out, at, end, quote);
  const long = rules.long.find((quote) => text.startsWith(quote, at));
  if (long === "`" && rules.raw === undefined) return inside(templateEnd(text, at + 1), 1);
  if (long !== undefined) return inside(longEnd(text, at, long, long === rules.raw), long.length);
  if (rules.quotes.includes(sign)) return inside(shortEnd(text, at), 1);
  if (rules.hasSigns && sign === "'")
    return inside(at + (/^'(?:\\[^\n]{1,10}?|[^\\'\n])'/.exec(text.slice(at, at + 14))?.[0].length ?? 0), 1);
  if (rules.hasPatterns && sign === "/" && mayBeginPattern(out, at)) {
    const end = patternEnd(text, at);
    return end === undefined ? at : inside(end, 1);
  }
  return at;
}

function blank(out: string[], from: number, to: number): number {
  for (let i = from; i < to; i += 1) if (out[i] !== "\n") out[i] = " ";
  return to;
}

function blankInside(out: string[], from: number, to: number, quote: number): number {
  blank(out, from + quote, Math.max(from + quote, to - quote));
  return to;
}

const lineEnd = (text: string, from: number): number => {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
};

const after = (text: string, mark: string, from: number): number => {
  const end = text.indexOf(mark, from);
  return end === -1 ? text.length : end + mark.length;
};

/** The end of a short string. A quote without a second one is an apostrophe. */
function shortEnd(text: string, from: number): number {
  for (let i = from + 1; i < text.length && text[i] !== "\n"; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === text[from]) return i + 1;
  }
  return from + 1;
}

function longEnd(text: string, from: number, quote: string, isRaw: boolean): number {
  for (let i = from + quote.length; i < text.length; i += 1) {
    if (text[i] === "\\" && !isRaw) i += 1;
    else if (text.startsWith(quote, i)) return i + quote.length;
  }
  return text.length;
}

/** The end of a template string, from after its first backtick. The code in `${}` is blanked as well. */
function templateEnd(text: string, from: number): number {
  const depths: number[] = [];
  for (let i = from; i < text.length; i += 1) {
    const [sign, depth] = [text[i], depths.at(-1)];
    if (sign === "\\") i += 1;
    else if (depth === undefined || depth < 0) {
      if (sign === "`") {
        if (depth === undefined) return i + 1;
        depths.pop();
      } else if (sign === "$" && text[i + 1] === "{") {
        depths.push(0);
        i += 1;
      }
    } else if (sign === "`") depths.push(-1);
    else if (sign === "{") depths[depths.length - 1] = depth + 1;
    else if (sign === "}") {
      if (depth === 0) depths.pop();
      else depths[depths.length - 1] = depth - 1;
    }
  }
  return text.length;
}

/** Whether a slash may begin a pattern, by the text before it: after a value, a slash divides. */
function mayBeginPattern(out: readonly string[], at: number): boolean {
  let i = at - 1;
  while (i >= 0 && (out[i] === " " || out[i] === "\t")) i -= 1;
  const before = out[i];
  if (before === undefined || before === "\n" || "(,=:[!&|?{};+*%~^".includes(before)) return true;
  const word = /[a-z]+$/.exec(out.slice(Math.max(0, i - 9), i + 1).join(""))?.[0] ?? "";
  return ["return", "typeof", "case", "in", "of", "await", "yield"].includes(word);
}

function patternEnd(text: string, from: number): number | undefined {
  let isInClass = false;
  for (let i = from + 1; i < text.length && text[i] !== "\n"; i += 1) {
    const sign = text[i];
    if (sign === "\\") i += 1;
    else if (sign === "[") isInClass = true;
    else if (sign === "]") isInClass = false;
    else if (sign === "/" && !isInClass) return i + 1;
  }
  return undefined;
}
