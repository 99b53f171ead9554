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
  /authorization\\{0,15}["']?[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,15}["'])?(?:[A-Za-z][\w-]{2,20}[ \t]{1,4}([^\s"'\\,;]{8,})|((?=[^\s"'\\,;]{0,200}[\d+/=]|[A-Za-z]{24})[^\s"'\\,;]{8,}))/dgi,
  /(?<![A-Za-z0-9](?<!\\[nrt]))(?:Bearer|Basic)[ \t]{1,4}((?=[A-Za-z._~+/=-]{0,60}\d)[\w.~+/=-]{16,}|[A-Za-z]{18,}={1,2})/dgi,
  /cookie\\{0,15}["']?[ \t]{0,4}:[ \t]{0,4}(?:\\{0,3}["'])?((?=[^\s;="']{1,64}=(?!\$\{))[^\r\n"'\\]{8,})/dgi,
  /[?&](?:password|passwd|pwd|secret|client_secret|(?:access_|id_|refresh_|auth_)?token|api_?key|sig|signature|x-(?:amz|goog)-(?:signature|security-token))=(?!\$\{)([^\s&#"'\\]{6,})/dgi,
  /(?<![\w-](?<!\\[nrt]))login[ \t]{1,4}[^\s"'\\]{1,100}[ \t]{1,4}password[ \t]{1,4}([^\s"'\\]{4,})/dg, // .netrc
  /(?<![\w-])sig=([\w%+/-]{20,}={0,2})/dg, // Azure.
  // Commands whose flag for a password is one letter.
  /(?<![\w-])(?:mysql\w{0,10}|mariadb[\w-]{0,10})[ \t][^\r\n|;&]{0,200}?(?<=[ \t])-p(?![\s$<{%])(?:\\{0,7}["'])?([^\s"'\\]{4,})/dg,
  /(?<![\w-])(?:mongo\w{0,8}|(?:docker|podman|helm registry|buildah|skopeo|oras) login|az login)[ \t][^\r\n|;&]{0,200}?(?<=[ \t])-p[ \t=](?:\\{0,7}["'])?(?![$<{%-])([^\s"'\\]{4,})/dg,
  /(?<![\w-])(?:redis-cli[ \t][^\r\n|;&]{0,200}?(?<=[ \t])-a|ldap\w{2,8}[ \t][^\r\n|;&]{0,200}?(?<=[ \t])-w|ssh-keygen[ \t][^\r\n|;&]{0,200}?(?<=[ \t])-[NP]|sqlcmd[ \t][^\r\n|;&]{0,200}?(?<=[ \t])-P|(?:un)?zip[ \t][^\r\n|;&]{0,200}?(?<=[ \t])-P)[ \t](?:\\{0,7}["'])?(?![$<{%-])([^\s"'\\]{4,})/dg,
  /(?<=[ \t])-pass(?:in|out)?[ \t]pass:([^\s"'\\]{4,})/dg, // OpenSSL.
  /ConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?\\{0,7}["']([^"'\\\r\n]{4,100})/dgi,
  // Words with spaces between them.
  /(?:pass|seed|recovery|secret)[ _-]?phrase\\{0,7}["'`]?[ \t]{0,4}(?:=>|[:=])?[ \t]{0,4}\\{0,7}["'`]([^"'`\\\r\n]{8,300})(?=\\{0,7}["'`])/dgi,
  /(?:(?:pass|seed|recovery|secret)[ _-]?phrase|mnemonic)\\{0,7}["'`]?[ \t]{0,4}[:=][ \t]{0,4}((?:[A-Za-z0-9'!-]{2,20}[ \t-]){2,23}[A-Za-z0-9'!-]{2,20})(?=[ \t]{0,4}(?:["'`\\\r\n#]|$))/dgi,
  // Terraform: a variable's block.
  /variable[ \t]{1,4}\\{0,7}"[\w-]{0,60}(?:pass|secret|token|key|credential)[\w-]{0,30}\\{0,7}"\s{0,4}\{[^{}]{0,400}?default\s{0,9}=\s{0,4}\\{0,7}"([^\s"\\]{4,})/dgi,
  /(?:[Pp]ass(?:word|wd|phrase)|PASSWORD)[ \t]{1,2}(?:is|was)[ \t:]{1,3}\\{0,7}["'`]?((?=[^\s]{0,60}\d)(?=[^\s]{0,60}[A-Z!@#%^&*])[^\s"'`\\,;]{6,})/dg,
  /sshpass[ \t]{1,4}-p[ \t]{0,4}(?:\\{0,3}["'])?([^\s"'\\]{4,})/dg,
  /(?<![\w-](?<!\\[nrt]))(?:-u|--user)[ =](?:\\{0,3}["'])?[^\s:"'\\]{1,64}:((?=[^\s"'\\]{0,60}[A-Za-z])(?=[^\s"'\\]{0,60}\d)[^\s"'\\]{6,})/dg,
  /identified[ \t]{1,4}(?:with[ \t]{1,4}\w{1,40}[ \t]{1,4})?by[ \t]{1,4}\\{0,3}["']([^\s"'\\]{4,})/dgi, // SQL.
];

const QUOTE = "\\\\{0,15}[\"'`]";

/** A line end, also as strings of JSON (in JSON) have it, and what `grep -n` or a diff writes before the next line. */
const LINE_END = "(?:\\r?\\n|(?<=\\\\)n)";
const LINE_START = "(?:[\\w./-]{1,80}[:-]\\d{1,6}[:-])?[+|>-]?[ \\t]{0,40}";

/** What may stand between a name and its value, behind the closing quote of the name. The first that fits is taken. */
const BETWEEN = {
  /** YAML: `password: |`, and the value in the next line. */
  block: `:[ \\t]{0,4}[|>][+-]?[ \\t]{0,4}\\\\{0,15}${LINE_END}${LINE_START}`,
  /** Aligned with others, or in bold. */
  assigned: "(?:\\*\\*|__)?[ \\t]{0,30}(?:=>|:=|[=:])(?:\\*\\*|__)?[ \\t]{0,30}",
  /** `<key>Password</key><string>…`. */
  closed: `</\\w{1,20}>\\s{0,9}(?:\\\\{0,15}${LINE_END}${LINE_START})?<(?:string|value)>`,
  /** `- name: KEY` with `value: …` below it, `key="Password" value="…"`. */
  pair: `(?=\\W)\\W{0,30}?(?:${LINE_END}${LINE_START}\\W{0,9}?)?(?:(?:default)?[vV]alue|default)(?:${QUOTE})?[ \\t]{0,4}[:=][ \\t]{0,4}`,
  /** `define('KEY', '…')`, `setPassword("…")`. */
  argument: `[ \\t]{0,2}[,(]\\s{0,9}(?=${QUOTE})`,
  /** `<password>…`, `<entry key="password">…`. */
  element: "(?:[ \\t][^<>\\r\\n]{0,100})?>\\s{0,20}",
  beside: "[ \\t]{1,4}",
} as const;

/** Which of several it is: `SECRET_KEY_BASE`, `TOKEN_2`. */
const WHICH =
  "[_-]?\\d{1,2}(?!\\w)|[_-](?:base|value|old|new|prod|production|staging|live|dev|main|primary|secondary)(?!\\w)";

/** The last word of a name, and what stands between it and its value. */
const NAMED = new RegExp(
  `(?<word>pass(?:word|wd|phrase|code)?|pwd|secret|token|key|credentials?|auth|dsn|pat)(?<which>${WHICH})?(?<closing>${QUOTE})?\\]?` +
    `(?:${Object.entries(BETWEEN)
      .map(([form, shape]) => `(?<${form}>${shape})`)
      .join("|")})(?<quote>${QUOTE})?`,
  "gi",
);
const VALUE = { quoted: /[^\s"'`\\]+/y, bare: /[^\s"'`\\,;&|<>(){}[\]]+/y, variable: /[^\s"'\\]+/y };

function* assignedIn(text: string): Generator<Span> {
  NAMED.lastIndex = 0;
  for (let found = NAMED.exec(text); found; found = NAMED.exec(text)) {
    const start = NAMED.lastIndex;
    const { word = "", quote, ...groups } = found.groups ?? {};
    NAMED.lastIndex = found.index + word.length; // What stands behind it may be another name.
    const name = nameBefore(text, found.index) + word;
    const nameAt = found.index + word.length - name.length;
    const before = text.slice(Math.max(0, nameAt - MAX_BEFORE_CHARS), nameAt);
    const form = formIn(name, groups, { before, isQuoted: quote !== undefined });
    if (form === undefined) continue;
    const shape = quote !== undefined ? VALUE.quoted : form.isVariable ? VALUE.variable : VALUE.bare;
    // Its beginning says what it is. To read on only then keeps a text of names without values from costing much.
    shape.lastIndex = 0;
    const value = shape.exec(text.slice(start, start + MAX_JUDGED_CHARS))?.[0];
    if (value === undefined) continue;
    const next = value.length < MAX_JUDGED_CHARS ? text[start + value.length] : undefined;
    const isClosed = groups["element"] !== undefined || groups["closed"] !== undefined;
    const end = isClosed && next === "<" ? undefined : next;
    if (!isSecret(value, form, { isQuoted: quote !== undefined, next: end })) continue;
    shape.lastIndex = start;
    shape.exec(text);
    yield { start, end: shape.lastIndex };
    NAMED.lastIndex = shape.lastIndex;
  }
}

type Groups = Readonly<Record<string, string | undefined>>;

/** What the way in which a name and a value stand together makes of them; undefined: they do not belong together. */
function formIn(
  name: string,
  { closing, assigned, block, argument, element, beside }: Groups,
  { before, isQuoted }: { readonly before: string; readonly isQuoted: boolean },
): Form | undefined {
  if (assigned !== undefined) return formOf(name, assigned);
  if (block !== undefined) return formOf(name, ":");
  if (element !== undefined && closing === undefined && !/<[\w.-]{0,40}:?$/.test(before)) return undefined;
  if (argument !== undefined && (before.endsWith("/") || (argument.includes(",") && closing === undefined)))
    return undefined;
  if (beside !== undefined && !name.startsWith("-") && !SETTER.test(before))
    return isQuoted && closing === undefined && /passw(?:or)?d$/i.test(name) ? formOf(name, ":") : undefined;
  if (name.startsWith("-")) return formOf(name, beside ?? ":");
  const isVariable = /^[A-Z0-9_]+$/.test(name) && looksSecret(name);
  return isVariable ? { isVariable: false, isPassword: true } : formOf(name, ":");
}

/** Commands that set a variable: of shells, of Dockerfiles, of many tools. */
const SETTER =
  /(?:^|[\s"'`:+])(?:set(?:env|x|g)?|ENV|ARG|(?:config(?:ure)?|secret|env)[ \t:](?:set|add))(?:[ \t]+-{1,2}[\w-]{1,12})*[ \t]+["'`]?$/;
const MAX_BEFORE_CHARS = 60;

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
  const isPassword = PASSWORDS.has(last) || GLUED.test(last);
  if (isVariable && !isFlag) return looksSecret(name) ? { isVariable, isPassword } : undefined;
  const isKey = KEYS.has(before) || /(?:api|access|account|secret|private|shared)$/.test(before);
  const isNamed = isPassword || SECRETS.has(last) || (last === "key" && isKey) || /^_?auth$/.test(name);
  return isNamed || isPassword || /(?:secret|token|(?:api|access|account)key)$/.test(last)
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
/** `storepass`, `dbpassword`; not `bypass`. */
const GLUED =
  /(?:password|passwd|passphrase)$|^(?:store|key|trust|user|db|root|admin|mail|smtp|ftp|ldap|my|src|dest)pass$/;
const SECRETS: ReadonlySet<string> = new Set(["secret", "token", "credential", "credentials", "dsn"]);
/** `key` alone is the name of too many things. */
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
  { isVariable, isPassword }: Form,
  { isQuoted, next = "" }: { readonly isQuoted: boolean; readonly next: string | undefined },
): boolean {
  if (/^(?:your[_-]|\$[A-Za-z_({]|\{\{|<|%[({A-Z])/.test(value) || value.startsWith("[redacted"))
    return false;
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
/** Base64 may begin with a slash. */
const PATH = /^\.{0,2}\/(?![A-Za-z0-9+/]{30,}={0,2}$)|^@|\.[A-Za-z]{1,4}$/;

/** Shorter values stand in ordinary text by chance. */
export const MIN_SECRET_CHARS = 8;
const MIN_PASSWORD_CHARS = 6;
