/** Ports that look at a machine and a repository before a run. They change nothing and do not throw. */
import type { Failure } from "../core/failure.ts";
import type { Failed } from "../core/result.ts";
import type { GateFound, GateSetting } from "./gate.ts";
import type { Located } from "./project.ts";

export type Inspection = {
  readonly repository: RepositoryLooks;
  readonly workspaces: WorkspaceLooks;
  readonly places: PlaceLooks;
  readonly roles: RoleLooks;
};

type RepositoryLooks = {
  readonly git: (folder: string, signal: AbortSignal) => Promise<GitFacts | Failed>;
  readonly around: (folder: string, signal: AbortSignal) => Promise<InspectedRepository | Failed>;
  /** The commit that a person means by a name. */
  readonly commit: (located: Located, name: string, signal: AbortSignal) => Promise<string | Failed>;
  /** The size of a commit's files when it is checked out; undefined if unknown. */
  readonly tree: (
    repository: InspectedRepository,
    commit: string,
    signal: AbortSignal,
  ) => Promise<TreeFacts | undefined>;
};

type WorkspaceLooks = {
  /** Without commands if there is no gate. */
  readonly gate: (wanted: GateWanted, signal: AbortSignal) => Promise<GateFound | Failed>;
  /** Undefined if nothing has to be installed, as far as can be told. */
  readonly setup: (located: Located, commit: string, signal: AbortSignal) => Promise<SetupFacts | undefined>;
  /** Why files in workspaces would differ from the user's because of git filters. */
  readonly filterProblem: (wanted: FiltersWanted, signal: AbortSignal) => Promise<Failure | undefined>;
  /** Names of ignored files that programs often need: workspaces do not have them unless they are included. */
  readonly ignoredSettings: (located: Located, signal: AbortSignal) => Promise<readonly string[]>;
};

type PlaceLooks = {
  /** The state folder of the repository; without a repository, the folder of all of them. */
  readonly state: (located: Located | undefined, folder: string) => Promise<StateFacts | Failed>;
  /** Undefined if the system does not say. */
  readonly disk: (folder: string) => Promise<Disk | undefined>;
};

type RoleLooks = {
  /** Specialists that files of the repository describe. */
  readonly specialists: (top: string) => Promise<NamesFound>;
  /** MCP servers that the repository passes on to agents. `pass`: variables that it may name. */
  readonly mcpServers: (top: string, pass: readonly string[]) => Promise<NamesFound>;
};

type GateWanted = {
  readonly located: Located;
  readonly gate: GateSetting;
  readonly commit: string;
};

type FiltersWanted = {
  readonly located: Located;
  readonly commit: string;
  readonly allowed: readonly string[];
};

/** `problems`: why others cannot be used. */
export type NamesFound = { readonly names: readonly string[]; readonly problems: readonly string[] };

export type GitFacts = { readonly version: string; readonly problem?: Failure };

export type InspectedRepository = Located & {
  /** What `notices` returned. */
  readonly remarks: readonly string[];
  readonly isBare: boolean;
  readonly isClean: boolean;
  readonly isShallow: boolean;
  /** A partial clone: objects are fetched when they are needed. */
  readonly isPartial: boolean;
  /** One of several work trees. */
  readonly isLinked: boolean;
  readonly objectFormat: string;
};

export type TreeFacts = { readonly files: number; readonly bytes: number; readonly isCut: boolean };

/** How a workspace could get what the gate needs. */
export type SetupFacts = {
  /** For `workspace.setup`. */
  readonly command: string;
  /** The file that the command was derived from. */
  readonly lockFile: string;
  /** True if workspaces would have nothing installed without it. */
  readonly isNeeded: boolean;
  /** Why it is needed or not, as a sentence. */
  readonly why: string;
  /** What the command would not install, in words; undefined if nothing is known to be missing. */
  readonly lacks?: readonly string[];
  /** For `workspace.copy`, instead of the command: the installed packages can be copied. */
  readonly copy?: readonly string[];
  /** For `gate`, if the detected gate would not use the installed packages. */
  readonly gate?: string;
};

export type StateFacts = {
  readonly folder: string;
  /** False before the first run, which makes it. */
  readonly isThere: boolean;
  /** Why it cannot be written to; undefined if it can. */
  readonly unwritable?: string;
  readonly disk?: Disk;
  readonly runs: number;
  /** Runs whose record cannot be read. */
  readonly brokenRuns: number;
};

export type Disk = {
  /** Undefined if unknown. */
  readonly fileSystem?: string;
  readonly kind: "local" | "memory" | "network" | "unknown";
  readonly freeBytes: number;
  /** Equal for two folders on the same disk. */
  readonly device: number;
};

/** How long an agent's session took to start, in ms; `problem`: why it did not start. */
export type SessionFacts = { readonly ms: number; readonly problem?: Failure };

/**
 * A right that workers have in Postgres beyond their work, and the statement that revokes it; `of`: in the fleet's
 * database, or in others.
 */
export type OpenEnd = { readonly of: "database" | "others"; readonly statement: string };

export type FleetFacts = {
  /** The role of the connection; `readsRuns`: the role can read runs, which is more than a worker needs. */
  readonly database: { readonly role: string; readonly readsRuns: boolean } | Failed;
  /** The machines that are ready now; undefined if the role may not see them. */
  readonly machines?: { readonly ready: number; readonly slots: number };
  /** `unknown`: no remote was named; each run names its own. */
  readonly remote: { readonly mayPush: boolean } | "unknown" | Failed;
  /** Undefined if the role may not see them. */
  readonly openEnds?: readonly OpenEnd[];
};
