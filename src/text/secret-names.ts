/** Which texts are secrets by the name that stands before them? `PASSWORD=…`, `"api_key": "…"`, `Authorization: …`. */
import { type Span, spanOf } from "./secret-shapes.ts";

/** None of these goes beyond the end of its line, nor beyond a quote or a backslash. */
export const namedSecrets = (text: string): Span[] => [
  ...assignedIn(text),
  ...PLACES.flatMap((place) => [...text.matchAll(place)].map(spanOf)),
];

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

/**
 * Headers, addresses and commands that carry a secret in a place of its own. The group is the secret. `(?<!\\[nrt])`: a
 * letter that belongs to a line end in a string of JSON is no word before it.
 */
const PLACES: readonly RegExp[] = [
  /authorization\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,3}["'])?(?:[A-Za-z][\w-]{2,20}[ \t]{1,4})?([^\s"'\\,;]{8,})/dgi,
  /(?<![A-Za-z0-9](?<!\\[nrt]))(?:Bearer|Basic)[ \t]{1,4}((?=[A-Za-z._~+/=-]{0,60}\d)[\w.~+/=-]{16,}|[A-Za-z]{18,}={1,2})/dgi,
  /cookie\\{0,3}["']?[ \t]{0,4}:[ \t]{0,4}(?:\\{0,3}["'])?((?=[^\s;="']{1,64}=)[^\r\n"'\\]{8,})/dgi,
  /[?&](?:password|passwd|pwd|secret|client_secret|(?:access_|id_|refresh_|auth_)?token|api_?key|sig|signature|x-(?:amz|goog)-(?:signature|security-token))=([^\s&#"'\\]+)/dgi,
  /(?<![\w-](?<!\\[nrt]))login[ \t]{1,4}[^\s"'\\]{1,100}[ \t]{1,4}password[ \t]{1,4}([^\s"'\\]{4,})/dg, // .netrc
  /sshpass[ \t]{1,4}-p[ \t]{0,4}(?:\\{0,3}["'])?([^\s"'\\]{4,})/dg,
  /(?<![\w-](?<!\\[nrt]))(?:-u|--user)[ =](?:\\{0,3}["'])?[^\s:"'\\]{1,64}:((?=[^\s"'\\]{0,60}[A-Za-z])(?=[^\s"'\\]{0,60}\d)[^\s"'\\]{6,})/dg,
  /identified[ \t]{1,4}(?:with[ \t]{1,4}\w{1,40}[ \t]{1,4})?by[ \t]{1,4}\\{0,3}["']([^\s"'\\]{4,})/dgi, // SQL.
];

/** The last word of a name, and what stands between it and its value. */
const COLOUR = `(?:(?:${String.fromCharCode(27)}|\\\\u001[bB])\\[[\\d;]{0,20}m)?`;
const QUOTE = "\\\\{0,3}[\"'`]";
const NAMED = new RegExp(
  `(pass(?:word|wd|phrase|code)?|pwd|secret|token|key|credentials?|auth|dsn|pat)${COLOUR}(?:${QUOTE})?\\]?` +
    `([ \\t]{0,4}(?:=>|:=|[=:])[ \\t]{0,4}|[ \\t]{1,4})${COLOUR}(${QUOTE})?`,
  "gi",
);
const VALUE = { quoted: /[^\s"'`\\]+/y, bare: /[^\s"'`\\,;&|<>(){}[\]]+/y, variable: /[^\s"'\\]+/y };

function* assignedIn(text: string): Generator<Span> {
  NAMED.lastIndex = 0;
  for (let found = NAMED.exec(text); found; found = NAMED.exec(text)) {
    const [, word = "", between = "", quote] = found;
    const start = NAMED.lastIndex;
    const form = formOf(nameBefore(text, found.index) + word, between);
    if (form === undefined) continue;
    const shape = form.isVariable ? VALUE.variable : quote === undefined ? VALUE.bare : VALUE.quoted;
    // Its beginning says what it is. To read on only then keeps a text of names without values from costing much.
    shape.lastIndex = 0;
    const value = shape.exec(text.slice(start, start + MAX_JUDGED_CHARS))?.[0];
    if (value === undefined) continue;
    const next = value.length < MAX_JUDGED_CHARS ? text[start + value.length] : undefined;
    if (!isSecret(value, form, { isQuoted: quote !== undefined, next })) continue;
    shape.lastIndex = start;
    shape.exec(text);
    yield { start, end: shape.lastIndex };
    NAMED.lastIndex = shape.lastIndex;
  }
}

const MAX_JUDGED_CHARS = 128;

/** The first parts of the name; the letter of a `\n`, as a string of JSON has it, is none of them. */
function nameBefore(text: string, at: number): string {
  const before = /\\?[\w.-]*$/.exec(text.slice(Math.max(0, at - MAX_NAME_CHARS), at))?.[0] ?? "";
  return before.replace(/^\\[bfnrt]?/, "");
}

const MAX_NAME_CHARS = 60;

/** `password`, `dbToken`, `api_key`: what stands under such a name in an object is a secret. */
export const isSecretName = (name: string): boolean => formOf(name, ":") !== undefined;

type Form = {
  /** PASSWORD=… and --password=…: whatever is long enough is the value, and no code. */
  readonly isVariable: boolean;
  readonly isPassword: boolean;
};

/** Undefined: nothing that is named so is a secret. */
function formOf(name: string, between: string): Form | undefined {
  const isFlag = name.startsWith("-");
  if (between.trim() === "" && !isFlag) return undefined;
  const words = wordsOf(name);
  const isVariable = between === "=" && (isFlag || /^[A-Z0-9_]+$/.test(name));
  const [last = "", before = ""] = words.toReversed();
  const isPassword = PASSWORDS.has(last);
  if (isVariable && !isFlag) return looksSecret(name) ? { isVariable, isPassword } : undefined;
  const isKey = KEYS.has(before) || /(?:api|access|account|secret|private|shared)$/.test(before);
  const isNamed = isPassword || SECRETS.has(last) || (last === "key" && isKey) || /^_?auth$/.test(name);
  return isNamed || /(?:password|passwd|secret|token|(?:api|access|account)key)$/.test(last)
    ? { isVariable, isPassword }
    : undefined;
}

/** `dbPassword`, `db_password` and `db-password` alike. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");

const PASSWORDS: ReadonlySet<string> = new Set([
  ...["password", "passwd", "passphrase", "passcode", "pwd", "pass"],
]);
const SECRETS: ReadonlySet<string> = new Set(["secret", "token", "credential", "credentials", "dsn"]);
/** `key` alone is the name of too many things. */
const KEYS: ReadonlySet<string> = new Set([
  ...["api", "access", "secret", "private", "account", "auth", "signing", "encryption", "shared", "master"],
  ...["storage", "subscription", "consumer", "client", "deploy", "license", "service", "webhook", "admin"],
]);

function isSecret(
  value: string,
  { isVariable, isPassword }: Form,
  { isQuoted, next = "" }: { readonly isQuoted: boolean; readonly next: string | undefined },
): boolean {
  if (/^(?:\$[A-Za-z_({]|\{\{|<|%[({A-Z])/.test(value) || value.startsWith("[redacted")) return false;
  if (isVariable) return value.length >= MIN_SECRET_CHARS;
  if (!(isPassword ? mayBePassword(value) : mayBeSecret(value))) return false;
  if (isQuoted && !/^(?:$|["'`\\\r\n])/.test(next)) return false; // A sentence goes on.
  if (!isQuoted && (/[([<]/.test(next) || CODE.test(value))) return false;
  return isPassword || !PATH.test(value);
}

const mayBeSecret = (value: string) =>
  value.length >= MIN_SECRET_CHARS &&
  (/\d/.test(value) ? /[A-Za-z]/.test(value) : /^[A-Za-z]{20,}$/.test(value));

const mayBePassword = (value: string) =>
  value.length >= MIN_PASSWORD_CHARS &&
  (/\d/.test(value) || /[^\w.:/-]/.test(value) || /^[a-z-]{14,}$/.test(value));

/** `config.token2` and `Uint8Array`: code has names and types where a secret would be. */
const CODE = /^[A-Za-z_$][\w$]*(?:\??\.#?[A-Za-z_$][\w$]*)+$|^[A-Za-z]+\d*(?:[A-Z][a-z]+)+\d*$/;
const PATH = /^\.{0,2}\/|^@|\.[A-Za-z]{1,4}$/;

/** Shorter values stand in ordinary text by chance. */
export const MIN_SECRET_CHARS = 8;
const MIN_PASSWORD_CHARS = 6;
