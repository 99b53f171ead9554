/** Where does a job work? In a folder of its own, outside the user's checkout, that is given back afterwards. */
import type { JobId } from "../core/job.ts";
import type { Failed } from "../core/result.ts";

/** None of these throws: what goes wrong is a value. */
export type Workspaces = {
  /** A folder with `commit` checked out that no other job has. A caller that stops waiting gets a failure. */
  take(want: Want, signal: AbortSignal): Promise<Workspace | Failed>;
  /**
   * Commits what was left uncommitted, tracked or not, and brings it into the user's repository under a full ref
   * name. `commit` is undefined if nothing differs from where the workspace started. A fault of the machine is tried
   * again a few times; all of the work is kept, or it fails and the workspace stays as it is.
   */
  keep(workspace: Workspace, as: Keepsake, signal: AbortSignal): Promise<Kept | Failed>;
  /**
   * Ends what was left running in it, and makes it free for the next holder, with nothing of this one left.
   * `isSpoilt`: it is removed, with the ignored files that a gate's workspace keeps otherwise.
   */
  release(workspace: Workspace, isSpoilt?: boolean): Promise<void>;
  /** The workspace that a job of an earlier engine still holds. */
  heldBy(job: JobId): Promise<Workspace | undefined>;
  /** How its untracked files are no longer as they were made: nothing if it was made anew for this holder. */
  leftovers(workspace: Workspace, signal: AbortSignal): Promise<WorkspaceLeftovers | Failed>;
};

/** Paths. `left` by earlier holders, or rewritten; `removed`: of what copies and set-up had brought. */
export type WorkspaceLeftovers = { readonly left: readonly string[]; readonly removed: readonly string[] };

/** What is free on the disk that workspaces are on, and the workspace that takes the most of it. */
export type DiskSpace = {
  readonly freeBytes: number;
  readonly largest?: { readonly folder: string; readonly bytes: number };
};

/**
 * `gate` keeps its ignored files (build caches, dependencies) from one holder to the next; `agent` does not. `plan` is
 * for reading: nothing is copied or set up there. `probe` is made for one holder, and removed after it.
 */
export type Want = {
  readonly job: JobId;
  readonly commit: string;
  readonly use: "agent" | "gate" | "plan" | "probe";
  /** Hears what takes long while it is made ready: a copy, a set-up. In words for people. */
  readonly onStep?: (doing: string) => void;
  /** Made anew, set-up included: what an earlier holder left there is thrown away. */
  readonly isFresh?: true;
  /** Files and folders, as in a scope, that it needs. The rest may be left out, but for files at the top and manifests. */
  readonly paths?: readonly string[];
  /** Its set-up command runs as the user: only for a commit that no agent has written to. */
  readonly isUnconfined?: true;
};

export type Workspace = {
  readonly job: JobId;
  readonly folder: string;
  readonly commit: string;
  /** What every program that runs in it gets, and nothing else. */
  readonly environment: Readonly<Record<string, string>>;
  /** What could not be provided as asked, in words. */
  readonly notices: readonly string[];
  /** What is installed in it is not what its tree asks for: what differs, and the setting that mends it. */
  readonly stale?: string;
};

export type Keepsake = {
  readonly ref: string;
  readonly message: string;
  /**
   * What changes there afterwards is not kept: asked again for that name, also by a later engine, it says the same.
   * Asked to keep for good under another name, it gives that commit the other name as well.
   */
  readonly isFinal?: boolean;
};

export type Kept = {
  readonly commit: string | undefined;
  /** What was not kept, and why: a file that is too large, a nested repository. */
  readonly left: readonly string[];
};
