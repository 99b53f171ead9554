/** What can be seen of a machine and a repository before a run? Nothing is changed, and nothing throws. */
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
  /** How large a commit is when it is checked out; undefined where that is not known. */
  readonly tree: (
    repository: InspectedRepository,
    commit: string,
    signal: AbortSignal,
  ) => Promise<TreeFacts | undefined>;
};

type WorkspaceLooks = {
  /** No commands if there is no gate. */
  readonly gate: (wanted: GateWanted, signal: AbortSignal) => Promise<GateFound | Failed>;
  /** Undefined where nothing has to be installed, as far as anyone can tell. */
  readonly setup: (located: Located, commit: string, signal: AbortSignal) => Promise<SetupFacts | undefined>;
  /** Why workspaces would not have the files of a commit as the user has them. */
  readonly filterProblem: (wanted: FiltersWanted, signal: AbortSignal) => Promise<Failure | undefined>;
  /** Ignored files that programs often need, by name: workspaces have none of them unless they are included. */
  readonly ignoredSettings: (located: Located, signal: AbortSignal) => Promise<readonly string[]>;
};

type PlaceLooks = {
  /** Of the repository; without one, of the folder that holds those of all repositories. */
  readonly state: (located: Located | undefined, folder: string) => Promise<StateFacts | Failed>;
  /** Undefined where the system does not say. */
  readonly disk: (folder: string) => Promise<Disk | undefined>;
};

type RoleLooks = {
  /** Roles that files of the repository describe. */
  readonly specialists: (top: string) => Promise<NamesFound>;
  /** Servers that agents are handed on to by the repository. `pass`: variables that it may name. */
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
  /** What `notices` said. */
  readonly remarks: readonly string[];
  readonly isBare: boolean;
  readonly isClean: boolean;
  readonly isShallow: boolean;
  /** Objects are fetched when they are asked for. */
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
  /** The file that it was derived from. */
  readonly lockFile: string;
  /** Without it a workspace would have nothing installed. */
  readonly isNeeded: boolean;
  /** Why it is needed or not, as a sentence. */
  readonly why: string;
  /** What the command would not install, in words; undefined if nothing of that kind is seen. */
  readonly lacks?: readonly string[];
  /** For `workspace.copy`, instead of the command: the installed packages can be copied. */
  readonly copy?: readonly string[];
  /** For `gate`, if the detected one would not use the installed packages. */
  readonly gate?: string;
};

export type StateFacts = {
  readonly folder: string;
  /** It is made by the first run. */
  readonly isThere: boolean;
  /** Why nothing could be written; undefined if it could. */
  readonly unwritable?: string;
  readonly disk?: Disk;
  readonly runs: number;
  /** Runs whose record cannot be read. */
  readonly brokenRuns: number;
};

export type Disk = {
  /** Undefined where it is not known. */
  readonly fileSystem?: string;
  readonly kind: "local" | "memory" | "network" | "unknown";
  readonly freeBytes: number;
  /** The same for two folders on one disk. */
  readonly device: number;
};

/** How long the session of an agent took to come; `problem`: why there was none. */
export type SessionFacts = { readonly ms: number; readonly problem?: Failure };

/** What a machine sees of the fleet that it wants to work for, or to start runs in. */
/** What workers may do in Postgres beyond their work, and the statement that ends it: of the fleet's database, or others. */
export type OpenEnd = { readonly of: "database" | "others"; readonly statement: string };

export type FleetFacts = {
  /** As whom it is let in; `readsRuns`: more than a worker needs. */
  readonly database: { readonly role: string; readonly readsRuns: boolean } | Failed;
  /** Those that are ready now; undefined where the role may not see them. */
  readonly machines?: { readonly ready: number; readonly slots: number };
  /** `unknown`: no remote was named; a run names its own. */
  readonly remote: { readonly mayPush: boolean } | "unknown" | Failed;
  /** Undefined where the role may not see them. */
  readonly openEnds?: readonly OpenEnd[];
};
