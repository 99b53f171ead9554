/** Types of where a model's tools work and within which limits; runs programs there. */
import type { JobId } from "../../../core/job.ts";
import type { Scratchpad } from "../../../ports/agent.ts";
import type { ProgramEnd, Programs } from "../../../ports/programs.ts";
import { cachesOf } from "../../sandboxes/confined-programs.ts";
import type { Sandbox, SandboxCommand } from "../../sandboxes/sandbox.ts";
import type { ToolReach } from "./reach.ts";

export type ToolPlace = {
  readonly job: JobId;
  /** The workspace. Tools can name nothing outside of it except the scratchpad. */
  readonly folder: string;
  readonly scratchpad?: Scratchpad | undefined;
  /** The whole environment of programs; it holds no key. */
  readonly environment: Readonly<Record<string, string>>;
  readonly programs: Programs;
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
  readonly limits: ToolLimits;
  /** Called when a tool is used, and at each output of a program. */
  readonly onSign?: () => void;
  /** Records the use of tools and the output of programs. */
  readonly write?: (text: string) => void;
};

/** The same with the real paths of its folders, resolved before a command could replace them. */
export type RootedPlace = ToolPlace & ToolReach;

export type ToolLimits = {
  readonly maxOutputBytes: number;
  /** The limit of one file that is read or written, also by commands. */
  readonly maxFileBytes: number;
  readonly maxCommandMs: number;
};

type PlaceRun = {
  readonly command: SandboxCommand;
  readonly maxMs: number;
  readonly maxOutputBytes: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly onOutput?: (text: string) => void;
};

/** Runs a program in the workspace: sandboxed, without input, and ended with all processes that it started. */
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
