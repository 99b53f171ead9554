/** Helpers of all agents for the end of a turn: answers and failures with their cost, redaction, calls. */
import { readSpent } from "../../core/answers/handoff-answer.ts";
import { type Failure, failure } from "../../core/failure.ts";
import type { Spent } from "../../core/job.ts";
import type { Called, Said } from "../../ports/agent.ts";
import type { ProgramEnd } from "../../ports/programs.ts";
import { redactFields } from "../../text/redact.ts";

/** A turn that answered with this text, with the cost that the text states. */
export const says = (text: string): Said => ({ is: "said", text, ...spentIn(text) });

/** A failed turn. `text`: what the agent wrote nevertheless; it may state the cost. */
export const fails = (why: Failure, text = ""): Said => ({ is: "failed", failure: why, ...spentIn(text) });

function spentIn(text: string): { readonly spent?: Spent } {
  const spent = readSpent(text);
  return spent ? { spent } : {};
}

/** Redacts an answer before it is written to disk. */
export function withoutSecrets<Ended extends Said | Called>(
  said: Ended,
  redact: (text: string) => string,
): Ended {
  if (said.is === "said") return { ...said, text: redact(said.text) };
  if (said.is === "called") return { ...said, input: redactFields(said.input, redact) };
  return { ...said, failure: { ...said.failure, message: redact(said.failure.message) } };
}

/** Prefers the call: it was acknowledged, so it counts however the turn went on. */
export const orCall = (said: Said, call: Pick<Called, "tool" | "input"> | undefined): Said | Called =>
  call ? { is: "called", ...call, ...(said.spent && { spent: said.spent }) } : said;

/** EX_TEMPFAIL of sysexits.h: the exit code of a program that cannot reach its model. */
export const UNREACHABLE_CODE = 75;

/** A missing program is the agent's failure. A machine without memory or free processes is not: it may recover. */
export const unstartable = (name: string, why: Failure, next: string): Failure =>
  why.kind === "agent-failed"
    ? failure("agent-failed", `${name} could not be started: ${why.message}`, next)
    : failure("interrupted", why.message, why.next);

/**
 * Crashes and kills have outside causes (out of memory, a shutdown), so they count as lost; `maxLost` stops a
 * program that crashes every time. Only writing too large a file is the program's own failure.
 */
export const killed = (
  name: string,
  { signal, tail }: ProgramEnd & { readonly is: "killed" },
  maxFileBytes: number,
): Failure =>
  signal === "SIGXFSZ"
    ? failure(
        "agent-failed",
        `${name} wrote a file larger than ${maxFileBytes} bytes and was stopped${tailOf(tail)}`,
        "write less, or raise the limit",
      )
    : failure("interrupted", `${name} was killed by ${signal}${tailOf(tail)}`);

/**
 * Counts as lost. Either the turn was given up, and its result is unused, or the engine shuts down, where
 * "cancelled" would be charged to the task as a failure of its agent.
 */
export const stopped = (name: string): Failure => failure("interrupted", `${name} was stopped`);

/** Counts as lost as well, because a slow machine or model can be the reason. `maxLost` limits how often. */
export const timedOut = (name: string, maxMs: number, tail = ""): Failure => {
  const time = maxMs < 1_000 ? `${maxMs} ms` : `${Math.round(maxMs / 1_000)} s`;
  return failure("timed-out", `${name} did not end within ${time} and was stopped${tailOf(tail)}`);
};

/** The end of a program's output after a colon, without control characters. */
export function tailOf(tail: string): string {
  const text = tail.toWellFormed().replace(CONTROL, "").trim().slice(-MAX_TAIL_CHARS);
  return text === "" ? "" : `: ${text}`;
}

const MAX_TAIL_CHARS = 1_000;
const CONTROL = /[\p{Cc}--[\t\n]]/gv;

/** The longest timer that Node takes, about 24 days: a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
