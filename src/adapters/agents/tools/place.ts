/** Where do the tools of a model work, and within which limits? */
import type { JobId } from "../../../core/job.ts";
import type { Scratchpad } from "../../../ports/agent.ts";
import type { ProgramEnd, Programs } from "../../../ports/programs.ts";
import { cachesOf } from "../../sandboxes/confined-programs.ts";
import type { Command, Sandbox } from "../../sandboxes/sandbox.ts";
import type { Reach } from "./reach.ts";

export type ToolPlace = {
  readonly job: JobId;
  /** The workspace: nothing outside of it can be named, but for what is in the scratchpad. */
  readonly folder: string;
  readonly scratchpad?: Scratchpad | undefined;
  /** All that programs get; it holds no key. */
  readonly environment: Readonly<Record<string, string>>;
  readonly programs: Programs;
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
  readonly limits: ToolLimits;
  /** Called at each sign of life of a program. */
  readonly onSign?: () => void;
  /** Where it is written down what the tools were asked and what programs wrote. */
  readonly write?: (text: string) => void;
};

/** With the real paths of its folders, taken before a command could put something else there. */
export type RootedPlace = ToolPlace & Reach;

export type ToolLimits = {
  /** Of one answer to the model. */
  readonly maxOutputBytes: number;
  /** Of one file that is read or written, also by a command. */
  readonly maxFileBytes: number;
  readonly maxCommandMs: number;
};

export type PlaceRun = {
  readonly command: Command;
  readonly maxMs: number;
  readonly maxOutputBytes: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly onOutput?: (text: string) => void;
};

/** A program in the workspace, confined, with nothing to read, and ended with all that it started. */
export function runIn(place: ToolPlace, run: PlaceRun, signal: AbortSignal): Promise<ProgramEnd> {
  const { job, folder, programs, sandbox, limits, scratchpad } = place;
  const temporary = place.environment["TMPDIR"] ?? folder;
  const caches = { folder: cachesOf(folder), may: "read" } as const;
  return programs.run(
    {
      job,
      command: sandbox.wrap(run.command, { folder, temporary, scratchpad, caches }),
      folder,
      environment: run.environment ?? place.environment,
      limits: { maxMs: run.maxMs, maxOutputBytes: run.maxOutputBytes, maxFileBytes: limits.maxFileBytes },
      onOutput: (text) => {
        run.onOutput?.(text);
        place.onSign?.();
      },
    },
    signal,
  );
}
