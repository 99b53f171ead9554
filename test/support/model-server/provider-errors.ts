/** The refusals of providers, with their own statuses, headers and bodies, as replies. */
import { anthropicError } from "./anthropic.ts";
import { googleError } from "./google.ts";
import { openaiError } from "./openai-chat.ts";
import type { Fault, Reply, WireName } from "./reply.ts";

export type Refusal = { readonly fault: Extract<Fault, { readonly is: "status" }> };

/** Sends a header for each of the two options that is given. */
export function rateLimited(
  wire: WireName,
  { retryAfterSeconds, resetAt }: { readonly retryAfterSeconds?: number; readonly resetAt?: number } = {},
): Refusal {
  const retry: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  if (wire === "anthropic") {
    const message = "This request would exceed your account's rate limit. Please try again later.";
    const headers = { ...retry, ...(resetAt === undefined ? {} : anthropicReset(resetAt)) };
    return refusal(429, anthropicError("rate_limit_error", message), headers);
  }
  const again = retryAfterSeconds === undefined ? "" : ` Please try again in ${retryAfterSeconds}s.`;
  const message = `Rate limit reached on requests per min (RPM): Limit 60, Used 60, Requested 1.${again}`;
  const headers = { ...retry, ...(resetAt === undefined ? {} : openaiReset(resetAt)) };
  const error = { message, type: "requests", param: null, code: "rate_limit_exceeded" };
  return refusal(429, { error }, headers);
}

/** No paid credit is left; with `resetAt`, a usage limit that ends then. */
export function quotaExhausted(wire: WireName, { resetAt }: { readonly resetAt?: number } = {}): Refusal {
  if (wire === "anthropic") {
    const message =
      resetAt === undefined
        ? "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."
        : `You have reached your specified API usage limits. You will regain access on ${minuteOf(resetAt)}.`;
    return refusal(400, anthropicError("invalid_request_error", message));
  }
  if (resetAt === undefined) {
    const message = "You exceeded your current quota, please check your plan and billing details.";
    const error = { message, type: "insufficient_quota", param: null, code: "insufficient_quota" };
    return refusal(429, { error });
  }
  const resets_at = Math.ceil(resetAt / 1_000);
  const resets_in_seconds = Math.max(0, Math.ceil((resetAt - Date.now()) / 1_000));
  const message = "The usage limit has been reached";
  const error = { type: "usage_limit_reached", message, plan_type: "plus", resets_at, resets_in_seconds };
  return refusal(429, { error });
}

export function wrongKey(wire: WireName): Refusal {
  if (wire === "anthropic") return refusal(401, anthropicError("authentication_error", "invalid x-api-key"));
  if (wire === "google") {
    const message = "API key not valid. Please pass a valid API key.";
    return refusal(400, googleError(400, message, "API_KEY_INVALID"));
  }
  return refusal(401, openaiError(401, "Incorrect API key provided.", "invalid_api_key"));
}

export const serverError = (wire: WireName): Refusal =>
  wire === "anthropic"
    ? refusal(500, anthropicError("api_error", "Internal server error"))
    : refusal(
        500,
        openaiError(500, "The server had an error while processing your request. Sorry about that!"),
      );

export const overloaded = (wire: WireName): Refusal =>
  wire === "anthropic"
    ? refusal(529, anthropicError("overloaded_error", "Overloaded"))
    : refusal(503, openaiError(503, OVERLOADED, "server_overloaded"));

/** The same error in the middle of an answer that began well. */
export function overloadedInStream(wire: WireName, reply: Reply, afterPieces = 3): Reply {
  // The Responses wire has an error event of its own; the others send the body of the refusal.
  const body =
    wire === "openai-responses"
      ? {
          type: "error",
          code: "server_overloaded",
          message: OVERLOADED,
          param: null,
          sequence_number: afterPieces,
        }
      : overloaded(wire).fault.body;
  return { fault: { is: "error-event", afterPieces, body, reply } };
}

const OVERLOADED = "The engine is currently overloaded, please try again later";

const refusal = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Refusal => ({
  fault: { is: "status", status, body, headers },
});

function anthropicReset(resetAt: number): Record<string, string> {
  const reset = `${new Date(resetAt).toISOString().slice(0, 19)}Z`;
  return Object.fromEntries(
    ["requests", "tokens"].flatMap((what) => [
      [`anthropic-ratelimit-${what}-limit`, "50"],
      [`anthropic-ratelimit-${what}-remaining`, "0"],
      [`anthropic-ratelimit-${what}-reset`, reset],
    ]),
  );
}

function openaiReset(resetAt: number): Record<string, string> {
  const reset = duration(Math.max(0, resetAt - Date.now()));
  return Object.fromEntries(
    ["requests", "tokens"].flatMap((what) => [
      [`x-ratelimit-limit-${what}`, "60"],
      [`x-ratelimit-remaining-${what}`, "0"],
      [`x-ratelimit-reset-${what}`, reset],
    ]),
  );
}

/** A duration as Go writes it: `20ms`, `1s`, `6m0s`, `1h0m5s`. */
function duration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const all = Math.ceil(ms / 1_000);
  const [hours, minutes, seconds] = [Math.floor(all / 3_600), Math.floor(all / 60) % 60, all % 60];
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/** `2026-12-01 at 00:00 UTC`. */
const minuteOf = (at: number) => new Date(at).toISOString().replace(/T(\d\d:\d\d).*/, " at $1 UTC");
