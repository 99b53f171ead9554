/** The port that runs other programs: in a process group of their own, with limits, and never left behind. */
import type { Failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";

export type Programs = {
  /**
   * The process group is on record before its first instruction. Everything that the program started has ended on
   * return.
   */
  run(program: Program, signal: AbortSignal): Promise<ProgramEnd>;
  /** Ends what a job of an earlier engine left running; returns how many processes that were. */
  endLeftovers(job: JobId): Promise<number>;
};

export type Program = {
  readonly job: JobId;
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly [string, ...string[]];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: string;
  /**
   * Instead of `input`: a conversation through its input and output, which are then not in the texts of its end. Begins
   * once the program runs; must not throw. When the conversation is over, the input is closed, and the program has a
   * short time to exit. If the program ends first, or is ended, its output ends and nothing more can be written, so the
   * conversation should end soon.
   */
  readonly talk?: (streams: Streams) => Promise<void>;
  readonly limits: ProgramLimits;
  /**
   * Where its exit code is written in digits with a line end, even if this process is gone by then. An exit code above
   * 128 then counts as the signal that it stands for.
   */
  readonly statusFile?: string;
  /** Called with its process group, right before its first instruction. */
  readonly onGroup?: (group: number) => void;
  /** Called with everything that it writes, as it comes, within the limit. */
  readonly onOutput?: (text: string) => void;
};

/** `input`: what the program reads. `output`: what it writes; reading pauses while the consumer does not take more. */
export type Streams = {
  readonly input: WritableStream<Uint8Array>;
  readonly output: ReadableStream<Uint8Array>;
};

export type ProgramLimits = {
  readonly maxMs: number;
  /** Of both outputs together: beyond it the middle is left out, and the program keeps running. */
  readonly maxOutputBytes: number;
  /** Of one file that it writes. */
  readonly maxFileBytes: number;
};

export type ProgramEnd =
  | ({ readonly is: "exited"; readonly code: number } & Texts)
  | ({ readonly is: "killed"; readonly signal: string } & Texts)
  | ({ readonly is: "timed-out" } & Texts)
  | ({ readonly is: "stopped" } & Texts)
  | { readonly is: "unstartable"; readonly failure: Failure };

/**
 * `output` and `errors`: standard output and standard error alone, the last part of a long one. `tail`: the end of
 * both, for people. `isCut`: they were not read to their end, because a process that could not be found still holds
 * them; more may have followed.
 */
type Texts = {
  readonly output: string;
  readonly errors: string;
  readonly tail: string;
  readonly isCut?: true;
};
