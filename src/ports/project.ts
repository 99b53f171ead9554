/** Types of the repository that is worked on, and of where Skein keeps its runs. */
import type { Failure } from "../core/failure.ts";
import type { Failed } from "../core/result.ts";
import type { Runs } from "./runs.ts";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type Located = {
  /** The work tree; for a bare repository the git folder itself. Real and absolute, like `gitDir`. */
  readonly top: string;
  /** Where refs and objects are, also if `top` is one of several work trees. */
  readonly gitDir: string;
  readonly head: string;
  /** Undefined if HEAD is detached. */
  readonly branch?: string;
  /**
   * Things that work differently from what one may expect. Asks git only when called, because most commands do not show
   * them.
   */
  readonly notices: () => Promise<readonly string[]>;
};

/** A repository that runs can be made in, and where its runs are kept. */
export type Project = {
  readonly located: Located;
  readonly stateFolder: string;
  readonly runs: Runs;
  /** The ids of the git settings in the repository that the user has agreed to. */
  readonly agreed?: readonly string[];
  /** Its runs belong to a fleet, not to this machine. */
  readonly isFleets?: true;
  /** In a fleet: the refs on the remote that its machines share. */
  readonly remoteRefs?: RemoteRefs;
  /** Runs of repositories that were moved away, if the runs started from commits of this one. */
  readonly movedRuns: () => Promise<readonly MovedRuns[]>;
};

/** `branches`: the prefix of the run's branches. */
export type RemoteRefs = {
  /** Removes the refs that a run's jobs left there; returns those that stay. */
  tidy(
    of: { readonly run: string; readonly branches: string },
    signal: AbortSignal,
  ): Promise<LeftRefs | Failed>;
};

/**
 * `ofNone`: refs named like those of jobs, but of runs that this fleet does not have. `untidied`: why some could not be
 * removed.
 */
export type LeftRefs = {
  readonly ofRun: readonly string[];
  readonly ofNone: readonly string[];
  readonly untidied?: Failure;
};

export type MovedRuns = {
  /** Where the repository was. */
  readonly from: string;
  /** The state folder in which its runs are still kept. */
  readonly folder: string;
  readonly runs: readonly string[];
};

/** The commit that a run starts from, and the branch that it is to be delivered to, if it starts from one. */
export type Base = { readonly base: string; readonly baseBranch?: string };
