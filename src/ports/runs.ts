/** Which runs of a repository are there, and where is everything of theirs kept? */
import type { Event } from "../core/log/event.ts";
import type { Failed } from "../core/result.ts";
import type { EventLog } from "./event-log.ts";

export type Runs = {
  /** Durable on return; refuses a name that is taken. */
  create(record: RunRecord): Promise<RunHome | Failed>;
  open(run: string): Promise<RunHome | Failed>;
  /** Newest first; one whose record cannot be read is listed as a failure, not left out. */
  list(): Promise<readonly (RunRecord | UnreadableRun)[]>;
  /** Goes on with a removal (`RunLock.discard`) that was cut short; false if there was none. */
  finishRemoval(run: string): Promise<boolean | Failed>;
};

export type RunRecord = {
  readonly run: string;
  readonly goal: string;
  /** The commit that it starts from, and the branch that it is to be delivered to, if HEAD was on one. */
  readonly base: string;
  readonly baseBranch?: string;
  readonly createdAt: number;
  /** The configuration that it was started with, as plain JSON: resuming does not depend on today's files. */
  readonly settings: unknown;
  /** The plan that it follows instead of a planner, as plain JSON. */
  readonly plan?: unknown;
  /** The ids of what files of the repository may ask for in it. A run from before there was trust has none. */
  readonly agreed?: readonly string[];
};

/** `run`: its name; empty if the folder of all runs cannot be read. */
export type UnreadableRun = Failed & { readonly run: string };

export type RunHome = {
  readonly record: RunRecord;
  /** Workspaces, jobs and transcripts of the run are below it. */
  readonly folder: string;
  readonly log: EventLog & EventFeed;
  /** Makes this process the run's one writer, until `release` or until it ends in any way. */
  lock(): Promise<RunLock | Failed>;
  /** Whether its folder is still there, with its record and its log. */
  isThere(): boolean;
  /** Whether a job of it was ever begun. */
  hasJobs(): Promise<boolean>;
  /** The process that writes now; undefined if there is none. */
  owner(): Promise<Owner | undefined>;
  /** Asks that process to stop, as Ctrl-C there would; `isUrgent`: without waiting for a landing. */
  stop(owner: Owner, isUrgent: boolean): Promise<Failed | undefined>;
};

export type EventFeed = {
  /** The events after number `after`, then those that are added, also by another process, until `signal`. */
  follow(after: number, signal: AbortSignal): AsyncIterable<Event>;
};

export type RunLock = {
  readonly release: () => Promise<void>;
  /** Instead of `release`: as if the run had never been made. Not there any more from one moment to the next. */
  readonly discard: () => Promise<Failed | undefined>;
  /** Resolves, once, if another process has become the writer in spite of it; then nothing of the run may be touched. */
  readonly lost: Promise<Failed>;
};

/** `host`: the machine that it runs on, if not this one. */
export type Owner = { readonly pid: number; readonly since: number; readonly host?: string };
