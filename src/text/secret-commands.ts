/** Patterns for passwords in commands and calls: after a one-letter flag, in a pipe, or as the last argument. */

/** Commands, and what stands before the password in them. To add a command, add a line. */
const FLAGS: readonly (readonly [commands: string, before: string])[] = [
  ["mysql\\w{0,10}|mariadb[\\w-]{0,10}|7z\\w?", "-p"],
  ["mongo\\w{0,8}|(?:docker|podman|helm registry|buildah|skopeo|oras|az) login|cqlsh", "-p[ \\t=]"],
  ["sshpass", "-p[ \\t]{0,4}"],
  ["gh secret set", "(?:-b|--body)[ \\t=]"],
  ["redis-cli", "-a[ \\t]"],
  ["snmp\\w{2,12}", "-[AX][ \\t]"],
  ["ldap\\w{2,8}", "-[ws][ \\t]"],
  ["ssh-keygen", "-[NP][ \\t]"],
  ["sqlcmd|(?:un)?zip|ipmitool", "-P[ \\t]"],
  ["openssl enc", "-k[ \\t]"],
  ["nmcli", "password[ \\t]"],
  ["https?|xhs?", "-a[ \\t=]\\\\{0,7}[\"']?[^\\s:\"'\\\\]{1,64}:"],
  ["lftp", "-u[ \\t]\\\\{0,7}[\"']?[^\\s,\"'\\\\]{1,64},"],
  ["(?:smb|rpc)client", "-U[ \\t]\\\\{0,7}[\"']?[^\\s%\"'\\\\]{1,64}%"],
  ["htpasswd", "-\\w{0,4}b\\w{0,4}[ \\t](?:-\\w{1,4}[ \\t]){0,4}[^\\s-]\\S{0,99}[ \\t]\\S{1,64}[ \\t]"],
  ["rabbitmqctl", "(?:add_user|change_password)[ \\t]\\S{1,64}[ \\t]"],
  ["sqlplus|rman|expdp|impdp", "\\w{1,64}/(?=[^\\s/@]{4,64}@)"],
];

/** A value in quotes with its spaces, or up to the next space; not a reference, and not another flag. */
const VALUE =
  "(?:\\\\{0,7}[\"'](?![$<{%-])([^\"'\\\\\\r\\n]{4,200})(?=\\\\{0,7}[\"'])|(?![$<{%\\s\"'\\\\-])([^\\s\"'\\\\]{4,}))";
const REST = "[^\\r\\n|;&]{0,200}?";

/** Commands that read a password from standard input, by default or by a flag. */
const READERS =
  "sudo[ \\t](?:-[\\w-]{1,12}[ \\t]){0,4}-\\w?S|su(?=[ \\t])|passwd[ \\t]--stdin|kinit|chpasswd|cryptsetup|vncpasswd";
const READING = `[\\w/-]{1,40}[ \\t]${REST}(?<=[ \\t])--?(?:pass(?:word|phrase)?-stdin|with-token|passphrase-fd)`;

/** Commands that write a secret, and nothing else, into the next line. A new command is a new line. */
const PRINTERS = [
  `kubectl[ \\t]${REST}get[ \\t]{1,4}secrets?[ \\t/][^\\r\\n]{0,200}?base64[ \\t]{1,4}(?:-d|-D|--decode)`,
  ...["gh auth token", "heroku auth:token", "fly(?:ctl)? auth token", "aws ecr get-login-password"],
  ...[
    "gcloud auth (?:application-default )?print-(?:access|identity)-token",
    "gcloud secrets versions access",
  ],
  ...["pass show", "op read", "bw get password", "pwgen", "openssl rand", "wg genkey"],
  ...["rails secret", "rake secret", "mix phx.gen.secret"],
  `vault[ \\t](?:kv[ \\t]get|read)[ \\t]${REST}-field=\\w{1,60}`,
  `security find-(?:generic|internet)-password[ \\t]${REST}-\\w{0,4}w`,
  `aws (?:secretsmanager get-secret-value|ssm get-parameter)[ \\t]${REST}text`,
  `az (?:account get-access-token|keyvault secret show|acr credential show)[ \\t]${REST}tsv`,
  `terraform output -raw[ \\t]\\w{0,60}(?:pass(?:word)?|secret|token|key)`,
].join("|");
/** No command whose output goes elsewhere. */
const PRINTER = `(?<![\\w-])(?:${PRINTERS})(?![\\w-])[^\\r\\n|>)\`]{0,200}`;

/** The value of a line that ends so may be in the next. */
export const PRINTS = new RegExp(`${PRINTER}$`);

/** Calls whose last argument is a password. */
const CALLS = [
  ...["getConnection", "NetworkCredential", "PSCredential", "PasswordAuthentication", "PasswordCredentials?"],
  ...[
    "PasswordAuthenticationToken",
    "HTTP(?:Basic|Digest)Auth",
    "[sS]etBasicAuth",
    "basic_?[aA]uth",
    "BasicAWSCredentials",
  ],
].join("|");

/** Calls with a key that signs, in quotes. */
const SIGNERS =
  "(?:(?:jwt|JWT|jsonwebtoken)\\.(?:sign|verify|encode|decode)|createHmac)\\([^()\\r\\n]{0,200}?,[ \\t]{0,4}|hmac\\.new\\([ \\t]{0,4}b?";

export const COMMAND_PLACES: readonly RegExp[] = [
  new RegExp(
    `(?:${SIGNERS})\\\\{0,7}["']((?=[^\\s"']{0,60}\\d)[^\\s"'\\\\]{8,200})\\\\{0,7}["'][ \\t]{0,4}[,)]`,
    "dg",
  ),
  new RegExp(
    `(?<![\\w-])(?:${FLAGS.map(([commands, before]) => `(?:${commands})[ \\t]${REST}(?<=[ \\t])(?:${before})`).join("|")})${VALUE}`,
    "dg",
  ),
  new RegExp(
    `(?<![\\w-])(?:echo|printf)[ \\t]{1,4}(?:-\\w{1,2}[ \\t]{1,4})?(?:["']?%s(?:\\\\{1,8}n)?["']?[ \\t]{1,4})?${VALUE}` +
      `(?:\\\\{0,7}["'])?[ \\t]{0,4}\\|[ \\t]{0,4}(?:${READERS}|${READING})`,
    "dg",
  ),
  new RegExp(`(?<![\\w-])(?:${READERS})${REST}<<<[ \\t]{0,4}${VALUE}`, "dg"),
  new RegExp(
    `${PRINTER}\\r?\\n((?=[^\\s]{0,60}\\d)(?=[^\\s]{0,60}[A-Za-z])(?![/.~$<{])[^\\s"'\\\\]{8,})(?=[ \\t\\r]{0,4}(?:[\\n"'\\\\]|$))`,
    "dg",
  ),
  new RegExp(
    `(?:${CALLS})\\([^()\\r\\n]{0,200}?,[ \\t]{0,4}\\\\{0,7}["']([^\\s"'\\\\]{4,200})\\\\{0,7}["'][ \\t]{0,4}\\)`,
    "dg",
  ),
];
