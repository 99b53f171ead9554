/** What the agents share at the end of a turn: failures of their programs, redaction, and a call that ended it. */
import { readSpent } from "../../core/answers/handoff-answer.ts";
import { type Failure, failure } from "../../core/failure.ts";
import type { Spent } from "../../core/job.ts";
import type { Called, Said } from "../../ports/agent.ts";
import type { ProgramEnd } from "../../ports/programs.ts";
import { redactFields } from "../../text/redact.ts";

/** A turn with this text, and what the text says that it cost. */
export const says = (text: string): Said => ({ is: "said", text, ...spentIn(text) });

/** `text`: what it wrote all the same; it may say what it cost. */
export const fails = (why: Failure, text = ""): Said => ({ is: "failed", failure: why, ...spentIn(text) });

function spentIn(text: string): { readonly spent?: Spent } {
  const spent = readSpent(text);
  return spent ? { spent } : {};
}

/** Before it is written to disk. */
export function withoutSecrets<Ended extends Said | Called>(
  said: Ended,
  redact: (text: string) => string,
): Ended {
  if (said.is === "said") return { ...said, text: redact(said.text) };
  if (said.is === "called") return { ...said, input: redactFields(said.input, redact) };
  return { ...said, failure: { ...said.failure, message: redact(said.failure.message) } };
}

/** A call was acknowledged, so it counts however the turn went on. */
export const orCall = (said: Said, call: Pick<Called, "tool" | "input"> | undefined): Said | Called =>
  call ? { is: "called", ...call, ...(said.spent && { spent: said.spent }) } : said;

/** EX_TEMPFAIL of sysexits.h: a program ends with it if it cannot reach its model. */
export const UNREACHABLE_CODE = 75;

/** A missing program is the agent's failure; a machine without room or processes is not, and may recover. */
export const unstartable = (name: string, why: Failure, next: string): Failure =>
  why.kind === "agent-failed"
    ? failure("agent-failed", `${name} could not be started: ${why.message}`, next)
    : failure("interrupted", why.message, why.next);

/**
 * Crashes and kills come from outside (out of memory, a shutdown), so they are losses; `maxLost` stops a program that
 * crashes every time. Only too large a file is its own doing.
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
 * A loss. A stopped turn was either given up, then its result is not used; or the engine shuts down, and "cancelled"
 * would be charged to the task as a failure of its agent.
 */
export const stopped = (name: string): Failure => failure("interrupted", `${name} was stopped`);

/** A loss as well: a slow machine or model can be the reason. `maxLost` limits how often. */
export const timedOut = (name: string, maxMs: number, tail = ""): Failure => {
  const time = maxMs < 1_000 ? `${maxMs} ms` : `${Math.round(maxMs / 1_000)} s`;
  return failure("timed-out", `${name} did not end within ${time} and was stopped${tailOf(tail)}`);
};

/** The end of a program's output after a colon, safe for terminals. */
export function tailOf(tail: string): string {
  const text = tail.toWellFormed().replace(CONTROL, "").trim().slice(-MAX_TAIL_CHARS);
  return text === "" ? "" : `: ${text}`;
}

const MAX_TAIL_CHARS = 1_000;
const CONTROL = /[\p{Cc}--[\t\n]]/gv;

/** The longest timer that Node takes, about 24 days: a longer one would end at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
