/** Tests that every kind of secret is redacted in any surrounding text, and that ordinary text is not. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { redactFields, redactor, streamRedactor } from "./redact.ts";

const plain = redactor([]);

/** A key of `count` letters. Keys are generated, so that this file itself contains nothing that looks like one. */
const some = (count: number, alphabet = "aB3dE5gH7jK9mN1pQ4rS6tU8vW0xY2zC") =>
  alphabet.repeat(Math.ceil(count / alphabet.length)).slice(0, count);
const hex = (count: number) => some(count, "3f9a0c7be1d24586");
const upper = (count: number) => some(count, "Q3EGUVAX0SXJWR7Z");
const base64 = (count: number) => some(count, "k9+Zp/2QxL7vT0aRm4Wc");

/** Keys recognised by their format alone. */
const KEYS: Readonly<Record<string, string>> = {
  "Skein, for the calls of one turn": `skein_call_${hex(48)}`,
  Anthropic: `sk-ant-api03-${some(93)}AA`,
  "Anthropic, by OAuth": `sk-ant-oat01-${some(86)}`,
  OpenAI: `sk-${some(48)}`,
  "OpenAI, of a project": `sk-proj-${some(40)}_${some(40)}-${some(30)}`,
  "OpenAI, of a service": `sk-svcacct-${some(60)}`,
  OpenRouter: `sk-or-v1-${hex(64)}`,
  Google: `AIza${some(35)}`,
  "Google, by OAuth": `ya29.${some(60)}`,
  "Google, of a client": `GOCSPX-${some(28)}`,
  AWS: `AKIA${upper(16)}`,
  "AWS, for a session": `ASIA${upper(16)}`,
  "AWS Bedrock": `ABSK${base64(110)}`,
  GitHub: `ghp_${some(36)}`,
  "GitHub, by OAuth": `gho_${some(36)}`,
  "GitHub, of a user": `ghu_${some(36)}`,
  "GitHub, of a server": `ghs_${some(36)}`,
  "GitHub, to refresh": `ghr_${some(36)}`,
  "GitHub, fine-grained": `github_pat_11${upper(20)}_${some(59)}`,
  GitLab: `glpat-${some(20)}`,
  "GitLab's runner": `glrt-${some(20)}`,
  Slack: `xoxb-123456789012-1234567890123-${some(24)}`,
  "Slack, of an app": `xapp-1-A1B2C3D4E5-1234567890123-${hex(64)}`,
  Stripe: `sk_live_${some(24)}`,
  "Stripe, restricted": `rk_test_${some(24)}`,
  "Stripe's webhook": `whsec_${some(32)}`,
  Twilio: `SK${hex(32)}`,
  SendGrid: `SG.${some(22)}.${some(43)}`,
  npm: `npm_${some(36)}`,
  PyPI: `pypi-AgEIcHlwaS5vcmc${some(60)}`,
  Docker: `dckr_pat_${some(27)}`,
  DigitalOcean: `dop_v1_${hex(64)}`,
  "Hugging Face": `hf_${some(34)}`,
  Databricks: `dapi${hex(32)}`,
  Linear: `lin_api_${some(40)}`,
  Notion: `ntn_${some(46)}`,
  Figma: `figd_${some(40)}`,
  Shopify: `shpat_${hex(32)}`,
  Square: `sq0csp-${some(43)}`,
  Mailgun: `key-${hex(32)}`,
  Mailchimp: `${hex(32)}-us12`,
  Telegram: `1234567890:AA${some(33)}`,
  Discord: `M${some(23)}.${some(6)}.${some(27)}`,
  Vault: `hvs.${some(90)}`,
  Terraform: `.atlasv1.${some(60)}`,
  Grafana: `glsa_${some(32)}_${hex(8)}`,
  "New Relic": `NRAK-${upper(27)}`,
  Heroku: `HRKU-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`,
  Groq: `gsk_${some(52)}`,
  Replicate: `r8_${some(37)}`,
  Netlify: `nfp_${some(36)}`,
  Supabase: `sbp_${hex(40)}`,
  Sentry: `sntryu_${hex(64)}`,
  Tailscale: `tskey-auth-${some(17)}-${some(32)}`,
  Airtable: `pat${some(14)}.${hex(64)}`,
  Resend: `re_${some(8)}_${some(24)}`,
  age: `AGE-SECRET-KEY-1${upper(58)}`,
  "a web token": `eyJ${some(33)}.eyJ${some(50)}.${some(43)}`,
};

/** Texts in which a key is found. */
const AROUND: Readonly<Record<string, (key: string) => string>> = {
  alone: (key) => key,
  "in a sentence": (key) => `it used ${key}, then failed`,
  "at the start of a line": (key) => `first\n${key}\nlast`,
  "behind a colour": (key) => `\u001b[32m${key}\u001b[0m`,
  "behind an underline": (key) => `__${key}`,
  "in quotes": (key) => `const key = '${key}';`,
  "in a shell's line": (key) => `$ curl -H "X-Key:${key}" https://example.com`,
  "in a query": (key) => `https://example.com/a?b=1&c=${key}&d=2`,
  "in a list": (key) => `[${key},${key}]`,
  "in a table": (key) => `| name | ${key} |`,
};

describe("a key of", () => {
  assert.ok(Object.keys(KEYS).length >= 55);
  for (const [whose, key] of Object.entries(KEYS))
    test(`is blotted out wherever it stands: ${whose}`, () => {
      const core = key.slice(-12, -2);
      for (const [where, put] of Object.entries(AROUND)) {
        const text = put(key);
        assert.ok(!plain(text).includes(core), `${where}: ${plain(text)}`);
        const json = JSON.stringify({ summary: text, lines: [`one\n${key}`] });
        assert.ok(!plain(json).includes(core), `${where}, encoded: ${plain(json)}`);
        assert.doesNotThrow(() => JSON.parse(plain(json)), where);
        assert.ok(
          !JSON.stringify(redactFields(JSON.parse(json), plain)).includes(core),
          `${where}, by field`,
        );
        assert.equal(streamed(text, 7), plain(text), `${where}, in pieces`);
        assert.equal(plain(plain(text)), plain(text), `${where}, twice`);
      }
    });
});

function streamed(text: string, size: number, secrets: readonly string[] = []): string {
  const stream = streamRedactor(secrets);
  let shown = "";
  for (let at = 0; at < text.length; at += size) shown += stream.write(text.slice(at, at + size));
  return shown + stream.end();
}

/** Secrets recognised by a name or a place; `¤` stands for the secret. */
const NAMED: readonly (readonly [text: string, secret: string])[] = [
  ["DB_PASSWORD=¤", "hunter2hunter2"],
  ["export AWS_SECRET_ACCESS_KEY=¤", base64(40)],
  ["aws_secret_access_key = ¤", base64(40)],
  ['DATADOG_API_KEY="¤"', hex(32)],
  ["HEROKU_API_KEY=¤", "3f9a0c7b-e1d2-4586-9a0c-7be1d2458600"],
  ['{"password": "¤"}', "hunter2hunter2"],
  ['{"db":{"password":"¤","user":"me"}}', "s3cr3t!pass"],
  ['{"api_key":"¤"}', some(32)],
  ['{\\"clientSecret\\": \\"¤\\"}', some(32)],
  ["password: ¤", "hunter2"],
  ["  secret: ¤", some(20)],
  ["accessToken: '¤',", some(24)],
  ['token = "¤"', hex(40)],
  ["password=¤&user=me", "hunter2"],
  ["https://example.com/?access_token=¤&x=1", "abcdefgh"],
  ["https://account.blob.core.windows.net/c?sv=2024&sig=¤", "abc%2Fdef%3D"],
  ["Server=db;User Id=sa;Password=¤;Encrypt=true", "Str0ng!Passw0rd"],
  ["DefaultEndpointsProtocol=https;AccountName=a;AccountKey=¤;EndpointSuffix=core", base64(86)],
  ["postgres://me:¤@db.example.com:5432/x", "hunter2"],
  ["mongodb+srv://me:¤@cluster0.example.net", "p4ss%21word"],
  ["https://¤@github.com/a/b.git", some(24)],
  ["Authorization: Bearer ¤", some(40)],
  ["authorization: Basic ¤", base64(24)],
  ["Authorization: token ¤", hex(40)],
  ["'Authorization': '¤'", some(30)],
  ["Proxy-Authorization: Basic ¤", base64(20)],
  ["> X-Api-Key: ¤", some(32)],
  ["PRIVATE-TOKEN: ¤", some(20)],
  ["Cookie: session=¤; theme=dark", some(30)],
  ["Set-Cookie: sid=¤; Path=/; HttpOnly", some(30)],
  ["deploy --api-token=¤ now", "abcdefgh1"],
  ["deploy --password ¤ now", "hunter2hunter2"],
  ["curl -u me:¤ https://example.com", "hunter2hunter2"],
  ["machine example.com login me password ¤", "hunter2"],
  ["sshpass -p ¤ ssh host", "hunter2"],
  ["CREATE USER me IDENTIFIED BY '¤';", "hunter2"],
  ["//registry.npmjs.org/:_authToken=¤", "3f9a0c7b-e1d2-4586-9a0c-7be1d2458600"],
  ["https://hooks.slack.com/services/¤", `T0AB1CD2E/B0AB1CD2E/${some(24)}`],
  ["\u001b[33mDB_PASSWORD\u001b[0m=¤", "hunter2hunter2"],
  ["smtp_password   =   ¤", "hunter2hunter2"],
  ["- **Password:** `¤`", "s3cr3t!pass"],
  ["SECRET_KEY_BASE: ¤", hex(64)],
  ["keytool -storepass ¤ -list", "hunter2hunter2"],
  // XML
  ["<password>¤</password>", "s3cr3t!pass"],
  ['<db:password type="text">¤</db:password>', "s3cr3t!pass"],
  ['<add key="ApiKey" value="¤"/>', some(24)],
  ['<entry key="db.password">¤</entry>', "s3cr3t!pass"],
  ["<key>Password</key>\n  <string>¤</string>", "s3cr3t!pass"],
  // Two arguments, a field beside its name, a line below it
  ["define('DB_PASSWORD', '¤');", "s3cr3t!pass"],
  ['os.environ.setdefault("API_KEY", "¤")', some(24)],
  ['db.setPassword("¤")', "s3cr3t!pass"],
  ["- name: DB_PASSWORD\n  value: ¤", "s3cr3t!pass"],
  ['{"name": "API_TOKEN", "value": "¤"}', some(24)],
  ["password: |\n    ¤", "s3cr3t!pass"],
  // Shells and tools
  ["set -gx GITHUB_TOKEN ¤", some(24)],
  ["setenv API_SECRET ¤", some(24)],
  ["ENV API_TOKEN ¤", some(24)],
  ["aws configure set aws_secret_access_key ¤", base64(40)],
  ["mysql -u root -p¤ shop", "s3cr3t!pass"],
  ["docker login -u me -p ¤ registry", "s3cr3t!pass"],
  ["redis-cli -h db -a ¤ ping", "s3cr3t!pass"],
  ["openssl rsa -in key -passin pass:¤", "s3cr3t!pass"],
  ["ssh-keygen -t rsa -N '¤'", "s3cr3t!pass"],
  // Passphrases of several words
  ["passphrase: ¤", "correct horse battery staple"],
  ['gpg --passphrase "¤" -d x', "correct horse battery staple"],
  // Terraform, Azure, AWS
  ['variable "db_password" {\n  type = string\n  default = "¤"\n}', "s3cr3t!pass"],
  ["terraform apply -var='db_password=¤'", "s3cr3t!pass"],
  ['token = "¤"', `${some(14)}.atlasv1.${some(67)}`],
  ["AccountKey=¤;EndpointSuffix=core.windows.net", `/${base64(85)}==`],
  ["the secret of the application: ¤.", `abc8Q~${some(34)}`],
  ["key ¤ of a service", `${some(52)}JQQJ99${some(26)}`],
  ["AKIAQ3EGUVAX0SXJWR7Z,¤", some(40)],
  // Whole quoted texts
  ["PGPASSWORD='¤' psql -h db", "hunter 2hunter2"],
  ['deploy --passphrase "¤" --now', "orbit lantern tuesday"],
  ["mysql -u root -p'¤' shop", "s3cr3t! pass"],
  ["<password>¤</password>", "s3cr3t! pa55word"],
  // Headers
  ['http GET api.example.com/service "Fastly-Key: ¤"', some(32)],
  ["curl -H 'X-Vault-Token: ¤' https://vault", `s.${some(24)}`],
  // Values of letters only
  ["mongodump --username backup --password ¤ --gzip", "ozsizypmpetp"],
  ["--password ¤", "ozsizypmpetp"],
  ['{"username":"kari","password":"¤","remember":true}', "kglfawprcacc"],
  ["{'secret': '¤'}", "kglfawprcacc"],
  ["<password>¤</password>", "kglfawprcacc"],
  ["wpa_passphrase=¤", "kglfawprcacc"],
  // Recognised by their place
  ["db-1.internal:5432:billing:billing_rw:¤", "iPUZ-Ouo3WZe9Z"],
  ["localhost:*:*:me:¤", "s3cr3t!pass"],
  ['echo "¤" | sudo -S systemctl restart nginx', "s3cr3t!pass"],
  ["echo me:¤ | chpasswd", "s3cr3t!pass"],
  ["printf '%s' '¤' | docker login -u me --password-stdin", "s3cr3t! pass"],
  ["sudo -S apt-get update <<< '¤'", "s3cr3t!pass"],
  ["htpasswd -b -c .htpasswd admin ¤", "s3cr3t!pass"],
  ["smbclient //fs/share -U backup%¤", "s3cr3t!pass"],
  ['DriverManager.getConnection(url, "app", "¤")', "s3cr3t!pass"],
  ["machine example.com\n  login me\n  password ¤", "s3cr3t!pass"],
  ["Key         Value\npassword    ¤\nusername    app", "s3cr3t!pass"],
  // Declared with a type, and in the string syntax of several languages
  ['const API_KEY: &str = "¤";', hex(40)],
  ['let clientSecret: String = "¤"', some(32)],
  ['password = b"¤"', "s3cr3t!pass"],
  ['password = """¤"""', "s3cr3t!pass"],
  ["conf.password = [[¤]]", "s3cr3t!pass"],
  ["deployer private key: 0x¤", hex(64)],
  ['public string Password { get; set; } = "¤";', "s3cr3t!pass"],
  // Behind the account
  [`twilio('AC${hex(32)}', '¤')`, `f9${hex(30)}`],
  // At the end of a sentence, in a table that is drawn
  ["A temporary password is generated for root@localhost: ¤", "k)Lw8qT;pz3R"],
  ["│ DB_PASSWORD │ ¤ │", "s3cr3t!pass"],
  // Manifests of Kubernetes, whatever the name
  [
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n  labels:\n    b: c\n    d: e\n    f: g\nstringData:\n  url-of: ¤\n",
    "s3cr3t!pass",
  ],
  ["kind: Secret\napiVersion: v1\ndata:\n  a: b\n  conf: |\n    ¤\n", base64(40)],
  ["apiVersion: v1\ndata:\n  a: Yg==\n  url: ¤\nkind: Secret\nmetadata:\n  name: x", base64(40)],
  ['{"apiVersion":"v1","data":{"a":"Yg==","url":"¤"},"kind":"Secret"}', base64(40)],
  // Printed by a command, given to one
  ['kubectl -n a get secret b -o jsonpath="{.data.c}" | base64 -d; echo\n¤', some(24)],
  ["$ vault kv get -field=value secret/app\n¤", some(24)],
  ["kind: Secret\nstringData:\n  settings.py: |\n    a = 1\n    b = '¤'\n", some(24)],
  // Where a variable is not set, where a key signs
  ['const secret = process.env.JWT_SECRET || "¤";', "s3cr3t-words"],
  ["password: $" + "{DB_PW:¤}", "s3cr3tpass"],
  ["jwt.sign(payload, '¤', { expiresIn: 60 })", some(32)],
  ["hmac.new(b'¤', message, sha256)", some(32)],
  ["Please use the following password to proceed:\n\n¤\n", hex(32)],
  ['gh secret set DEPLOY --body "¤"', some(40)],
];

describe("what is named", () => {
  for (const [text, secret] of NAMED)
    test(`${text.replaceAll("\u001b", "^")} is blotted out, also in a string of JSON and in pieces`, () => {
      const whole = text.replace("¤", () => secret);
      assert.ok(!plain(whole).includes(secret), plain(whole));
      const json = JSON.stringify({ text: `before\n${whole}\nafter` });
      assert.ok(!plain(json).includes(secret), plain(json));
      assert.doesNotThrow(() => JSON.parse(plain(json)), plain(json));
      for (const size of [1, 5, 64]) assert.equal(streamed(`${whole}\nmore`, size), plain(`${whole}\nmore`));
      assert.equal(plain(plain(whole)), plain(whole));
    });
});

const COLOURS = new RegExp(`(?:${String.fromCharCode(27)}|\\\\+u001b)\\[[\\d;]*[a-zA-Z]`, "g");

/** How tools change a text before it is stored. */
const WRITTEN: Readonly<Record<string, (text: string, secret: string) => string>> = {
  "by grep -n": (text) => text.replace(/^/gm, "config/app.env:12:"),
  "in a diff": (text) => text.replace(/^/gm, "+"),
  "with a colour around it": (text, secret) => text.replace(secret, () => `\u001b[1;32m${secret}\u001b[0m`),
  "with a colour inside": (text, secret) =>
    text.replace(secret, () => `${secret.slice(0, 5)}\u001b[01;31m\u001b[K${secret.slice(5)}\u001b[m`),
  "in JSON, with a colour around it": (text, secret) =>
    JSON.stringify({ text: text.replace(secret, () => `\u001b[1;31m${secret}\u001b[0m`) }),
  "in JSON in JSON": (text) => JSON.stringify(JSON.stringify({ text })),
  "in JSON in JSON in JSON": (text) => JSON.stringify(JSON.stringify(JSON.stringify({ text }))),
  "in JSON in JSON, in colours": (text, secret) =>
    JSON.stringify(JSON.stringify(text.replace(secret, () => `\u001b[32m${secret}\u001b[0m`))),
};

describe("a secret that is written", () => {
  const [begin, end] = ["-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"];
  const lines = `${`${base64(64)}\n`.repeat(4)}${some(40)}`;
  const all = [
    ...NAMED,
    [`${begin}\n¤\n${end}`, lines] as const,
    [`${begin}\n¤`, lines] as const, // The end of the key was cut off.
    ...Object.values(KEYS).map((key) => ["key ¤", key] as const),
  ];
  for (const [how, write] of Object.entries(WRITTEN))
    test(`${how} is blotted out`, () => {
      for (const [text, secret] of all) {
        const written = write(
          text.replace("¤", () => secret),
          secret,
        );
        const shown = plain(written).replace(COLOURS, "");
        for (const part of secret.split("\n")) assert.ok(!shown.includes(part), shown);
      }
    });
});

test("a password in an address goes up to the host, also where it has letters that end one", () => {
  for (const host of ["rabbit:5672/%2f", "db.example.com/shop", "db-1.internal"])
    assert.equal(plain(`amqp://me:pa@ss/W0rd#12@${host}`), `amqp://me:[redacted]@${host}`);
});

describe("a private key", () => {
  for (const kind of ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "]) {
    const body = `${base64(64)}\n${base64(64)}\n${base64(12)}==`;
    const key = `-----BEGIN ${kind}PRIVATE KEY-----\n${body}\n-----END ${kind}PRIVATE KEY-----`;
    test(`of the kind "${kind.trim()}" is blotted out, in JSON, in a diff and in pieces`, () => {
      for (const text of [
        `a\n${key}\nb`,
        JSON.stringify({ key }),
        key.replaceAll("\n", "\n-"),
        key.replaceAll("\n", "\n    "),
      ]) {
        assert.ok(!plain(text).includes(base64(12)), plain(text));
        assert.equal(streamed(text, 11), plain(text));
      }
    });
  }
  test("that was cut at the end of a string of JSON leaves the string closed", () => {
    const cut = JSON.stringify({ key: `-----BEGIN RSA PRIVATE KEY-----\n${base64(64)}\n` });
    assert.doesNotThrow(() => JSON.parse(plain(cut)), plain(cut));
    assert.ok(!plain(cut).includes(base64(12)));
  });
  test("of PGP or with headers is blotted out", () => {
    const pgp = `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2.4.1\n\n${base64(64)}\n=${base64(4)}\n-----END PGP PRIVATE KEY BLOCK-----`;
    const old = `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${upper(32)}\n\n${base64(64)}\n-----END RSA PRIVATE KEY-----`;
    for (const key of [pgp, old]) assert.equal(plain(`a\n${key}\nb`), "a\n[redacted]\nb");
  });
});

test("known values are blotted out in JSON, in addresses and in base64, alone or with a name before them", () => {
  const secret = 'pa"ss wörd/1+2';
  const redact = redactor([secret]);
  const encoded = (text: string) => Buffer.from(text).toString("base64");
  const forms = [
    JSON.stringify(secret),
    JSON.stringify(JSON.stringify(secret)),
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    new URLSearchParams({ a: secret }).toString(),
    encoded(secret),
    encoded(`me:${secret}`),
    encoded(`user:${secret}`),
    encoded(`admin1:${secret}\n`),
    Buffer.from(`x${secret}`).toString("base64url"),
  ];
  for (const form of forms) assert.match(redact(`a ${form} b`), /^a .{0,16}\[redacted\].{0,6} b$/, form);
});
