/** What do use cases need of the machine? Ports, which `compose` puts together for one repository. */
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
  /** What git says in this repository, without the last line end; undefined if it refuses. */
  readonly git: (...args: readonly string[]) => Promise<string | undefined>;
  /** The commit that a name means, which is not trusted. */
  readonly base: (name: string, signal: AbortSignal) => Promise<Base | Failed>;
  /** What the gate of a commit will be, in words; no commands if there is none. */
  readonly gate: (config: Config, commit: string, signal: AbortSignal) => Promise<GateFound | Failed>;
  readonly flaky: FlakyTests;
  readonly agents: AgentLooks;
  readonly delivery: Delivery;
  readonly traces: Traces;
  readonly refs: OwnRefs;
  readonly salvage: Salvage;
  readonly newRunName: () => string;
  /** For something that is no run: gone once it is disposed of. */
  readonly openTrialHome: (
    record: RunRecord,
  ) => Promise<(AsyncDisposable & { readonly home: RunHome }) | Failed>;
};

export type WorldOptions = { readonly config: Config; readonly agents?: GivenAgents };

/** Functions of a program, which are used instead of the agents that are configured. */
export type GivenAgents = { readonly worker?: Agent; readonly planner?: Agent | "none" };

/** Everything outside the engine that one run uses. */
export type RunWorld = Leftovers & {
  readonly engine: Omit<EngineParts, "log" | "queue"> & { readonly queue: ClosableQueue };
  readonly jobs: JobParts;
  readonly channel: Channel;
  /** Of the branch that the run is to be delivered to, if there is one. */
  readonly baseBranch?: BaseBranch;
  readonly place: RunPlace;
  /** What people should know at its start, if anything: that no machine would work on it. */
  readonly notice?: () => Promise<string | undefined>;
  /** Ends what goes on beside the jobs, and waits for it. */
  readonly settle: () => Promise<void>;
  /** Gives up everything; what is held on the disk stays for the next process. */
  readonly close: () => Promise<void>;
};

type ClosableQueue = EngineParts["queue"] & { close(): Promise<void> };

/** The run's refs and folders. */
type RunPlace = {
  /** Why the run cannot start or go on here. */
  unready(signal: AbortSignal): Promise<Failure | undefined>;
  /** Makes the target at the base. `elsewhere`: there is one already that has moved on. */
  makeTarget(signal: AbortSignal): Promise<"made" | "elsewhere" | Failed>;
  /** Puts right what a power cut or a `git prune` has taken. Says what, in sentences; fails if the target is lost. */
  restore(state: RunState, signal: AbortSignal): Promise<readonly string[] | Failed>;
  /** From now on git keeps what the run needs. */
  hold(): Promise<Failed | undefined>;
  /** Of a run that is closed: the branches of its attempts are removed, and what holds its objects. */
  letGo(state: RunState): Promise<Failed | undefined>;
  /** Why workspaces would not have the files of the base as the user has them. */
  filterProblem(signal: AbortSignal): Promise<Failure | undefined>;
  /** Resolves when the run's folder was removed, or at `signal`. */
  gone(signal: AbortSignal): Promise<void>;
};

/** How a run's jobs and its engine hear of each other: money and quota one way, signs of life the other. */
export type Channel = {
  /** Before the first job starts. `onWait`: a job begins to wait until it may call its model. */
  readonly connect: (drive: Drive, onWait: () => void) => void;
  /** Each event right after it became part of the state. */
  readonly follow: (event: Event) => void;
  /** Each event once it is durable. */
  readonly kept: (event: Event) => void;
  /** Whether a job waits until it may call its model. */
  readonly isWaiting: (job: JobId) => boolean;
};
