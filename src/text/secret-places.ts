/** Patterns for headers, URLs and commands in which a certain place always holds a secret. */

import { COMMAND_PLACES } from "./secret-commands.ts";

/** The prefix that `grep -n` or a diff writes before a line. */
export const LINE_PREFIX = "(?:[\\w./-]{1,80}[:-]\\d{1,6}[:-])?[+|>-]?";

/**
 * The captured group is the secret. `(?<!\\[nrt])`: the letter of an escaped line end in a JSON string is not a word
 * before it.
 */
export const SECRET_PLACES: readonly RegExp[] = [
  /authorization\\{0,15}["']?[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,15}["'])?(?:[A-Za-z][\w-]{2,20}[ \t]{1,4}(?!\$[\w{(])([^\s"'\\,;]{8,})|((?=[^\s"'\\,;]{0,200}[\d+/=]|[A-Za-z]{24})[^\s"'\\,;]{8,}))/dgi,
  /(?<![A-Za-z0-9](?<!\\[nrt]))(?:Bearer|Basic)[ \t]{1,4}((?=[A-Za-z._~+/=-]{0,60}\d)[\w.~+/=-]{16,}|[A-Za-z]{18,}={1,2})/dgi,
  /cookie\\{0,15}["']?[ \t]{0,4}:[ \t]{0,4}(?:\\{0,3}["'])?((?=[^\s;="']{1,64}=(?!\$\{))[^\r\n"'\\]{8,})/dgi,
  /[?&](?:password|passwd|pwd|secret|client_secret|(?:access_|id_|refresh_|auth_)?token|api_?key|sig|signature|x-(?:amz|goog)-(?:signature|security-token))=(?!\$\{)([^\s&#"'\\]{6,})/dgi,
  /(?<![\w-](?<!\\[nrt]))login[ \t]{1,4}[^\s"'\\]{1,100}[ \t]{1,4}password[ \t]{1,4}([^\s"'\\]{4,})/dg, // .netrc
  /(?<![\w-])sig=([\w%+/-]{20,}={0,2})/dg, // Azure.
  /(?<=[ \t])-pass(?:in|out)?[ \t]pass:([^\s"'\\]{4,})/dg, // OpenSSL.
  /ConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?\\{0,7}["']([^"'\\\r\n]{4,100})/dgi,
  // A passphrase of several words.
  /(?:pass|seed|recovery|secret)[ _-]?phrase\\{0,7}["'`]?[ \t]{0,4}(?:=>|[:=])?[ \t]{0,4}\\{0,7}["'`](?!\w*phrase["'`\\])([^"'`\\\r\n]{8,300})(?=\\{0,7}["'`])/dgi,
  /(?:(?:pass|seed|recovery|secret)[ _-]?phrase|mnemonic)\\{0,7}["'`]?[ \t]{0,4}[:=][ \t]{0,4}((?:[A-Za-z0-9'!-]{2,20}[ \t-]){2,23}[A-Za-z0-9'!-]{2,20})(?=[ \t]{0,4}(?:["'`\\\r\n#]|$))/dgi,
  // Terraform: the block of a variable.
  /variable[ \t]{1,4}\\{0,7}"[\w-]{0,60}(?:pass|secret|token|key|credential)[\w-]{0,30}\\{0,7}"\s{0,4}\{[^{}]{0,400}?default\s{0,9}=\s{0,4}\\{0,7}"([^\s"\\]{4,})/dgi,
  /(?:[Pp]ass(?:word|wd|phrase)|PASSWORD)[ \t]{1,2}(?:is|was)[ \t:]{1,3}\\{0,7}["'`]?((?=[^\s]{0,60}\d)(?=[^\s]{0,60}[A-Z!@#%^&*])[^\s"'`\\,;]{6,})/dg,
  // A secret on its own line, below a sentence such as `Use this password to go on:`.
  new RegExp(
    `(?:[Pp]ass(?:word|phrase|code)|[Tt]oken|(?:[Aa][Pp][Ii]|[Ss]ecret)[ _-][Kk]ey)[^\\r\\n:"'\`=;{}()]{0,80}:[ \\t\\r]{0,4}\\n` +
      `(?:${LINE_PREFIX}[ \\t\\r]{0,8}\\n)?${LINE_PREFIX}[ \\t]{0,8}` +
      `((?=[A-Za-z_-]{0,60}\\d)(?=[\\d_-]{0,60}[A-Za-z])[\\w+/=-]{16,})(?=[ \\t\\r]{0,4}(?:[\\n"'\\\\]|$))`,
    "dg",
  ),
  // At the end of a line: `A temporary password is generated for root@localhost: …`.
  /(?:[Pp]ass(?:word|wd|phrase|code)|PASSWORD)(?:[ \t]{1,2}[\w@.'"<>()-]{1,60}){1,8}?(?::|[ \t](?:is|to))[ \t]{1,4}["'`]?((?=[^\s]{0,60}\d)(?=[^\s]{0,60}[a-z])(?=[^\s]{0,60}[A-Z!#%^&*()+;?])(?![\w.-]{0,60}(?:\(|@[\w-]{1,60}\.))[^\s"'`\\]{8,})(?=["'`]?[ \t.]{0,4}(?:[\r\n"'\\]|$))/dg,
  /(?<![\w-](?<!\\[nrt]))(?:-[uU]|--(?:proxy-)?user)[ =](?:\\{0,3}["'])?[^\s:"'\\]{1,64}:((?=[^\s"'\\]{0,60}[A-Za-z])(?=[^\s"'\\]{0,60}\d)[^\s"'\\]{6,})/dg,
  // The default in a reference to a variable: `${DB_PASSWORD:…}`.
  /\$\{[\w.-]{0,60}(?:pass(?:word|wd|phrase)?|pwd?|secret|token|key)[\w.-]{0,20}:[-=]?((?=[^\s}]{0,60}\d)(?=[^\s}]{0,60}[A-Za-z])[^\s"'`\\{}$]{8,})(?=\})/dgi,
  ...COMMAND_PLACES,
  // A line of PostgreSQL's password file: host, port, database, user, password.
  /(?<![^\s:"'`+])[\w.*-]{1,200}:(?:\d{4,5}|\*):(?:\*|[A-Za-z_][\w.-]{0,62}):(?:\*|[A-Za-z_][\w.@-]{0,62}):([^\s:"'\\]{6,200})(?=[ \t\r]{0,4}(?:["'\\\n]|$))/dg,
  /identified[ \t]{1,4}(?:with[ \t]{1,4}\w{1,40}[ \t]{1,4})?by[ \t]{1,4}\\{0,3}["']([^"'\\\r\n]{4,200})/dgi, // SQL.
];
