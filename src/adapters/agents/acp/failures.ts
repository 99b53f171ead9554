/** What went wrong, by the error that an agent answered with or the words that it left? */
import { type Failure, failure } from "../../../core/failure.ts";
import { type Quota, quotaUntil, readQuotaText, readReset } from "../../models/quota-text.ts";
import { fields, shown, text } from "./loose.ts";
import type { Login } from "./peer.ts";
import { AUTH_REQUIRED } from "./session.ts";

export type Blamed = {
  /** What people call the agent. */
  readonly name: string;
  readonly account: string;
  readonly logins: readonly Login[];
  readonly now: number;
};

/** `thrown`: what the library rejected a request with. */
export function failureOfError(thrown: unknown, blamed: Blamed): Failure {
  const words = wordsOf(thrown);
  const code = fields(thrown)["code"];
  if (code === AUTH_REQUIRED && !OTHER_THAN_AUTH.test(words.all)) return unauthenticated(words.said, blamed);
  return judged(words, blamed);
}

/** Of words that came with a failure: an error, the last lines of a process. */
export const failureOfWords = (words: string, blamed: Blamed): Failure =>
  judged({ said: words, all: words }, blamed);

function judged(words: Words, blamed: Blamed): Failure {
  const quota = quotaIn(words.all, blamed.now);
  const said = `${blamed.name}: ${shown(words.said, MAX_WORDS) || "failed without a word"}`;
  if (quota) {
    const next = "it goes on by itself when the account has room again; or choose another agent or model";
    return { ...failure("quota", said, next), account: blamed.account, ...quota };
  }
  if (AUTH.test(words.all)) return unauthenticated(words.said, blamed);
  if (UNREACHABLE.test(words.all)) {
    return failure("agent-unreachable", said, "see whether the model's provider answers");
  }
  return failure("agent-failed", said);
}

export const isQuota = (words: string, now: number): boolean => quotaIn(words, now) !== undefined;

/** Besides what is known of providers: the status as agents write it, "API Error: Request rejected (429)". */
function quotaIn(words: string, now: number): Quota | undefined {
  const known = readQuotaText(words, now);
  if (known || !TOO_MANY.test(words)) return known;
  return quotaUntil((at) => readReset(words, at), now);
}

const TOO_MANY = /\(429\)|\b(?:status|http|error|code)\W{0,3}429\b|would exceed your [^.\n]{0,40}limit/i;

/** Some use the protocol's number for a login for whatever goes wrong on their side. */
const OTHER_THAN_AUTH = /rate.?limit|quota|overload|timed? ?out|ECONN|fetch failed|\b5\d\d\b/i;

const anyOf = (...shapes: readonly RegExp[]) => new RegExp(shapes.map((one) => one.source).join("|"), "i");

/** A bare number may be anything: a line, a count. */
const AUTH = anyOf(
  /authenticat\w* (?:is )?(?:required|failed|error)|unauthori[sz]ed|\b(?:status|http|error|code)\W{0,3}401\b/,
  /(?:invalid|incorrect|missing|no)[ _-](?:x-)?api[ _-]?key|(?:missing|no|invalid) (?:credentials|auth)/,
  /api[ _-]?key (?:is )?(?:not valid|invalid)|API_KEY_INVALID/,
  /not logged in|please (?:log|sign) ?in|\blogin required/,
);

const UNREACHABLE = anyOf(
  /ECONN\w+|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|fetch failed|socket hang up|network error/,
  /waiting for network|connection (?:error|refused|reset|closed)|(?:unable to|cannot|could not|can't) (?:connect|reach)/,
  /overloaded|(?:temporarily|service) unavailable|bad gateway|gateway time-?out|internal server error/,
  /\b(?:status|http|error|code)\W{0,3}5\d\d\b|"errorName":"APIError"/,
);

function unauthenticated(words: string, { name, account, logins }: Blamed): Failure {
  const ways = logins.map((login) => shown(login.description || login.name || login.id, 120)).filter(Boolean);
  const how = ways.length === 0 ? "" : ` (it offers: ${ways.slice(0, 5).join("; ")})`;
  const said = shown(words, MAX_WORDS) || "authentication is required";
  return {
    ...failure(
      "authentication",
      `${name} is not logged in: ${said}${how}`,
      "start it once by hand and log in, or set the variable that holds its key; then skein resume",
    ),
    account,
  };
}

const MAX_WORDS = 1_000;

type Words = { readonly said: string; readonly all: string };

/** `said`: the message, and what agents put into the data of an error. `all`: with whatever else is in the data. */
function wordsOf(thrown: unknown): Words {
  const error = fields(thrown);
  const data = error["data"];
  const more = [data, ...["details", "message", "error", "errorMessage"].map((name) => fields(data)[name])];
  const inner = more.map((one) => text(one) || text(fields(one)["message"])).find((one) => one !== "") ?? "";
  const said = [text(error["message"]), inner].filter(Boolean).join(": ");
  return { said, all: `${said}\n${JSON.stringify(data ?? "").slice(0, 4 * MAX_WORDS)}` };
}
