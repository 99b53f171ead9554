/** Redacts secrets in a text: known values, well-known key formats and values after telling names, in linear time. */

import { privateKeys } from "./private-keys.ts";
import { readThrough } from "./read-through.ts";
import { PRINTS } from "./secret-commands.ts";
import { manifestSecrets, openManifest } from "./secret-manifests.ts";
import { isSecretName, looksSecret, MIN_SECRET_CHARS, namedSecrets } from "./secret-names.ts";
import { type Span, secretShapes } from "./secret-shapes.ts";

export { looksSecret } from "./secret-names.ts";

/** Redacts the given values, if they are at least `MIN_SECRET_CHARS` long, and everything that looks like a secret. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const find = finder(secrets);
  return (text) => blot(text, find(text), text.length);
}

/**
 * Redacts every text in a value before it is encoded: in encoded JSON a line end is a letter, which hides where a key
 * begins. Field names are redacted too, and also tell which values below them are secrets.
 */
export function redactFields<Value>(value: Value, redact: (text: string) => string): Value {
  const all = (part: unknown, depth: number): unknown => {
    if (typeof part === "string") return redact(part);
    if (typeof part !== "object" || part === null) return part;
    if (depth > MAX_DEPTH) return "[nested too deep]";
    if (Array.isArray(part)) return part.map((one) => all(one, depth + 1));
    if (Object.getPrototypeOf(part) !== Object.prototype) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, inner]) => [
        redact(name),
        isSecretName(name) && isLong(inner) ? "[redacted]" : all(inner, depth + 1),
      ]),
    );
  };
  return all(value, 0) as Value;
}

/** Deeper than any real value, and shallow enough for the stack. */
const MAX_DEPTH = 500;

const isLong = (value: unknown): boolean => typeof value === "string" && value.length >= MIN_SECRET_CHARS;

/**
 * Redacts a command line, where a telling name makes any value a secret, however short: `TOKEN=abc npm test`, `deploy
 * --key abc`.
 */
export const redactCommand = (line: string, redact: (text: string) => string): string =>
  redact(
    NAMED_WORDS.reduce(
      (shown, words) =>
        shown.replace(words, (all, name: string) => (looksSecret(name) ? `${name}[redacted]` : all)),
      line,
    ),
  );

/** The secret values in a command line, so that they can be redacted wherever the command repeats them. */
export const secretsInCommand = (line: string): string[] =>
  NAMED_WORDS.flatMap((words) => [...line.matchAll(words)]).flatMap(([all, name = ""]) =>
    looksSecret(name) ? [all.slice(name.length).replace(/^(["'])(.*)\1$/, "$2")] : [],
  );

/** References and numbers are not secrets: `--token $TOKEN`, `--max-tokens 100`. */
const NO_SECRET = /(?!\d*(?:\s|$)|["']?\$|-)/.source;
const WORD = /(?:"[^"]*"|'[^']*'|[^\s"'|;&]+)/.source;
const NAMED_WORDS: readonly RegExp[] = ["[A-Za-z_]\\w*=", "--?[A-Za-z][\\w-]*[= ]"].map(
  (name) => new RegExp(`(?<![\\w-])(${name})${NO_SECRET}${WORD}`, "g"),
);

/** Redacts a text that arrives in pieces, which may end anywhere. */
type StreamRedactor = {
  /** Returns what can be shown now; the rest is held back until it is known whether it is a secret. */
  readonly write: (piece: string) => string;
  readonly end: () => string;
};

/** Works line by line, because a name and its value, or the parts of a header, are in one line. */
export function streamRedactor(secrets: readonly string[]): StreamRedactor {
  const find = finder(secrets);
  const longest = (values: readonly string[]) => Math.max(1, ...values.map((secret) => secret.length));
  const known = variants(secrets);
  const [maxChars, maxLinesChars] = [
    longest(known),
    longest(known.filter((secret) => /[\r\n]/.test(secret))),
  ];
  let held = "";
  /** True inside a secret that is too long to be held back: the rest of it is dropped too. */
  let isSwallowing = false;
  const take = (piece: string): string => {
    if (!isSwallowing) return piece;
    const end = piece.search(/\s/);
    if (end < 0) return "";
    isSwallowing = false;
    return piece.slice(end);
  };
  return {
    write(piece) {
      held += take(piece);
      if (held.length <= MAX_HELD_CHARS && !/[\r\n]/.test(piece)) return "";
      const spans = find(held);
      let cut = lineCut(held, spans, maxLinesChars);
      if (held.length - cut > MAX_HELD_CHARS) {
        cut = pastSecrets(spans, wordCut(held, maxChars));
        isSwallowing = cut === held.length;
      }
      const shown = blot(held, spans, cut);
      held = held.slice(cut);
      return shown;
    },
    end() {
      const shown = blot(held, find(held), held.length);
      held = "";
      return shown;
    },
  };
}

/** Longer lines, such as minified code or a private key, are shown word by word. */
const MAX_HELD_CHARS = 16 * 1024;

/** Cuts at a line end, and before a line whose value or private key may continue in the next piece. */
function lineCut(text: string, spans: readonly Span[], longest: number): number {
  const most = text.length - longest + 1;
  const lineOf = (at: number) =>
    at <= 0 ? 0 : Math.max(text.lastIndexOf("\n", at - 1), text.lastIndexOf("\r", at - 1)) + 1;
  let cut = lineOf(most);
  const key = text.lastIndexOf("-----BEGIN", cut);
  if (key >= 0 && key < cut && !text.slice(key, cut).includes("-----END")) cut = lineOf(key);
  cut = Math.min(beforeOpening(text, cut), openManifest(text, cut));
  for (const { start, end } of spans.toReversed()) if (start < cut && end > cut) cut = lineOf(start);
  return cut;
}

/** A line that ends with a telling name, or a command that writes a secret: the value may be in one of the next lines. */
const OPENING =
  /(?:pass(?:word|wd|phrase)?|pwd|secret|token|key|credentials?)[\w-]{0,20}["'`]?[ \t]{0,4}(?:[,{]|<\/\w{1,20}>|:[ \t]{0,4}[|>][+-]?|[^\n:]{0,80}:)?[ \t\r]{0,4}$/i;
const MAX_OPEN_LINES = 6;

function beforeOpening(text: string, cut: number): number {
  let start = cut;
  let opening = cut;
  for (let lines = 0; lines < MAX_OPEN_LINES && start > 0; lines += 1) {
    const end = start - 1;
    start = text.lastIndexOf("\n", end - 1) + 1;
    const mayOpen = (line: RegExp, chars: number) => line.test(text.slice(Math.max(start, end - chars), end));
    if (mayOpen(OPENING, MAX_BETWEEN_CHARS) || mayOpen(PRINTS, MAX_NAMED_CHARS)) opening = start;
  }
  return opening;
}

/** In a line without an end, cuts after white space or a comma, far enough from the end for a name and its value. */
function wordCut(text: string, longest: number): number {
  const most = Math.max(0, text.length - Math.max(longest, MAX_NAMED_CHARS));
  for (let at = most; at > most - MAX_HELD_CHARS / 2 && at > 0; at -= 1)
    if (/[\s,]/.test(text[at - 1] as string)) return at;
  return most;
}

const MAX_NAMED_CHARS = 512;

/** A value is recognised by the name before it, so a cut never separates the two. */
function pastSecrets(spans: readonly Span[], from: number): number {
  let cut = from;
  for (const { start, end } of spans) if (end > cut && start - cut < MAX_BETWEEN_CHARS) cut = end;
  return cut;
}

const MAX_BETWEEN_CHARS = 160;

/** The values of variables whose names look secret. */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && looksSecret(name) && value.trim().length >= MIN_SECRET_CHARS ? [value.trim()] : [],
  );
}

function finder(secrets: readonly string[]): (text: string) => Span[] {
  const known = variants(secrets).map((secret) => secret.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const values = known.length === 0 ? undefined : new RegExp(known.join("|"), "g");
  const valuesIn = (text: string): Span[] =>
    values === undefined
      ? []
      : [...text.matchAll(values)].map(({ 0: value, index }) => ({
          start: index,
          end: index + value.length,
        }));
  const spansIn = (text: string): Span[] => [
    ...valuesIn(text),
    ...secretShapes(text),
    ...privateKeys(text),
    ...namedSecrets(text),
    ...manifestSecrets(text),
  ];
  return (text) => {
    const read = readThrough(text);
    return merged([...spansIn(text), ...(read ? spansIn(read.text).map(read.back) : [])]);
  };
}

/**
 * Secrets as given, and as they appear in URLs, in JSON and in base64; the longest first, so that a shorter one does
 * not split a longer one.
 */
function variants(secrets: readonly string[]): string[] {
  const long = secrets
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .map((secret) => secret.toWellFormed());
  const all = long.flatMap((secret) => {
    const inAddress = encodeURIComponent(secret);
    const inJson = JSON.stringify(secret).slice(1, -1);
    return [
      ...[secret, inJson, JSON.stringify(inJson).slice(1, -1), ...inBase64(secret)],
      ...[
        inAddress,
        inAddress.replaceAll("%20", "+"),
        inAddress.replace(/%../g, (code) => code.toLowerCase()),
      ],
    ];
  });
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

/**
 * The secret in base64, alone or inside a longer text such as `user:secret`: only the letters that the text around it
 * cannot change.
 */
function inBase64(secret: string): string[] {
  const bytes = Array.from(new TextEncoder().encode(secret), (byte) => String.fromCharCode(byte)).join("");
  return [0, 1, 2].flatMap((before) => {
    const coded = btoa(" ".repeat(before) + bytes);
    const inner = coded.slice(
      [0, 2, 3][before],
      [undefined, -3, -2][(before + bytes.length) % 3] ?? coded.length,
    );
    const own = inner.replaceAll("+", "-").replaceAll("/", "_");
    return inner.length >= MIN_CODED_CHARS ? [inner, own] : [];
  });
}

const MIN_CODED_CHARS = 8;

function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last && span.start < last.end) {
      result[result.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
    } else result.push(span);
  }
  return result;
}

function blot(text: string, spans: readonly Span[], end: number): string {
  let shown = "";
  let at = 0;
  for (const span of spans) {
    if (span.start >= end) break;
    shown += `${text.slice(at, span.start)}[redacted]`;
    at = span.end;
  }
  return shown + text.slice(at, Math.max(at, end));
}
