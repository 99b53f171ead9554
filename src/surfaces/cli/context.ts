/** The context that every command gets, and how a command prints a refusal. */
import type { Failure } from "../../core/failure.ts";
import { redactor } from "../../text/redact.ts";
import { asJson, harmless } from "../../text/words.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { TypedInput } from "./input.ts";
import type { Output } from "./output.ts";

export type Context = Output & {
  readonly json: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder to which relative paths are relative. */
  readonly folder: string;
  /** What a person types to call this command again. */
  readonly command: string;
  readonly now: () => number;
  /** Opened only if a person is asked, or standard input has the request. */
  readonly input: () => TypedInput;
  /** The caller prints itself what to type next. */
  readonly hasOwnHints?: true;
};

/** The work of a command, without reading the command line. */
export type Act<Options> = (context: Context, options: Options) => Promise<ExitCode>;

/** Runs a command's act, and keeps its exit code. */
export type Perform = (act: (context: Context) => Promise<ExitCode>) => Promise<void>;

type Refused = Pick<Failure, "message" | "next"> & {
  readonly kind: string;
  readonly lines?: readonly string[];
};

/** Prints the problem and what to try on standard error; with JSON, as one object. */
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

/** A refusal shows what was typed, which may be a key that a person gave in place of a name. */
const blotted = redactor([]);

export const usage = (context: Context, message: string, next?: string): ExitCode =>
  refuse(
    context,
    EXIT.usage,
    next === undefined ? { kind: "usage", message } : { kind: "usage", message, next },
  );

/** Prints one line on standard output; nothing with JSON, which only `writeJson` prints. */
export const say = ({ out, json }: Context, text = ""): void => {
  if (!json) out.write(`${text}\n`);
};

export const writeJson = ({ out }: Context, value: unknown): void => out.write(`${asJson(value)}\n`);
