/** Which parts of a text are secrets? Known values and well-known shapes, in time that grows with the text alone. */

/** Blots out the given values, where they are long enough to mean something, and whatever has a well-known shape. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const find = finder(secrets);
  return (text) => blot(text, find(text), text.length);
}

/** The same for a text that comes in pieces, which may end anywhere. */
export type StreamRedactor = {
  /** What can be shown now; the rest is held back until it is known what it is. */
  readonly write: (piece: string) => string;
  readonly end: () => string;
};

export function streamRedactor(secrets: readonly string[]): StreamRedactor {
  const find = finder(secrets);
  const longest = Math.max(1, ...variants(secrets).map((secret) => secret.length));
  let held = "";
  /** Inside a secret too long to be held: the rest of it goes as well. */
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
      if (held.length <= MAX_HELD_CHARS && !/\s/.test(piece)) return "";
      const spans = find(held);
      let cut = safeCut(held, spans, longest);
      if (held.length - cut > MAX_HELD_CHARS) {
        isSwallowing = spans.at(-1)?.end === held.length;
        cut = held.length;
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

/** A line of minified code, a private key: what is longer and has no space in it is no secret of ours. */
const MAX_HELD_CHARS = 16 * 1024;

/** Behind white space, before anything that may still grow, and inside nothing that was found. */
function safeCut(text: string, spans: readonly Span[], longest: number): number {
  let cut = Math.max(0, text.length - longest + 1);
  while (cut > 0 && !/\s/.test(text[cut - 1] as string)) cut -= 1;
  const word = /(?:Bearer|Basic)\s*$/i.exec(text.slice(Math.max(0, cut - 32), cut));
  if (word) cut -= word[0].length;
  const key = text.lastIndexOf("-----BEGIN", cut);
  if (key >= 0 && !text.slice(key, cut).includes("-----END")) cut = Math.min(cut, key);
  for (const { start, end } of spans) if (start < cut && end > cut) cut = start;
  return cut;
}

/** The values of variables whose names look secret. */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && looksSecret(name) && value.trim().length >= MIN_SECRET_CHARS ? [value.trim()] : [],
  );
}

/** A name such as API_KEY or PGPASSWORD; not KEYBOARD, nor the key of Skein's own that holds names of variables. */
export const looksSecret = (name: string): boolean =>
  name !== "SKEIN_WORKSPACE_PASS" &&
  name
    .toUpperCase()
    .split(/[^A-Z]+/)
    .some(
      (part) =>
        SECRET_PARTS.has(part) || /(?:TOKEN|SECRET|PASSWORD|PASSWD|APIKEY|CREDENTIALS?)S?$/.test(part),
    );

const SECRET_PARTS: ReadonlySet<string> = new Set([
  ...["KEY", "KEYS", "PASS", "PASSPHRASE", "CREDS", "AUTH", "COOKIE", "PAT", "PRIVATE", "DSN"],
]);

/** Shorter values stand in ordinary text by chance. */
const MIN_SECRET_CHARS = 8;

type Span = { readonly start: number; readonly end: number };

/**
 * None goes beyond a quote or a backslash, so that what is in a string of JSON stays in it: an answer that is blotted
 * must mean the same.
 *
 * No shape has an unbounded part that something must follow, unless it can begin only once in a run of its
 * characters: so no text makes them slow. Where there is a group, only the group is blotted out.
 */
const SHAPES: readonly RegExp[] = [
  /\bsk-[\w-]{16,}/dg,
  /\b(?:sk|rk)_(?:live|test)_\w{16,}/dg,
  /\bgh[opsur]_[A-Za-z0-9]{20,}/dg,
  /\bgithub_pat_\w{20,}/dg,
  /\bglpat-[\w-]{16,}/dg,
  /\bnpm_[A-Za-z0-9]{30,}/dg,
  /\bhf_[A-Za-z0-9]{30,}/dg,
  /\bAIza[\w-]{35}/dg,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/dg,
  /\bxox[a-z]-[\w-]{10,}/dg,
  /(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/dg,
  /\b(?:Bearer|Basic)\s{1,4}([\w.~+/=-]{16,})/dgi,
  /:\/\/[^\s/:@"'\\]{0,200}:([^\s/@"'\\]{1,400})@/dg,
  /[?&](?:password|passwd|pwd|secret|token|access_token|api_?key|sig|signature)=([^\s&#"'\\]+)/dgi,
  /\b[A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)=(?:\\?["'])?([^\s"'\\]{8,})/dg,
  /(?<![\w-])--(?:[\w-]{0,60}[-_])?(?:token|secret|password|passwd|api[-_]?key|access[-_]?key)=(?:\\?["'])?([^\s"'\\$][^\s"'\\]{7,})/dgi,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:\s{0,4}Proc-Type:[^\n]{0,99}\n[^\n]{0,99})?(?:[\w+/=\s]|\\[nr])*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/dg,
];

function finder(secrets: readonly string[]): (text: string) => Span[] {
  const known = variants(secrets).map((secret) => secret.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const values = known.length === 0 ? [] : [new RegExp(known.join("|"), "dg")];
  const shapes = [...values, ...SHAPES];
  return (text) => merged(shapes.flatMap((shape) => [...text.matchAll(shape)].map(spanOf)));
}

function spanOf(match: RegExpExecArray): Span {
  const [start, end] = match.indices?.[1] ?? match.indices?.[0] ?? [0, 0];
  return { start, end };
}

/** Also as they stand in an address or in JSON; the longest first, so that none hides the rest of another. */
function variants(secrets: readonly string[]): string[] {
  const long = secrets
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .map((secret) => secret.toWellFormed());
  const all = long.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]);
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

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
