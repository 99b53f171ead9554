/** Which repository is worked on, and where is everything that Skein keeps of it? */
import type { Failure } from "../core/failure.ts";
import type { Failed } from "../core/result.ts";
import type { Runs } from "./runs.ts";

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type Located = {
  /** The work tree; of a bare repository the git folder itself. Real and absolute, like `gitDir`. */
  readonly top: string;
  /** Where refs and objects are, also if `top` is one of several work trees. */
  readonly gitDir: string;
  readonly head: string;
  /** Undefined if HEAD is detached. */
  readonly branch?: string;
  /** What works, but not as one might think. Asks git only when it is called: most commands do not show it. */
  readonly notices: () => Promise<readonly string[]>;
};

/** A repository that runs can be made in, and where its runs are kept. */
export type Project = {
  readonly located: Located;
  readonly stateFolder: string;
  readonly runs: Runs;
  /** The ids of what its own git settings ask for, all of it agreed to. */
  readonly agreed?: readonly string[];
  /** Its runs are those of a fleet, not of this machine. */
  readonly isFleets?: true;
  /** Of a fleet: what is on the remote that its machines share. */
  readonly remoteRefs?: RemoteRefs;
  /** Runs of repositories that are gone from their place, if they started from commits that are here. */
  readonly movedRuns: () => Promise<readonly MovedRuns[]>;
};

/** `branches`: the prefix of the run's branches. */
export type RemoteRefs = {
  /** Removes what jobs of a run left there; says what stays. */
  tidy(
    of: { readonly run: string; readonly branches: string },
    signal: AbortSignal,
  ): Promise<LeftRefs | Failed>;
};

/** `ofNone`: they are named as those of jobs, of runs that this fleet does not have. `untidied`: why some could not go. */
export type LeftRefs = {
  readonly ofRun: readonly string[];
  readonly ofNone: readonly string[];
  readonly untidied?: Failure;
};

export type MovedRuns = {
  /** Where the repository was. */
  readonly from: string;
  /** The state folder that its runs are still kept in. */
  readonly folder: string;
  readonly runs: readonly string[];
};

/** The commit that a run starts from, and the branch that it is to be delivered to, if it starts from one. */
export type Base = { readonly base: string; readonly baseBranch?: string };
