/** The port of a repository's runs: creates, opens, lists and removes them. */
import type { Event } from "../core/log/event.ts";
import type { Failed } from "../core/result.ts";
import type { EventLog } from "./event-log.ts";

export type Runs = {
  /** Durable on return; refuses a name that is taken. */
  create(record: RunRecord): Promise<RunHome | Failed>;
  open(run: string): Promise<RunHome | Failed>;
  /** Newest first. A run whose record cannot be read is listed as a failure, not left out. */
  list(): Promise<readonly (RunRecord | UnreadableRun)[]>;
  /** Continues a removal (`RunLock.discard`) that was interrupted; false if there was none. */
  finishRemoval(run: string): Promise<boolean | Failed>;
};

export type RunRecord = {
  readonly run: string;
  readonly goal: string;
  /** The commit that it starts from, and the branch that it is to be delivered to, if HEAD was on one. */
  readonly base: string;
  readonly baseBranch?: string;
  readonly createdAt: number;
  /** The configuration that it was started with, as plain JSON, so that resuming does not depend on today's files. */
  readonly settings: unknown;
  /** The plan that it follows instead of a planner, as plain JSON. */
  readonly plan?: unknown;
  /** The ids of what files of the repository may ask for in this run. A run from before there was trust has none. */
  readonly agreed?: readonly string[];
};

/** `run`: its name; empty if the folder of all runs cannot be read. */
export type UnreadableRun = Failed & { readonly run: string };

export type RunHome = {
  readonly record: RunRecord;
  /** The run's workspaces, jobs and transcripts are below it. */
  readonly folder: string;
  readonly log: EventLog & EventFeed;
  /** Makes this process the run's only writer, until `release` or until the process ends. */
  lock(): Promise<RunLock | Failed>;
  /** Whether its folder still exists, with its record and its log. */
  isThere(): boolean;
  /** Whether a job of it has ever begun. */
  hasJobs(): Promise<boolean>;
  /** The process that writes now; undefined if there is none. */
  owner(): Promise<Owner | undefined>;
  /** Asks that process to stop, as Ctrl-C there would; `isUrgent`: without waiting for a landing. */
  stop(owner: Owner, isUrgent: boolean): Promise<Failed | undefined>;
};

export type EventFeed = {
  /** The events after number `after`, then new ones, also by another process, until `signal`. */
  follow(after: number, signal: AbortSignal): AsyncIterable<Event>;
};

export type RunLock = {
  readonly release: () => Promise<void>;
  /** Instead of `release`: removes the run as if it had never been made. It disappears in one step. */
  readonly discard: () => Promise<Failed | undefined>;
  /**
   * Resolves, once, if another process has become the writer despite the lock; then nothing of the run may be touched.
   */
  readonly lost: Promise<Failed>;
};

/** `host`: the machine that it runs on, if not this one. */
export type Owner = { readonly pid: number; readonly since: number; readonly host?: string };
