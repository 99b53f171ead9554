/** Explains why an ACP turn failed, from the agent's error, its words, and how its process ended. */
import { type Failure, failure } from "../../../core/failure.ts";
import type { Spent } from "../../../core/job.ts";
import { unreachable } from "../../../core/unreachable.ts";
import type { Said } from "../../../ports/agent.ts";
import type { ProgramEnd } from "../../../ports/programs.ts";
import { fields } from "../../../text/json.ts";
import { anyOf, type Quota, quotaUntil, readQuotaText, readReset } from "../../models/quota-text.ts";
import { killed, stopped, tailOf, timedOut, UNREACHABLE_CODE, unstartable } from "../ends.ts";
import { shown, text } from "./loose.ts";
import type { Login } from "./peer.ts";
import { AUTH_REQUIRED } from "./session.ts";

export type Blamed = {
  readonly name: string;
  readonly account: string;
  readonly logins: readonly Login[];
  readonly now: number;
};

/** `gone`: the agent closed the connection. `cut`: Skein stopped the turn, or its time was up. */
export type Talked = { readonly spent?: Spent } & (
  | { readonly is: "said"; readonly text: string }
  /** `isLate`: the agent did not answer while its session was opened. */
  | { readonly is: "failed"; readonly failure: Failure; readonly isLate?: true }
  | { readonly is: "gone" }
  | { readonly is: "cut" }
);

/** `talked` is undefined if no dialogue began. */
export type AcpTurn = { readonly talked: Talked | undefined; readonly end: ProgramEnd };

export type Judged = Blamed & {
  readonly maxMs: number;
  readonly maxFileBytes: number;
  /** Whether the turn was stopped or ran out of time. */
  readonly cut: "stopped" | "timed-out" | undefined;
};

export function judge({ talked, end }: AcpTurn, judged: Judged): Said {
  const spent = talked?.spent ? { spent: talked.spent } : {};
  if (talked?.is === "said") return { is: "said", text: talked.text, ...spent };
  return { is: "failed", failure: failureOf({ talked, end }, judged), ...spent };
}

/** Whether the turn ended by itself, so that its result is complete. */
export const isWhole = ({ talked, end }: AcpTurn): boolean =>
  talked?.is === "said" || talked?.is === "failed" || (talked?.is === "gone" && end.is === "exited");

function failureOf({ talked, end }: AcpTurn, judged: Judged): Failure {
  const { name, cut, maxMs } = judged;
  if (end.is === "unstartable") return unstartable(name, end.failure, end.failure.next ?? "is it installed?");
  if (cut === "stopped") return stopped(name);
  if (cut === "timed-out") return timedOut(name, maxMs);
  return talked?.is === "failed" ? talked.failure : failureOfEnd(end, judged);
}

function failureOfEnd(end: Exclude<ProgramEnd, { is: "unstartable" }>, judged: Judged): Failure {
  const { name } = judged;
  switch (end.is) {
    case "exited": {
      const why = `ended with exit code ${end.code} in the middle of its turn${tailOf(end.tail)}`;
      if (end.code === UNREACHABLE_CODE) return failure("agent-unreachable", `${name} ${why}`);
      return { next: BY_HAND, ...failureOfWords(why, judged) };
    }
    case "killed":
      return killed(name, end, judged.maxFileBytes);
    case "timed-out":
    case "stopped": {
      const why = `${name} closed the conversation in the middle of its turn${tailOf(end.tail)}`;
      return failure("agent-failed", why, BY_HAND);
    }
    default:
      return unreachable(end);
  }
}

const BY_HAND = "start it by hand: it must speak the Agent Client Protocol on its standard input and output";

/** `thrown`: the value that a request was rejected with. */
export function failureOfError(thrown: unknown, blamed: Blamed): Failure {
  const words = wordsOf(thrown);
  const code = fields(thrown)["code"];
  if (code === AUTH_REQUIRED && !OTHER_THAN_AUTH.test(words.all)) return unauthenticated(words.said, blamed);
  return failureIn(words, blamed);
}

/** Classifies words that came with a failure: an error, or the last lines of a process. */
export const failureOfWords = (words: string, blamed: Blamed): Failure =>
  failureIn({ said: words, all: words }, blamed);

function failureIn(words: Words, blamed: Blamed): Failure {
  const quota = quotaIn(words.all, blamed.now);
  const said = `${blamed.name}: ${shown(words.said, MAX_WORDS) || "failed without a message"}`;
  if (quota) {
    const next = "it continues by itself when the limit ends; or choose another agent or model";
    return { ...failure("quota", said, next), account: blamed.account, ...quota };
  }
  if (AUTH.test(words.all)) return unauthenticated(words.said, blamed);
  if (UNREACHABLE.test(words.all)) {
    return failure("agent-unreachable", said, "see whether the model's provider answers");
  }
  return failure("agent-failed", said);
}

export const isQuota = (words: string, now: number): boolean => quotaIn(words, now) !== undefined;

/** Also recognises the HTTP status as agents write it: "API Error: Request rejected (429)". */
function quotaIn(words: string, now: number): Quota | undefined {
  const known = readQuotaText(words, now);
  if (known || !TOO_MANY.test(words)) return known;
  return quotaUntil((at) => readReset(words, at), now);
}

const TOO_MANY = /\(429\)|\b(?:status|http|error|code)\W{0,3}429\b|would exceed your [^.\n]{0,40}limit/i;

/** Some agents use the protocol's code for "login required" for any failure. */
const OTHER_THAN_AUTH = /rate.?limit|quota|overload|timed? ?out|ECONN|fetch failed|\b5\d\d\b/i;

/** A bare number such as 401 does not count: it may be a line number or a count. */
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

/** `said`: the error's message with the words in its data. `all`: with everything else in the data. */
function wordsOf(thrown: unknown): Words {
  const error = fields(thrown);
  const data = error["data"];
  const more = [data, ...["details", "message", "error", "errorMessage"].map((name) => fields(data)[name])];
  const inner = more.map((one) => text(one) || text(fields(one)["message"])).find((one) => one !== "") ?? "";
  const said = [text(error["message"]), inner].filter(Boolean).join(": ");
  return { said, all: `${said}\n${JSON.stringify(data ?? "").slice(0, 4 * MAX_WORDS)}` };
}
