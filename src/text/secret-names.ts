/** Finds secrets by the name before them: `PASSWORD=…`, `"api_key": "…"`, `Authorization: …`. */
import { LINE_PREFIX, SECRET_PLACES } from "./secret-places.ts";
import { type Span, spanOf } from "./secret-shapes.ts";

/** No span goes beyond the end of its line, a quote or a backslash. */
export const namedSecrets = (text: string): Span[] => [
  ...assignedIn(text),
  ...SECRET_PLACES.flatMap((place) => [...text.matchAll(place)].map(spanOf)),
];

/**
 * True for a name such as API_KEY or PGPASSWORD; not for KEYBOARD, nor for Skein's own key that lists names of
 * variables.
 */
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

const MAX_PHRASE_CHARS = 300;
const QUOTE = "\\\\{0,15}[\"'`]";
/** The start of a string: a quote, with a language's prefix, a triple quote, or the brackets of Lua and Perl. */
const STRING = `(?:(?:[bBrRuUfFL]{1,2}#{0,2}|[@$]{1,2})?(?:\\\\{0,15}(?:"""|''')|${QUOTE})|\\[\\[|qq?[{([])`;

/** A line end, also escaped as in (nested) JSON strings. */
const LINE_END = "(?:\\r?\\n|(?<=\\\\)n)";
const LINE_START = `${LINE_PREFIX}[ \\t]{0,40}`;

/** What may stand between a name and its value, after the closing quote of the name. The first match is taken. */
const BETWEEN = {
  /** YAML: `password: |` with the value in the next line. */
  block: `:[ \\t]{0,4}[|>][+-]?[ \\t]{0,4}\\\\{0,15}${LINE_END}${LINE_START}`,
  /** `const token: string = "…"`, `API_KEY: &str = "…"`. */
  typed: `[ \\t]{0,4}:[ \\t]{0,4}&?[A-Za-z][\\w<>.|&' ]{0,40}=[ \\t]{0,4}(?=${STRING})`,
  /** `string Password { get; set; } = "…"`. */
  accessors: `[ \\t]{0,4}\\{[\\w;, \\t]{3,60}\\}[ \\t]{0,4}=[ \\t]{0,4}(?=${STRING})`,
  /** `process.env.JWT_SECRET || "…"`. */
  fallback: `[ \\t]{0,4}(?:\\|\\||\\?\\?|or)[ \\t]{1,4}(?=${STRING})`,
  /** A table with drawn lines, but not with `|`, which also separates two commands. */
  cell: "[ \\t]{0,40}[│┃║][ \\t]{1,40}",
  /** An assignment, perhaps aligned with others or in bold. */
  assigned: "(?:\\*\\*|__)?[ \\t]{0,30}(?:=>|:=|[=:])(?:\\*\\*|__)?[ \\t]{0,30}",
  /** `<key>Password</key><string>…`. */
  closed: `</\\w{1,20}>\\s{0,9}(?:\\\\{0,15}${LINE_END}${LINE_START})?<(?:string|value)>`,
  /** `- name: KEY` with `value: …` below it, `key="Password" value="…"`. */
  pair: `(?=\\W)\\W{0,30}?(?:${LINE_END}${LINE_START}\\W{0,9}?)?(?:(?:default)?[vV]alue|default)(?:${QUOTE})?[ \\t]{0,4}[:=][ \\t]{0,4}`,
  /** `define('KEY', '…')`, `setPassword("…")`. */
  argument: `[ \\t]{0,2}[,(]\\s{0,9}(?=${QUOTE})`,
  /** `<password>…`, `<entry key="password">…`. */
  element: "(?:[ \\t][^<>\\r\\n]{0,100})?>\\s{0,20}",
  /** A line of a table or of .netrc with only a name and its value. */
  column: "[ \\t]{1,40}(?=[^\\s]{6,200}[ \\t]{0,9}(?:\\r?\\n|$))",
  beside: "[ \\t]{1,4}",
} as const;

/** A suffix that numbers or qualifies a name: `SECRET_KEY_BASE`, `TOKEN_2`. */
const WHICH =
  "[_-]?\\d{1,2}(?!\\w)|[_-](?:base|value|old|new|prod|production|staging|live|dev|main|primary|secondary)(?!\\w)";

/** The last word of a name, and what stands between that name and its value. */
const NAMED = new RegExp(
  `(?<word>pass(?:word|wd|phrase|code)?|pwd|secret|token|key|credentials?|auth|dsn|pat|psk)(?<which>${WHICH})?(?<closing>${QUOTE})?\\]?` +
    `(?:${Object.entries(BETWEEN)
      .map(([form, shape]) => `(?<${form}>${shape})`)
      .join("|")})(?<quote>${STRING})?`,
  "gi",
);
const BARE = { value: /[^\s"'`\\,;&|<>(){}[\]]+/y, variable: /[^\s"'\\]+/y };
/** A quote of another kind between two letters belongs to the value; a quote that ends a JSON string does not. */
const QUOTED: Readonly<Record<string, { readonly word: RegExp; readonly phrase: RegExp }>> =
  Object.fromEntries(
    ['"', "'", "`"].map((quote) => {
      const letter = `[^\\s"'\`\\\\]|(?<=\\w)(?!${quote})["'\`](?=\\w)`;
      const phrase = `(?:${letter}|[ \\t]){1,${MAX_PHRASE_CHARS}}(?=\\\\{0,15}${quote})`;
      return [quote, { word: new RegExp(`(?:${letter})+`, "y"), phrase: new RegExp(phrase, "y") }];
    }),
  );
const BRACKETED = /[^\s"'`\\\]})]+/y;

function* assignedIn(text: string): Generator<Span> {
  NAMED.lastIndex = 0;
  for (let found = NAMED.exec(text); found; found = NAMED.exec(text)) {
    const start = NAMED.lastIndex;
    const { word = "", quote, ...groups } = found.groups ?? {};
    NAMED.lastIndex = found.index + word.length; // The text after this name may be another name.
    const name = nameBefore(text, found.index) + word;
    const nameAt = found.index + word.length - name.length;
    const before = text.slice(Math.max(0, nameAt - MAX_BEFORE_CHARS), nameAt);
    const form = formIn(name, groups, { before, isQuoted: quote !== undefined });
    if (form === undefined) continue;
    const isClosed = groups["element"] !== undefined || groups["closed"] !== undefined;
    const end = valueEnd(text, start, { form, quote, isClosed });
    if (end === undefined) continue;
    yield { start, end };
    NAMED.lastIndex = end;
  }
}

type Place = { readonly form: Form; readonly quote: string | undefined; readonly isClosed: boolean };

/** Undefined if the text there is not a secret. */
function valueEnd(text: string, start: number, { form, quote, isClosed }: Place): number | undefined {
  const quoted = quote === undefined ? undefined : QUOTED[quote.at(-1)!];
  const words = quoted?.phrase ?? (isClosed ? CLOSED : undefined);
  const phrase = words && matchAt(words, text, start);
  if (phrase?.includes(" ") && isSecretPhrase(phrase, form)) return start + phrase.length;
  // The first characters decide whether it is a secret. Reading on only then keeps a text of names without values
  // cheap.
  const shape =
    quoted?.word ?? (quote !== undefined ? BRACKETED : form.isVariable ? BARE.variable : BARE.value);
  const value = matchAt(shape, text.slice(start, start + MAX_JUDGED_CHARS), 0);
  if (value === undefined) return undefined;
  const after =
    value.length < MAX_JUDGED_CHARS ? text.slice(start + value.length, start + value.length + 8) : "";
  const rest = isClosed && after.startsWith("<") ? "" : after;
  if (!isSecret(value, form, { isQuoted: quote !== undefined, rest })) return undefined;
  return start + matchAt(shape, text, start)!.length;
}

function matchAt(shape: RegExp, text: string, at: number): string | undefined {
  shape.lastIndex = at;
  return shape.exec(text)?.[0];
}

type Groups = Readonly<Record<string, string | undefined>>;

/** How a name and a value are connected decides what counts as a value; undefined if they do not belong together. */
function formIn(
  name: string,
  {
    closing,
    assigned,
    typed,
    accessors,
    fallback,
    cell,
    block,
    argument,
    element,
    closed,
    column,
    beside,
  }: Groups,
  { before, isQuoted }: { readonly before: string; readonly isQuoted: boolean },
): Form | undefined {
  const isOption = name.startsWith("-");
  if (assigned !== undefined) {
    if (assigned.trim() === ":" && isHeader(name, before))
      return { isVariable: false, isPassword: false, isWhole: true };
    const form = /^key$/i.test(name) && KEY_OF.test(before) ? formOf("api_key", ":") : formOf(name, assigned);
    const isField = assigned.trim() !== "=" || assigned === "=";
    /** A line of a settings file: code has blanks around the sign, or something after the value. */
    const isSetting = assigned === "=" && ALONE.test(before);
    const isTold = isOption
      ? isQuoted && OPTIONS.has(lastOf(name))
      : isField && (isQuoted || isSetting) && FIELDS.has(isSetting ? lastOf(name) : name.toLowerCase());
    return form && { ...form, isTold, isWhole: form.isVariable };
  }
  if ((block ?? typed ?? accessors ?? fallback ?? cell) !== undefined) return formOf(name, ":");
  if (column !== undefined && !isOption && ALONE.test(before)) return formOf(name, ":");
  if (element !== undefined && closing === undefined && !/<[\w.-]{0,40}:?$/.test(before)) return undefined;
  const isList = argument?.includes(",") && (closing === undefined || closing.endsWith("`"));
  if (argument !== undefined && (before.endsWith("/") || isList)) return undefined;
  if ((beside ?? column) !== undefined && !isOption && !SETTER.test(before))
    return isQuoted && closing === undefined && /passw(?:or)?d$/i.test(name) ? formOf(name, ":") : undefined;
  if (isOption) {
    const form = formOf(name, beside ?? column ?? ":");
    return form && { ...form, isTold: OPTIONS.has(lastOf(name)), isWhole: (beside ?? column) !== undefined };
  }
  const isTold = (element ?? closed) !== undefined && FIELDS.has(name.toLowerCase());
  const isVariable = /^[A-Z0-9_]+$/.test(name) && looksSecret(name);
  const form = isVariable ? { isVariable: false, isPassword: true } : formOf(name, ":");
  return form && { ...form, isTold, isWhole: (beside ?? column) !== undefined };
}

/** At the start of a line, or of a string that is one line. */
const ALONE = new RegExp(`(?:^|[\\n"'\`])${LINE_START}$`);

/** "private key: …", with a space inside the name. */
const KEY_OF = /(?<![A-Za-z])(?:api|access|account|secret|private|signing|encryption|master)[ \t]$/i;

/**
 * `"Fastly-Key: …"`, or a header line of a request: a hyphenated name whose last word says that the value is secret.
 */
function isHeader(name: string, before: string): boolean {
  if (!/^[A-Za-z][A-Za-z\d]*(?:-[A-Za-z\d]+)+$/.test(name) || OPEN_KEYS.test(name)) return false;
  return (
    /["'`]$/.test(before) || (/(?:^|\n|\n?[<>] )$/.test(before) && /^(?:[A-Z][A-Za-z\d]*-?)+$/.test(name))
  );
}

/** Header names that end in "key" but are not secrets. */
const OPEN_KEYS =
  /(?:idempotency|cache|surrogate|websocket|partition|sort|primary|foreign|public|host)-key$/i;

/** Field names whose values count as secrets even if they consist of letters only. */
const FIELDS: ReadonlySet<string> = new Set([
  ...["password", "passwd", "passphrase", "passcode", "pwd", "secret"],
]);
/** The same for the last word of an option. */
const OPTIONS: ReadonlySet<string> = new Set([...FIELDS, "pass", "token"]);
const lastOf = (name: string) => wordsOf(name).at(-1) ?? "";

/** Commands that set a variable, in shells, Dockerfiles and many tools. */
const SETTER =
  /(?:^|[\s"'`:+])(?:set(?:env|x|g)?|ENV|ARG|(?:config(?:ure)?|secret|env)[ \t:](?:set|add))(?:[ \t]+-{1,2}[\w-]{1,12})*[ \t]+["'`]?$/;
const MAX_BEFORE_CHARS = 60;

const MAX_JUDGED_CHARS = 128;
/** A value between two tags. */
const CLOSED = /[^<>"'`\\\r\n]{1,300}(?=<\/)/y;

/** The part of the name before its last word; the letter of an escaped line end in JSON is not part of it. */
function nameBefore(text: string, at: number): string {
  const before = /\\?[\w.-]*$/.exec(text.slice(Math.max(0, at - MAX_NAME_CHARS), at))?.[0] ?? "";
  return before.replace(/^\\[bfnrt]?/, "");
}

const MAX_NAME_CHARS = 60;

/** True for field names such as `password`, `dbToken` and `api_key`, whose values in an object are secrets. */
export const isSecretName = (name: string): boolean => formOf(name, ":") !== undefined;

type Form = {
  /** PASSWORD=… and --password=…: any long enough text is the value, because it is not code. */
  readonly isVariable: boolean;
  readonly isPassword: boolean;
  /** The name or the option is so clear that a value of letters only is a secret. */
  readonly isTold?: boolean;
  /** The whole quoted text is the value, whatever words it has. */
  readonly isWhole?: boolean;
};

/** Undefined if no value of this name is a secret. */
function formOf(name: string, between: string): Form | undefined {
  const isFlag = name.startsWith("-");
  if (between.trim() === "" && !isFlag) return undefined;
  const words = wordsOf(name);
  const isVariable = between === "=" && (isFlag || /^[A-Z0-9_]+$/.test(name));
  const [last = "", before = ""] = words.toReversed();
  const isPassword = PASSWORDS.has(last) || GLUED.test(last);
  if (isVariable && !isFlag) return looksSecret(name) ? { isVariable, isPassword } : undefined;
  const isKey = KEYS.has(before) || /(?:api|access|account|secret|private|shared)$/.test(before);
  const isNamed = isPassword || SECRETS.has(last) || (last === "key" && isKey) || /^_?auth$/.test(name);
  return isNamed || isPassword || /(?:secret|token|(?:api|access|account)key)$/.test(last)
    ? { isVariable, isPassword }
    : undefined;
}

/** Splits `dbPassword`, `db_password` and `db-password` into the same words. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");

const PASSWORDS: ReadonlySet<string> = new Set([
  ...["password", "passwd", "passphrase", "passcode", "pwd", "pass", "psk"],
]);
/** One-word names such as `storepass` and `dbpassword`; not `bypass`. */
const GLUED =
  /(?:password|passwd|passphrase)$|^(?:store|key|trust|user|db|root|admin|mail|smtp|ftp|ldap|my|src|dest)pass$/;
const SECRETS: ReadonlySet<string> = new Set(["secret", "token", "credential", "credentials", "dsn"]);
/** Words before `key` that make it secret: `key` alone names too many things. */
const KEYS: ReadonlySet<string> = new Set([
  ...[
    "api",
    "access",
    "secret",
    "preshared",
    "private",
    "account",
    "auth",
    "signing",
    "encryption",
    "shared",
    "master",
  ],
  ...["storage", "subscription", "consumer", "client", "deploy", "license", "service", "webhook", "admin"],
]);

function isSecret(
  value: string,
  { isVariable, isPassword, isTold, isWhole }: Form,
  { isQuoted, rest }: { readonly isQuoted: boolean; readonly rest: string },
): boolean {
  if (NO_VALUE.test(value) || (VARIABLE_NAME.test(value) && looksSecret(value))) return false;
  if (isVariable) return value.length >= MIN_SECRET_CHARS;
  const isEnd = isQuoted ? /^(?:$|["'`\\\r\n\]})])/ : /^[ \t]*(?:$|["'`\\\r\n|;&>]|--?\w)/;
  if (isTold && isEnd.test(rest) && mayBeWord(value)) return true;
  if (!(isPassword ? mayBePassword(value) : mayBeSecret(value))) return false;
  if (isQuoted && !isEnd.test(rest)) return false; // More text follows, so this is a sentence.
  if (!isQuoted && (/^[([<]/.test(rest) || (!isWhole && CODE.test(value)))) return false;
  return isPassword || !PATH.test(value);
}

/** References, templates, patterns, and text that was redacted before. */
const NO_VALUE = /^(?:your[_-]|\$[A-Za-z_({]|\{\{|<|%[({A-Z]|\.[*+]|\[\^|\(\?|\[redacted)/;
const VARIABLE_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/**
 * For quoted text with spaces: a secret if most words do not look like words of a sentence, or if the name makes the
 * whole text the value.
 */
function isSecretPhrase(phrase: string, { isVariable, isPassword, isWhole }: Form): boolean {
  if (NO_VALUE.test(phrase) || phrase.trim().length < MIN_SECRET_CHARS) return false;
  if (isVariable || isWhole) return true;
  const words = phrase.split(" ").filter((word) => word !== "");
  const strange = words.filter((word) => /\d/.test(word) && /[^\d.,:;()%]/.test(word));
  return isPassword && strange.length * 2 >= words.length;
}

/** A word that is not a type, an example or a label. */
const mayBeWord = (value: string) =>
  /^[A-Za-z]{6,}$/.test(value) && !/^[A-Z][a-z]+$/.test(value) && !NO_PASSWORDS.test(value);

/** Words of schemas and types, and placeholders that describe themselves. */
const NO_PASSWORDS =
  /^(?:string|required|optional|number|integer|boolean|object|varchar|identifier|undefined|unknown|hidden|default|invalid|missing|example|redacted|masked|bearer)$|(?:pass(?:word|wd|phrase|code)?|secret|token|key|credentials?|text|value|field|input)s?$/i;

const mayBeSecret = (value: string) =>
  value.length >= MIN_SECRET_CHARS &&
  (/\d/.test(value) ? /[A-Za-z]/.test(value) : /^[A-Za-z]{20,}$/.test(value));

const mayBePassword = (value: string) =>
  value.length >= MIN_PASSWORD_CHARS &&
  (/\d/.test(value) || /[^\w.:/-]/.test(value) || /^[a-z-]{14,}$/.test(value));

/** `config.token2` and `Uint8Array`: names and types that code has where a secret would be. */
const CODE = /^[A-Za-z_$][\w$]*(?:\??\.#?[A-Za-z_$][\w$]*)+$|^[A-Za-z]+\d*(?:[A-Z][a-z]+)+\d*$/;
/** A path; but base64 may also begin with a slash. */
const PATH = /^\.{0,2}\/(?![A-Za-z0-9+/]{30,}={0,2}$)|^@|\.[A-Za-z]{1,4}$/;

/** Shorter values occur in ordinary text by chance. */
export const MIN_SECRET_CHARS = 8;
const MIN_PASSWORD_CHARS = 6;
