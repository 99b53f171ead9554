/** What does it mean that a call failed? From whatever a provider answered, or the network did, to what is done about it. */
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import { Unusable } from "./fetch.ts";
import { durationMs, quotaUntil, readQuotaText, readReset } from "./quota-text.ts";

/** What is to be done: tried again, waited for, ended, made shorter, given up. */
export type CallProblem = {
  readonly is: "transient" | "quota" | "authentication" | "too-long" | "failed";
  readonly failure: Failure;
  /** False: the provider did nothing for it, so it cost nothing. */
  readonly mayHaveCost: boolean;
};

export type CallPlace = { readonly account: string; readonly model: string; readonly now: number };

export function problemOf(caught: unknown, place: CallPlace): CallProblem {
  const thrown = unusableIn(caught) ?? caught;
  const refusal = refusalOf(thrown);
  const mayHaveCost = costs(thrown, refusal);
  const { account, model, now } = place;
  const said = refusal.words === "" ? "" : `: ${refusal.words}`;
  const is = kindOf(refusal, thrown);
  switch (is) {
    case "authentication":
      // The provider's own words may hold a part of the key.
      return { is, mayHaveCost, failure: { ...refusedKey(account, refusal.status), account } };
    case "quota": {
      const reset = (at: number) =>
        isTerminal(refusal) ? readReset(refusal.text, at) : resetOf(refusal, at);
      const words = `${account} has no more to give for now${said}`;
      return {
        is,
        mayHaveCost,
        failure: { ...failure(is, words), account, ...quotaUntil(reset, now) },
      };
    }
    case "too-long":
      return {
        is,
        mayHaveCost,
        failure: failure(
          "agent-failed",
          `the conversation is too long for ${model}${said}`,
          "split the task",
        ),
      };
    case "transient":
      return {
        is,
        mayHaveCost,
        failure: failure(
          "agent-unreachable",
          `${model} could not be reached${statusWords(refusal)}${said}`,
          "see whether the model's provider answers",
        ),
      };
    case "failed":
      return {
        is,
        mayHaveCost,
        failure: failure(
          "agent-failed",
          `${model} refused the call${statusWords(refusal)}${said}`,
          refusal.status === 404 ? "see whether the model's name is right" : undefined,
        ),
      };
  }
}

/** The library wraps what was thrown while it read. */
function unusableIn(thrown: unknown): Unusable | undefined {
  if (thrown instanceof Unusable) return thrown;
  const { cause } = Object(thrown) as { readonly cause?: unknown };
  return cause instanceof Unusable ? cause : undefined;
}

function costs(thrown: unknown, { status }: Refusal): boolean {
  if (thrown instanceof Unusable) return thrown.mayHaveCost;
  return status === undefined ? !isUnconnected(thrown) : GIVEN_UP_ON.has(status);
}

/** By something between us and the provider, which may have gone on and billed it. */
const GIVEN_UP_ON: ReadonlySet<number> = new Set([408, 504, 524]);

/** What is known of it, wherever it stood: in an answer with a status, or in the middle of a stream. */
type Refusal = {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** All that was said, for recognising it. */
  readonly text: string;
  /** What can be shown of it. */
  readonly words: string;
};

function refusalOf(thrown: unknown): Refusal {
  const { statusCode, responseHeaders, responseBody, status, code } = Object(thrown) as Thrown;
  const number = [statusCode, status, code].find((is) => typeof is === "number" && is >= 400 && is < 600);
  const body = typeof responseBody === "string" ? responseBody : plain(thrown);
  const all = isGarbled(thrown) ? errorIn(thrown) : `${messageOf(thrown)}\n${body}`.slice(0, MAX_READ_CHARS);
  return {
    status: number as number | undefined,
    headers: headersOf(responseHeaders),
    text: all.replace(QUOTED, ""),
    words: wordsOf(thrown),
  };
}

/** Its message quotes what came, and that may be the model's words, about keys and limits of anybody. */
function errorIn(garbled: unknown): string {
  const { value } = Object(garbled) as { readonly value?: unknown };
  const { error } = Object(value) as { readonly error?: unknown };
  return error === undefined ? "" : plain(error).slice(0, MAX_READ_CHARS);
}

/** What the model had written, as Groq shows it; of a long one the end is cut off. */
const QUOTED = /"failed_generation"\s*:\s*"(?:[^"\\]|\\.)*/g;

type Thrown = {
  readonly statusCode?: unknown;
  readonly responseHeaders?: unknown;
  readonly responseBody?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
};

const MAX_READ_CHARS = 20_000;
const MAX_WORDS_CHARS = 400;

function plain(thrown: unknown): string {
  try {
    return thrown instanceof Error ? "" : (JSON.stringify(thrown) ?? "");
  } catch {
    return ""; // What cannot be written down says nothing.
  }
}

/** A part of a stream may be an object whose message is further inside. */
function wordsOf(thrown: unknown): string {
  const inner = Object(thrown) as { readonly error?: unknown; readonly message?: unknown };
  if (typeof inner.message === "string" && CUT_OFF.test(inner.message))
    return "the connection was lost in the middle of the answer";
  const said =
    typeof inner.message === "string"
      ? inner.message
      : inner.error
        ? messageOf(inner.error)
        : messageOf(thrown);
  const text = said === "[object Object]" ? plain(thrown) : said;
  return text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, MAX_WORDS_CHARS);
}

/** What libraries say of it: one speaks of a success, the other does not say what was ended. */
const CUT_OFF = /^(?:Failed to process successful response|terminated)$/;

function headersOf(headers: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(Object(headers) as Record<string, unknown>);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function kindOf(refusal: Refusal, thrown: unknown): CallProblem["is"] {
  const { status, text } = refusal;
  if (thrown instanceof Unusable) return thrown.is;
  if (isTerminal(refusal)) return "quota";
  if (status === 401 || WRONG_KEY.test(text)) return "authentication";
  if (TOO_LONG.test(text) || status === 413) return "too-long";
  if (OVERLOADED.test(text) || UNREADABLE_CALL.test(text)) return "transient";
  if (status === 429 || RATE.test(text)) return "quota";
  if (status === 403 && FLAGGED.test(text)) return "failed";
  if (status === 403) return readQuotaText(text, 0) ? "quota" : "authentication";
  if (status === 408 || status === 409 || status === 425 || status === 498) return "transient";
  if (status !== undefined) return status >= 500 ? "transient" : "failed";
  return isOfNetwork(thrown) || isGarbled(thrown) || SERVER_ERROR.test(text) || !(thrown instanceof Error)
    ? "transient"
    : "failed";
}

/** Waiting a minute does not help: somebody has to pay, or a month to pass. */
const isTerminal = ({ status, text }: Refusal): boolean => status === 402 || NO_MONEY.test(text);
const NO_MONEY =
  /insufficient[_ ](?:quota|balance|credits|funds)|credit balance is too low|exceeded your current quota, please check your plan|billing_hard_limit|API usage limits\. You will regain access/i;

const WRONG_KEY =
  /authentication_error|invalid_api_key|API_KEY_INVALID|API key not valid|incorrect api key|invalid x-api-key|invalid authentication|UNAUTHENTICATED/i;

const TOO_LONG =
  /context_length_exceeded|prompt is too long|exceed(?:s|_)?.{0,40}context[ _](?:limit|size|length|window)|maximum context length|input token count.{0,40}exceeds|request_too_large|reduce the length of the messages|context window (?:is )?exceeded|request too large for|tokens must be reduced|with context length of only/i;

/** What was asked, not who asks: others may go on. */
const FLAGGED = /\bflagged\b|requires moderation|violates? .{0,40}(?:guidelines|polic)|content.?policy/i;

/** The model's own slip, which Groq does not let through: the next answer is another. */
const UNREADABLE_CALL = /tool_use_failed/;
const OVERLOADED = /overloaded_error|\boverloaded\b|server_overloaded|slow_down/i;
const RATE = /rate_limit_error|rate_limit_exceeded|RESOURCE_EXHAUSTED|too many requests/i;
const SERVER_ERROR = /server_error|api_error|internal_error|UNAVAILABLE|INTERNAL|timeout/i;

/** The socket never opened, so nobody heard of the call. */
const isUnconnected = (thrown: unknown): boolean =>
  codesOf(thrown).some((code) =>
    ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(code),
  );

/** The library wraps what fetch threw, and fetch what the socket did. */
const isOfNetwork = (thrown: unknown): boolean =>
  codesOf(thrown).length > 0 ||
  /terminated|fetch failed|socket|network|connect|stream/i.test(messageOf(thrown));

/** What came is not what the provider's language allows: a proxy, a bug, half of a message. */
const isGarbled = (thrown: unknown): boolean =>
  /^AI_(?:JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated)Error$/.test(
    String((Object(thrown) as { readonly name?: unknown }).name),
  );

function codesOf(thrown: unknown): readonly string[] {
  const codes: string[] = [];
  let at = thrown as
    | { readonly code?: unknown; readonly cause?: unknown; readonly errors?: unknown }
    | undefined;
  for (let depth = 0; depth < 6 && typeof at === "object" && at !== null; depth += 1) {
    if (typeof at.code === "string" && /^(?:E[A-Z]+|UND_ERR\w*|ERR_\w+)$/.test(at.code)) codes.push(at.code);
    at = (at.cause ?? (Array.isArray(at.errors) ? at.errors[0] : undefined)) as typeof at;
  }
  return codes;
}

const refusedKey = (account: string, status: number | undefined): Failure =>
  failure(
    "authentication",
    `${account} refused the key${status === undefined ? "" : ` (HTTP ${status})`}`,
    "see whether the key is right and may use this model, then resume the run",
  );

const statusWords = ({ status }: Refusal): string => (status === undefined ? "" : ` (HTTP ${status})`);

/** What the provider says first: how long to wait; then when each of its counts begins anew; then its words. */
function resetOf({ headers, text }: Refusal, now: number): number | undefined {
  return (
    retryAfter(headers, now) ?? countsReset(headers, now) ?? bodyReset(text, now) ?? readReset(text, now)
  );
}

function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const ms = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(ms)) return now + Math.ceil(ms);
  const after = headers["retry-after"]?.trim();
  if (after === undefined || after === "") return undefined;
  const seconds = Number(after);
  const at = Number.isFinite(seconds) ? now + Math.ceil(seconds * 1_000) : Date.parse(after);
  return Number.isNaN(at) ? undefined : at;
}

/** Of the counts that are used up the last one counts; where none is said to be, the last of all. */
function countsReset(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const counts = Object.entries(headers).flatMap(([name, value]) => {
    const found = /^(?:anthropic-ratelimit|x-ratelimit|ratelimit)-(?:(.+)-)?reset(?:-(.+))?$/.exec(name);
    const at = found ? momentOf(value, now) : undefined;
    if (!found || at === undefined) return [];
    const left = Number(headers[name.replace("reset", "remaining")] ?? Number.NaN);
    return [{ at, isUsedUp: left === 0 }];
  });
  const used = counts.filter((count) => count.isUsedUp);
  const relevant = used.length > 0 ? used : counts;
  return relevant.length === 0 ? undefined : Math.max(...relevant.map((count) => count.at));
}

/** "6m0s", a time in RFC 3339, or a number: of milliseconds or seconds since 1970, or of seconds from now. */
function momentOf(value: string, now: number): number | undefined {
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return Date.parse(value) || undefined;
  const number = Number(value);
  if (!Number.isFinite(number)) {
    const ms = durationMs(value);
    return ms === undefined ? undefined : now + ms;
  }
  if (number > 1e12) return number;
  return number > 1e9 ? number * 1_000 : now + Math.ceil(number * 1_000);
}

/** Google's RetryInfo, the headers of another provider that OpenRouter hands on, OpenAI's plans. */
function bodyReset(text: string, now: number): number | undefined {
  const delay = /"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"/.exec(text)?.[1];
  if (delay !== undefined) return now + Math.ceil(Number(delay) * 1_000);
  const reset = /"(?:X-RateLimit-Reset|resets_at)"\s*:\s*"?(\d{10,13})"?/i.exec(text)?.[1];
  return reset === undefined ? undefined : momentOf(reset, now);
}
