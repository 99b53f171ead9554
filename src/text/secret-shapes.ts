/** Finds secrets by their format alone, from a maintained table of the providers' key formats. */

export type Span = { readonly start: number; readonly end: number };

const HEX = "[0-9a-f]";
const ALNUM = "[A-Za-z0-9]";
/** A key of a fixed length ends here: if letters follow, it is something else. */
const END = "(?![A-Za-z0-9])";

/**
 * The provider, how its keys begin (any of these words), and how they continue. Only formats in this table are found: a
 * new provider is a new line. No pattern has an unbounded part before a required one, so no text makes them slow.
 */
const KEYS: readonly (readonly [whose: string, begin: string, rest: string])[] = [
  ["Skein, for the calls of one turn", "skein_call_", `${HEX}{40,}`],
  // Models
  ["Anthropic", "sk-ant-", "[\\w-]{16,}"],
  ["OpenAI, and those who do as it does", "sk-", `(?:(?=[A-Za-z_-]{0,60}\\d)[\\w-]{16,}|${ALNUM}{20,})`],
  ["Google", "AIza", "[\\w-]{35}"],
  ["Google, by OAuth", "ya29. GOCSPX- 1//0", "[\\w-]{20,}"],
  ["AWS Bedrock", "ABSK", "[A-Za-z0-9+/=]{40,}"],
  ["Hugging Face", "hf_ api_org_", `${ALNUM}{30,}`],
  ["Groq", "gsk_", `${ALNUM}{40,}`],
  ["xAI", "xai-", `${ALNUM}{40,}`],
  ["Perplexity", "pplx-", `${ALNUM}{40,}`],
  ["Replicate", "r8_", `${ALNUM}{30,}`],
  ["Nvidia", "nvapi-", "[\\w-]{40,}"],
  ["Fireworks", "fw_", `${ALNUM}{20,}`],
  ["Together", "tgp_v1_", "[\\w-]{30,}"],
  ["Cerebras", "csk-", `${ALNUM}{40,}`],
  ["LangSmith", "lsv2_pt_ lsv2_sk_", "\\w{30,}"],
  ["Pinecone", "pcsk_", "\\w{30,}"],
  ["Tavily", "tvly-", "(?=[A-Za-z_-]{0,60}\\d)[\\w-]{20,}"],
  ["E2B", "e2b_", `${HEX}{40,}`],
  [
    "A private key, in base64",
    "LS0tLS1CRUdJTiB",
    "(?:QUklW|SU0Eg|FQyBQ|PUEVOU1NI|FTkNS|EU0Eg|QR1Ag)[A-Za-z0-9+/=]{20,}",
  ],
  ["Cursor", "key_", `${HEX}{64}${END}`],
  // Clouds and hosts
  ["AWS", "AKIA ASIA ABIA ACCA", `[A-Z0-9]{16}${END}`],
  ["Alibaba", "LTAI", `(?=[A-Za-z]{0,20}\\d)${ALNUM}{16,24}${END}`],
  ["Tencent", "AKID", `${ALNUM}{32,}`],
  ["DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", `${HEX}{40,}`],
  ["Heroku", "HRKU-", "[\\w-]{30,}"],
  ["Fly", "fo1_ fm1_ fm2_ fm1a_ fm1r_", "[\\w+/=-]{40,}"],
  ["Vercel", "vcp_ vci_ vca_ vcr_ vck_", `${ALNUM}{24,}`],
  ["Netlify", "nfp_", `${ALNUM}{30,}`],
  ["Render", "rnd_", `${ALNUM}{24,}`],
  ["Supabase", "sbp_ sb_secret_", "(?=[A-Za-z_-]{0,60}\\d)[\\w-]{20,}"],
  ["Neon", "napi_", `${ALNUM}{40,}`],
  ["PlanetScale", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[\\w.-]{30,}"],
  ["Databricks", "dapi", `${HEX}{32}(?:-\\d)?${END}`],
  ["Cloudflare", "v1.0-", `${HEX}{24}-${HEX}{40,}`],
  ["Tailscale", "tskey-api- tskey-auth- tskey-client-", "[\\w-]{20,}"],
  ["Dynatrace", "dt0c01. dt0s01. dt0s16.", "[A-Z0-9]{24}\\.[A-Z0-9]{40,}"],
  // Code hosting and packages
  ["GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", `${ALNUM}{20,}`],
  ["GitHub, fine-grained", "github_pat_", "\\w{20,}"],
  [
    "GitLab",
    "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glsoat- glimt- glagent- glffct- gloas- GR1348941",
    "[\\w.-]{16,}",
  ],
  ["Atlassian", "ATATT3 ATCTT3", "[\\w=-]{40,}"],
  ["Bitbucket", "ATBB", `(?=[A-Za-z]{0,30}\\d)${ALNUM}{24,}`],
  ["npm", "npm_", `${ALNUM}{30,}`],
  ["PyPI", "pypi-", "[\\w-]{40,}"],
  ["RubyGems", "rubygems_", `${HEX}{40,}`],
  ["crates.io", "cio", `(?=[A-Za-z]{0,30}\\d)${ALNUM}{32}${END}`],
  ["NuGet", "oy2", `[a-z0-9]{43}${END}`],
  ["Clojars", "CLOJARS_", `${ALNUM}{50,}`],
  ["Artifactory", "AKCp cmVmdGtu", `${ALNUM}{50,}`],
  ["Docker", "dckr_pat_ dckr_oat_", "[\\w-]{20,}"],
  ["Deno", "ddp_ ddo_", `${ALNUM}{36}${END}`],
  ["SonarQube", "sqp_ squ_ sqa_", `${HEX}{40,}`],
  ["CircleCI", "CCIPAT_ CCIPRJ_", "\\w{20,}"],
  ["Buildkite", "bkua_ bkct_", `${ALNUM}{36,}`],
  ["Postman", "PMAK-", `${HEX}{24}-${HEX}{34}`],
  ["Pulumi", "pul-", `${HEX}{40}${END}`],
  ["Vault", "hvs. hvb. hvr.", "(?=[A-Za-z_-]{0,80}\\d)[\\w-]{20,}"],
  ["Doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "[\\w.-]{30,}"],
  ["1Password", "ops_eyJ", "[\\w+/=-]{60,}"],
  ["age", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,}"],
  // Monitoring
  ["Grafana", "glsa_", `${ALNUM}{20,}(?:_${HEX}{8})?`],
  ["Grafana's cloud", "glc_ eyJrIjoi", "[A-Za-z0-9+/=]{32,}"],
  ["New Relic", "NRAK- NRJS- NRII-", "[A-Za-z0-9-]{19,}"],
  ["Sentry", "sntrys_ sntryu_", "[\\w+/=-]{40,}"],
  // Messaging
  [
    "Slack",
    "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp- xapp-",
    "[\\w%-]{10,}",
  ],
  ["SendGrid", "SG.", "[\\w-]{16,32}\\.[\\w-]{30,}"],
  ["Twilio", "SK", `${HEX}{32}${END}`],
  ["Mailgun", "key-", `${HEX}{32}${END}`],
  ["Brevo", "xkeysib- xsmtpsib-", `${HEX}{64}-\\w{16}`],
  ["Resend", "re_", `${ALNUM}{8}_${ALNUM}{20,}`],
  ["HubSpot", "pat-na1- pat-na2- pat-eu1-", `${HEX}{8}-[0-9a-f-]{20,}`],
  // Payments and shops
  ["Stripe", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", "\\w{16,}"],
  ["Stripe's and others' webhooks", "whsec_", "[A-Za-z0-9+/=]{16,}"],
  ["Square", "sq0atp- sq0csp- sq0idp-", "[\\w-]{20,}"],
  ["Square, of today", "EAAA", "(?=[A-Za-z_-]{0,60}\\d)[\\w-]{56,}"],
  ["Shopify", "shpat_ shpca_ shppa_ shpss_ shpua_", "[0-9a-fA-F]{32}"],
  ["Razorpay", "rzp_live_ rzp_test_", `${ALNUM}{14,}`],
  ["Paddle", "pdl_live_apikey_ pdl_sdbx_apikey_", "\\w{20,}"],
  ["Shippo", "shippo_live_ shippo_test_", `${HEX}{40}`],
  // Work and documents
  ["Linear", "lin_api_ lin_oauth_", `${ALNUM}{30,}`],
  ["Notion", "ntn_", `${ALNUM}{40,}`],
  ["Notion, of old", "secret_", `(?=[A-Za-z]{0,40}\\d)${ALNUM}{43}${END}`],
  ["Figma", "figd_ figo_ figu_ figr_", "[\\w-]{30,}"],
  ["Airtable", "pat", `${ALNUM}{14}\\.${HEX}{64}`],
  ["Typeform", "tfp_", "[\\w.-]{40,}"],
  ["Contentful", "CFPAT-", "[\\w-]{40,}"],
  ["Dropbox", "sl.", "(?=[A-Za-z_-]{0,60}\\d)[\\w-]{100,}"],
  ["Facebook", "EAA", `(?=[A-Za-z]{0,60}\\d)${ALNUM}{80,}`],
  ["Mapbox", "sk.eyJ pk.eyJ tk.eyJ", "[\\w-]{20,1000}\\.[\\w-]{20,}"],
];

/** Longest first, so that the longest match is taken. They are plain words, which V8 compiles into a tree. */
const BEGINNINGS = new RegExp(
  KEYS.flatMap(([, begin]) => begin.split(" "))
    .sort((a, b) => b.length - a.length)
    .map(escaped)
    .join("|"),
  "g",
);
const WHOLE = new RegExp(
  KEYS.map(([, begin, rest]) => `(?:${begin.split(" ").map(escaped).join("|")})${rest}`).join("|"),
  "y",
);

/**
 * Keys without a fixed beginning, passwords in URLs, and private keys. If a pattern has groups, only the matched group
 * is redacted. No pattern goes beyond a quote or a backslash, so a secret in a JSON string stays within it.
 */
const PLACES: readonly RegExp[] = [
  /(?<!\d)\d{8,10}:AA[\w-]{32,}/dg, // Telegram.
  /-us(?<=(?<![0-9a-f])([0-9a-f]{32})-us)\d{1,2}(?!\d)/dg, // Mailchimp.
  /[MNO](?=[A-Za-z_-]{0,26}\d)[\w-]{23,27}\.[\w-]{6,7}\.(?=[A-Za-z_-]{0,39}\d)[\w-]{27,40}/dg, // Discord.
  /hooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/-]{20,})/dg,
  /discord(?:app)?\.com\/api\/webhooks\/\d{1,20}\/([\w-]{20,})/dg,
  /\.webhook\.office\.com\/webhookb2\/([\w@/-]{20,})/dg,
  /:\/\/[^\s/:@"'\\]{0,200}:(?!(?:pass|password|\$\{[^}]{0,99}\})@)([^\s/@"'\\]{1,400})@/dg,
  // A password that contains an @ or a slash: it ends at the last @ before a host with a port, or with a name of two
  // parts.
  /:\/\/[^\s/:@"'\\]{0,100}:(?!\d{1,5}\/|[$<{])([^\s:"'\\<>]{1,100})@(?=(?:[\w-]{1,63}\.){0,8}(?:[\w-]{1,63}:\d{2,5}|(?<=\.)[A-Za-z]{2,24})(?![\w.:@]))/dg,
  /:\/\/(?=[^\s/:@"'\\]{0,60}\d)([^\s/:@"'\\]{20,200})@/dg,
  /A[KS]IA[A-Z0-9]{16}[^A-Za-z0-9+/\r\n]{1,20}([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])/dg, // AWS: behind the key's id.
  /(?<![A-Za-z0-9])AC[0-9a-f]{32}[^A-Za-z0-9\r\n]{1,20}([0-9a-f]{32})(?![A-Za-z0-9])/dg, // Twilio: after the account's id.
  /Private-Lines: \d{1,4}((?:\s{1,4}[A-Za-z0-9+/=]{1,64})+)/dg, // PuTTY.
  /"(?:d|p|q|dp|dq|qi|k)\\{0,7}"\s{0,2}:\s{0,2}\\{0,7}"([\w-]{40,})/dg, // A private key as JSON.
  /(?<![\w$])(\$(?:2[abxy]|5|6|y|7|argon2id?)\$[\w./$=,+-]{20,})/dg, // A password hash.
];

/** Keys that have no fixed beginning but fixed letters inside. */
const MARKS: readonly (readonly [whose: string, mark: string])[] = [
  ["Azure, of an application", "7Q~ 8Q~"],
  ["Azure's services", "JQQJ99 +ASt +AMC +ARm +AEh +ACR +ASb +ABa ACDb AzFu AzSe AzCa AIoT"],
  ["Azure DevOps", "AZDO"],
  ["Terraform's cloud", ".atlasv1."],
];
const MARKED = new RegExp(MARKS.flatMap(([, marks]) => marks.split(" ").map(escaped)).join("|"), "g");
/** The length of such a key, with everything around the fixed letters that may belong to it. */
const MIN_MARKED_CHARS = 34;
const MAX_MARKED_CHARS = 120;

export const secretShapes = (text: string): Span[] => [
  ...keysIn(text),
  ...markedIn(text),
  ...webTokensIn(text),
  ...PLACES.flatMap((place) => [...text.matchAll(place)].map(spanOf)),
];

export function spanOf(match: RegExpExecArray): Span {
  const [start, end] = match.indices?.slice(1).find((group) => group) ?? match.indices?.[0] ?? [0, 0];
  return { start, end };
}

function* keysIn(text: string): Generator<Span> {
  BEGINNINGS.lastIndex = 0;
  for (let found = BEGINNINGS.exec(text); found; found = BEGINNINGS.exec(text)) {
    const start = found.index;
    BEGINNINGS.lastIndex = start + 1;
    if (!beginsThere(text, start)) continue;
    WHOLE.lastIndex = start;
    if (!WHOLE.test(text)) continue;
    yield { start, end: WHOLE.lastIndex };
    BEGINNINGS.lastIndex = WHOLE.lastIndex;
  }
}

function* markedIn(text: string): Generator<Span> {
  for (const { 0: mark, index } of text.matchAll(MARKED)) {
    // The letter of an escaped line end in JSON does not belong to the key.
    const before = /\\?[\w~.+/-]*$/
      .exec(text.slice(Math.max(0, index - MAX_MARKED_CHARS), index))![0]
      .replace(/^\\[bfnrt]?/, "");
    const after = /^[\w~.+/=-]*/.exec(text.slice(index + mark.length, index + MAX_MARKED_CHARS))![0];
    const key = before + mark + after;
    const isKey = /\d/.test(key) && /[a-z]/.test(key) && /[A-Z]/.test(key) && !/\/\/|\.{2}/.test(key);
    if (isKey && key.length >= MIN_MARKED_CHARS && key.length < MAX_MARKED_CHARS)
      yield { start: index - before.length, end: index + mark.length + after.length };
  }
}

/** A JSON web token has three parts. A token without an end is not searched again from its middle. */
function* webTokensIn(text: string): Generator<Span> {
  let from = 0;
  for (let start = text.indexOf("eyJ"); start >= 0; start = text.indexOf("eyJ", from)) {
    from = start + 1;
    if (!beginsThere(text, start)) continue;
    const whole = matchAt(WEB_TOKEN, text, start);
    if (whole !== undefined) yield { start, end: whole };
    from = whole ?? Math.max(from, matchAt(WORD, text, start) ?? from);
  }
}

const WEB_TOKEN = /eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/y;
const WORD = /[\w-]+/y;

function matchAt(shape: RegExp, text: string, at: number): number | undefined {
  shape.lastIndex = at;
  return shape.test(text) ? shape.lastIndex : undefined;
}

/** False in the middle of a word; true directly after a colour, and after an escaped line end in a JSON string. */
function beginsThere(text: string, at: number): boolean {
  if (at === 0 || !/[A-Za-z0-9]/.test(text[at - 1] as string)) return true;
  return BEHIND.test(text.slice(Math.max(0, at - MAX_BEHIND_CHARS), at));
}

const MAX_BEHIND_CHARS = 32;
const ESCAPE = String.fromCharCode(27);
const BEHIND = new RegExp(
  `(?:(?:${ESCAPE}|\\\\u001[bB]|\\\\x1[bB]|\\\\033|\\\\e)\\[[\\d;?]{0,20}[A-Za-z]|\\\\[bfnrtv]|\\\\u[\\da-fA-F]{4}|%[\\da-fA-F]{2})$`,
);

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
