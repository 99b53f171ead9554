/** What did a turn come to, by what was said and how the process ended? */
import { type Failure, failure } from "../../../core/failure.ts";
import { unreachable } from "../../../core/unreachable.ts";
import type { Said } from "../../../ports/agent.ts";
import type { ProgramEnd } from "../../../ports/programs.ts";
import type { Talked } from "./dialogue.ts";
import { type Blamed, failureOfWords } from "./failures.ts";
import { shown } from "./loose.ts";

/** `talked`: undefined if nothing could be said. */
export type Turn = { readonly talked: Talked | undefined; readonly end: ProgramEnd };

export type Judged = Blamed & {
  readonly maxMs: number;
  readonly maxFileBytes: number;
  /** Told to stop, or out of time. */
  readonly cut: "stopped" | "timed-out" | undefined;
};

export function judge({ talked, end }: Turn, judged: Judged): Said {
  const spent = talked?.spent ? { spent: talked.spent } : {};
  if (talked?.is === "said") return { is: "said", text: talked.text, ...spent };
  return { is: "failed", failure: failureOf({ talked, end }, judged), ...spent };
}

/** Only what came to an end by itself is known to be all that it has to say. */
export const isWhole = ({ talked, end }: Turn): boolean =>
  talked?.is === "said" || talked?.is === "failed" || (talked?.is === "gone" && end.is === "exited");

function failureOf({ talked, end }: Turn, judged: Judged): Failure {
  const { name, cut, maxMs } = judged;
  if (end.is === "unstartable") return unstartable(name, end.failure);
  // Both are losses, not the task's fault: see the agent that is any program.
  if (cut === "stopped") return failure("interrupted", `${name} was told to stop`);
  if (cut === "timed-out") {
    return failure("timed-out", `${name} did not end within ${Math.ceil(maxMs / 1_000)} s and was stopped`);
  }
  if (talked?.is === "failed") return talked.failure;
  if (talked?.is === "other-version") {
    return failure(
      "agent-failed",
      `${name} speaks version ${talked.version} of the Agent Client Protocol; Skein speaks 1 and 2`,
      "install a version of it that fits, or name another agent",
    );
  }
  return failureOfEnd(end, judged);
}

/** It left in the middle of the turn. */
function failureOfEnd(end: Exclude<ProgramEnd, { is: "unstartable" }>, judged: Judged): Failure {
  const { name, maxFileBytes } = judged;
  const tail = shown(end.tail.slice(-MAX_TAIL_CHARS), MAX_TAIL_CHARS);
  const words = tail === "" ? "" : `: ${tail}`;
  switch (end.is) {
    case "exited": {
      const why = `ended with exit code ${end.code} in the middle of its turn${words}`;
      if (end.code === UNREACHABLE) return failure("agent-unreachable", `${name} ${why}`);
      return { next: BY_HAND, ...failureOfWords(why, judged) };
    }
    case "killed":
      return end.signal === "SIGXFSZ"
        ? failure("agent-failed", `${name} wrote a file larger than ${maxFileBytes} bytes and was stopped`)
        : failure("interrupted", `${name} was killed by ${end.signal}${words}`);
    case "timed-out":
    case "stopped":
      return failure(
        "agent-failed",
        `${name} closed the conversation in the middle of its turn${words}`,
        BY_HAND,
      );
    default:
      return unreachable(end);
  }
}

/** EX_TEMPFAIL of sysexits.h: "try again later". */
const UNREACHABLE = 75;
const MAX_TAIL_CHARS = 1_000;
const BY_HAND = "start it by hand: it must speak the Agent Client Protocol on its standard input and output";

/** A machine without room or processes is nobody's fault, and better later; a missing program is not. */
const unstartable = (name: string, why: Failure): Failure =>
  why.kind === "agent-failed"
    ? failure("agent-failed", `${name} could not be started: ${why.message}`, why.next ?? "is it installed?")
    : failure("interrupted", why.message, why.next);
