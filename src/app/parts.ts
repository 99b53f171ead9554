/** Types of the ports that use cases need, which `compose` puts together for one repository. */
import type { Config } from "../config/schema.ts";
import type { Failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";
import type { RunState } from "../core/log/state.ts";
import type { Failed } from "../core/result.ts";
import type { Drive } from "../engine/drive.ts";
import type { EngineParts } from "../engine/engine.ts";
import type { JobParts } from "../jobs/job-parts.ts";
import type { Agent } from "../ports/agent.ts";
import type { AgentLooks } from "../ports/agent-looks.ts";
import type { BaseBranch } from "../ports/base-branch.ts";
import type { Delivery } from "../ports/delivery.ts";
import type { FlakyTests } from "../ports/flaky-tests.ts";
import type { GateFound } from "../ports/gate.ts";
import type { Mailbox } from "../ports/mailbox.ts";
import type { OwnRefs } from "../ports/own-refs.ts";
import type { Base, Environment, Project } from "../ports/project.ts";
import type { RunHome, RunRecord } from "../ports/runs.ts";
import type { Salvage } from "../ports/salvage.ts";
import type { Traces } from "../ports/traces.ts";
import type { Leftovers } from "./leftovers.ts";

export type Parts = {
  readonly project: Project;
  readonly env: Environment;
  readonly openWorld: (home: RunHome, how: WorldOptions) => RunWorld;
  readonly mailboxOf: (home: RunHome) => Mailbox;
  /** The output of git in this repository, without the last line end; undefined if git refuses. */
  readonly git: (...args: readonly string[]) => Promise<string | undefined>;
  /** Resolves a name to its commit; the name is untrusted. */
  readonly base: (name: string, signal: AbortSignal) => Promise<Base | Failed>;
  /** Describes the gate that a commit will have; without commands if there is none. */
  readonly gate: (config: Config, commit: string, signal: AbortSignal) => Promise<GateFound | Failed>;
  readonly flaky: FlakyTests;
  readonly agents: AgentLooks;
  readonly delivery: Delivery;
  readonly traces: Traces;
  readonly refs: OwnRefs;
  readonly salvage: Salvage;
  readonly newRunName: () => string;
  /** Opens a home for something that is not a run; it is removed when disposed of. */
  readonly openTrialHome: (
    record: RunRecord,
  ) => Promise<(AsyncDisposable & { readonly home: RunHome }) | Failed>;
};

export type WorldOptions = { readonly config: Config; readonly agents?: GivenAgents };

/** Functions of a program, used instead of the configured agents. */
export type GivenAgents = { readonly worker?: Agent; readonly planner?: Agent | "none" };

/** Everything outside the engine that one run uses. */
export type RunWorld = Leftovers & {
  readonly engine: Omit<EngineParts, "log" | "queue"> & { readonly queue: ClosableQueue };
  readonly jobs: JobParts;
  readonly channel: Channel;
  /** The branch that the run is to be delivered to, if there is one. */
  readonly baseBranch?: BaseBranch;
  readonly place: RunPlace;
  /** A warning for the start of the run, if there is one, such as that no machine would work on it. */
  readonly notice?: () => Promise<string | undefined>;
  /** Ends what runs beside the jobs, and waits for it. */
  readonly settle: () => Promise<void>;
  /** Releases everything; what is held on the disk stays for the next process. */
  readonly close: () => Promise<void>;
};

type ClosableQueue = EngineParts["queue"] & { close(): Promise<void> };

/** The run's refs and folders. */
type RunPlace = {
  /** Why the run cannot start or go on here. */
  unready(signal: AbortSignal): Promise<Failure | undefined>;
  /** Makes the target at the base. `elsewhere`: the target exists already, and has moved on. */
  makeTarget(signal: AbortSignal): Promise<"made" | "elsewhere" | Failed>;
  /**
   * Restores what a power cut or a `git prune` has removed. Returns what, in sentences; fails if the target is lost.
   */
  restore(state: RunState, signal: AbortSignal): Promise<readonly string[] | Failed>;
  /** Makes git keep what the run needs from now on. */
  hold(): Promise<Failed | undefined>;
  /** For a closed run: removes the branches of its attempts, and the refs that hold its objects. */
  letGo(state: RunState): Promise<Failed | undefined>;
  /** Why files in workspaces would differ from the user's because of git filters. */
  filterProblem(signal: AbortSignal): Promise<Failure | undefined>;
  /** Resolves when the run's folder was removed, or when `signal` aborts. */
  gone(signal: AbortSignal): Promise<void>;
};

/** Connects a run's jobs with its engine: quota and budget one way, signs of life the other. */
export type Channel = {
  /** Called before the first job starts. `onWait`: called when a job begins to wait for its model. */
  readonly connect: (drive: Drive, onWait: () => void) => void;
  /** Called for each event right after it became part of the state. */
  readonly follow: (event: Event) => void;
  /** Called for each event once it is durable. */
  readonly kept: (event: Event) => void;
  /** True if the job is waiting until it may call its model. */
  readonly isWaiting: (job: JobId) => boolean;
};
