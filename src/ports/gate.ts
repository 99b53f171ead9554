/** Does a tree pass? The commands come from the target, the tree from the candidate. */
import type { FailedCommand } from "../core/base-look.ts";
import type { Failure } from "../core/failure.ts";
import type { GateLeftovers, GateRecord, GateReport, Probed } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import type { Failed } from "../core/result.ts";
import type { GateChange } from "../core/rules/gate-changes.ts";
import type { Problem } from "../core/rules/repair.ts";

export type Gate = {
  /** Runs the commands that `rules` (a commit) names on the tree of `commit`. No commands: an empty report. */
  run(tree: GatedTree, signal: AbortSignal): Promise<GateRun | Failed>;
  /** Begins to make a place ready for a tree that is likely to be gated soon. A head start: the caller does not wait for it. */
  prepare(tree: GatedTree): void;
  /** Do the commands look at the tree at all? `report` is what they said about it as it is. */
  probe(tree: GatedTree, report: GateReport, signal: AbortSignal): Promise<Probed | Failed>;
  /** What differs between two commits of what defines the gate, or steers agents. */
  changes(from: string, to: string, signal: AbortSignal): Promise<readonly GateChange[] | Failed>;
};

/** As it is configured: found in the tree, none, or these commands. */
export type GateSetting = "auto" | "none" | readonly GateEntry[];

/** `env`: variables that this command gets besides those of its workspace. */
type GateEntry = {
  readonly name: string;
  readonly run: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
};

/** The gate that a commit would have, in words; no commands if there is none. */
export type GateFound = {
  readonly found: string;
  readonly commands: readonly { readonly name: string; readonly command: readonly string[] }[];
};

export type GatedTree = {
  readonly job: JobId;
  readonly commit: string;
  readonly rules: string;
  /** What it is to take the place of, if not `rules`: what that had to run must not be gone. */
  readonly from?: string;
  /** It is what the run began from, as the user has it: nothing of it was written by an agent of this run. */
  readonly isBase?: true;
  /** The first look at it: a gate that passed on the same tree before, with the same set-up, is not run again. */
  readonly mayReuse?: true;
  /** Hears what its workspace is being made ready with, and undefined when it is ready. */
  readonly onStep?: (doing: string | undefined) => void;
  /** In a workspace that is made anew, set-up included: something will be decided by a failure. */
  readonly isFresh?: true;
  /** Called with the name of each command before it runs. */
  readonly onCommand?: (name: string) => void;
  /** What its output is to be called, if not like its job. A second run of that name gets a number. */
  readonly output?: string;
  /** Called after each run of the commands: one look at a tree may take several. */
  readonly onRun?: (run: GateRecord) => void;
};

export type GateRun = {
  readonly report: GateReport;
  /** The same failures with their places, for the rules that make fix tasks. */
  readonly problems: readonly Problem[];
  /** What the failing commands wrote about what failed. */
  readonly tail: string;
  /** The same of each of them, for people. */
  readonly failed?: readonly FailedCommand[];
  /** The file on this machine that has all that the commands wrote. */
  readonly output?: string;
  /** It was not run: it passed on this very tree at that moment, by the machine's clock. */
  readonly passedAt?: number;
  /** Set where it failed without what its tree asks for being installed: what differs, and the setting that mends it. */
  readonly stale?: string;
  /** Set where a command could not be run at all: then nothing is known about the tree. Of kind "setup". */
  readonly setup?: Failure;
  /** Set where it failed in a used workspace, in which earlier runs of the gate had left files. */
  readonly leftovers?: GateLeftovers;
};
