/** The port of the gate: the target names the commands, and the candidate is the tree that they run on. */
import type { FailedCommand } from "../core/base-look.ts";
import type { Failure } from "../core/failure.ts";
import type { GateLeftovers, GateRecord, GateReport, Probed } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import type { Failed } from "../core/result.ts";
import type { GateChange } from "../core/rules/gate-changes.ts";
import type { Problem } from "../core/rules/repair.ts";

export type Gate = {
  /** Runs the commands that the commit `rules` names on the tree of `commit`. Without commands the report is empty. */
  run(tree: GatedTree, signal: AbortSignal): Promise<GateRun | Failed>;
  /** Begins to prepare a workspace for a tree that will probably be gated soon. The caller does not wait for it. */
  prepare(tree: GatedTree): void;
  /** Finds out whether the commands look at the tree at all. `report`: their result on the unchanged tree. */
  probe(tree: GatedTree, report: GateReport, signal: AbortSignal): Promise<Probed | Failed>;
  /** The differences between two commits in what defines the gate or steers agents. */
  changes(from: string, to: string, signal: AbortSignal): Promise<readonly GateChange[] | Failed>;
};

/** As configured: found in the tree, none, or these commands. */
export type GateSetting = "auto" | "none" | readonly GateEntry[];

/** `env`: variables for this command, besides those of its workspace. */
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
  /** The commit that it would replace, if not `rules`: commands that this commit had must not be gone. */
  readonly from?: string;
  /** It is the commit that the run began from, as the user has it: no agent of this run wrote any of it. */
  readonly isBase?: true;
  /** First check of this commit: a gate that passed on the same tree before, with the same set-up, is not run again. */
  readonly mayReuse?: true;
  /** Called with what its workspace is being prepared with, and with undefined when it is ready. */
  readonly onStep?: (doing: string | undefined) => void;
  /** Runs in a fresh workspace, set-up included, because a failure will decide something. */
  readonly isFresh?: true;
  /** Called with the name of each command before it runs. */
  readonly onCommand?: (name: string) => void;
  /** The name of its output, if not the job's. A second run with the same name gets a number. */
  readonly output?: string;
  /** Called after each run of the commands: gating one tree may take several runs. */
  readonly onRun?: (run: GateRecord) => void;
};

export type GateRun = {
  readonly report: GateReport;
  /** The same failures with their places, for the rules that make fix tasks. */
  readonly problems: readonly Problem[];
  /** The failing commands' output about the failures. */
  readonly tail: string;
  /** The output of each failing command, for people. */
  readonly failed?: readonly FailedCommand[];
  /** The file on this machine with the complete output of the commands. */
  readonly output?: string;
  /** The gate was not run, because it passed on this same tree at that time (ms of the machine's clock). */
  readonly passedAt?: number;
  /**
   * Set if it failed while the installed dependencies were not those that its tree asks for: the difference, and the
   * setting that corrects it.
   */
  readonly stale?: string;
  /** Set if a command could not run at all: then nothing is known about the tree. Of kind "setup". */
  readonly setup?: Failure;
  /** Set if it failed in a used workspace, in which earlier gate runs had left files. */
  readonly leftovers?: GateLeftovers;
};
