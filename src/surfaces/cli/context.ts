/** What does every verb need to know, and how does it say that it cannot? */
import type { Failure } from "../../core/failure.ts";
import { redactor } from "../../text/redact.ts";
import { asJson, harmless } from "../../text/words.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { TypedInput } from "./input.ts";
import type { Output } from "./output.ts";

export type Context = Output & {
  readonly json: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What relative paths are relative to. */
  readonly folder: string;
  /** What a person types to call this command again. */
  readonly command: string;
  readonly now: () => number;
  /** Opened only where somebody is asked, or brings a request. */
  readonly input: () => TypedInput;
  /** The caller of a run prints itself what to type next. */
  readonly hasOwnHints?: true;
};

/** A verb's work: everything but reading the command line. */
export type Act<Options> = (context: Context, options: Options) => Promise<ExitCode>;

/** How a verb's act becomes the exit code of the command. */
export type Perform = (act: (context: Context) => Promise<ExitCode>) => Promise<void>;

type Refused = Pick<Failure, "message" | "next"> & {
  readonly kind: string;
  readonly lines?: readonly string[];
};

/** Says what is wrong and what to try, on standard error; one JSON object for who asked for JSON. */
export function refuse({ err, json }: Context, exitCode: ExitCode, why: Refused): ExitCode {
  const { kind } = why;
  const message = blotted(why.message);
  const next = why.next === undefined ? undefined : blotted(why.next);
  const lines = (why.lines ?? []).map(blotted);
  if (json) {
    const details = {
      ...(next === undefined ? {} : { next }),
      ...(lines.length > 0 ? { problems: lines } : {}),
    };
    err.write(`${asJson({ error: { kind, message, exitCode, ...details } })}\n`);
    return exitCode;
  }
  const more = lines.map((line) => `  ${harmless(line)}\n`).join("");
  err.write(`skein: ${harmless(message)}\n${more}${next === undefined ? "" : `try: ${harmless(next)}\n`}`);
  return exitCode;
}

/** What is refused is shown, and may be a key that somebody gave where a name belongs. */
const blotted = redactor([]);

export const usage = (context: Context, message: string, next?: string): ExitCode =>
  refuse(
    context,
    EXIT.usage,
    next === undefined ? { kind: "usage", message } : { kind: "usage", message, next },
  );

/** One line on standard output; nothing for who asked for JSON, which is written by `writeJson` alone. */
export const say = ({ out, json }: Context, text = ""): void => {
  if (!json) out.write(`${text}\n`);
};

export const writeJson = ({ out }: Context, value: unknown): void => out.write(`${asJson(value)}\n`);
