/** The port of workspaces: each job works in a folder of its own, outside the user's checkout, and gives it back. */
import type { JobId } from "../core/job.ts";
import type { Failed } from "../core/result.ts";

/** None of these throws: errors are values. */
export type Workspaces = {
  /** A folder with `commit` checked out that no other job has. If `signal` aborts first, a failure. */
  take(want: Want, signal: AbortSignal): Promise<Workspace | Failed>;
  /**
   * Commits what was left uncommitted, tracked or not, and brings it into the user's repository under a full ref name.
   * `commit` is undefined if nothing differs from where the workspace started. A fault of the machine is retried a few
   * times; either all of the work is kept, or it fails and the workspace stays as it is.
   */
  keep(workspace: Workspace, as: Keepsake, signal: AbortSignal): Promise<Kept | Failed>;
  /**
   * Ends what is still running in it, and frees it for the next holder, with nothing of this holder left. `isSpoilt`:
   * it is removed, with the ignored files that a gate's workspace otherwise keeps.
   */
  release(workspace: Workspace, isSpoilt?: boolean): Promise<void>;
  /** The workspace that a job of an earlier engine still holds. */
  heldBy(job: JobId): Promise<Workspace | undefined>;
  /** How its untracked files differ from when it was made; no differences if it was made for this holder. */
  leftovers(workspace: Workspace, signal: AbortSignal): Promise<WorkspaceLeftovers | Failed>;
};

/** Paths. `left`: files that earlier holders left or rewrote; `removed`: files of copies and set-up that are gone. */
export type WorkspaceLeftovers = { readonly left: readonly string[]; readonly removed: readonly string[] };

/** The free space on the disk of the workspaces, and the largest workspace. */
export type DiskSpace = {
  readonly freeBytes: number;
  readonly largest?: { readonly folder: string; readonly bytes: number };
};

/**
 * `gate` keeps its ignored files (build caches, dependencies) from one holder to the next; `agent` does not. `plan` is
 * only for reading: nothing is copied or set up there. `probe` is made for one holder, and removed afterwards.
 */
export type Want = {
  readonly job: JobId;
  readonly commit: string;
  readonly use: "agent" | "gate" | "plan" | "probe";
  /** Called with slow steps of its preparation, such as a copy or a set-up, in words for people. */
  readonly onStep?: (doing: string) => void;
  /** Made anew, set-up included: what an earlier holder left there is removed. */
  readonly isFresh?: true;
  /**
   * Files and folders, as in a scope, that the job needs. Others may be left out, except files at the top and
   * manifests.
   */
  readonly paths?: readonly string[];
  /** Its set-up command runs outside the sandbox: only for a commit that no agent has written to. */
  readonly isUnconfined?: true;
};

export type Workspace = {
  readonly job: JobId;
  readonly folder: string;
  readonly commit: string;
  /** The variables of every program that runs in it, and no others. */
  readonly environment: Readonly<Record<string, string>>;
  /** What could not be provided as asked, in words. */
  readonly notices: readonly string[];
  /**
   * The installed dependencies are not those that its tree asks for: the difference, and the setting that corrects it.
   */
  readonly stale?: string;
};

export type Keepsake = {
  readonly ref: string;
  readonly message: string;
  /**
   * Later changes in the workspace are not kept: keeping it again under this name, also by a later engine, gives the
   * same commit. Keeping it finally under another name gives that commit the other name as well.
   */
  readonly isFinal?: boolean;
};

export type Kept = {
  readonly commit: string | undefined;
  /** What was not kept, and why: a file that is too large, a nested repository. */
  readonly left: readonly string[];
};
