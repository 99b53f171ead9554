/** Ports for checks before an agent starts: its programs, its models, and the sandbox for its commands. */
import type { Failure } from "../core/failure.ts";
import type { ModelSpec } from "../core/model-spec.ts";

export type AgentLooks = {
  readonly programs: ProgramLooks;
  readonly models: ModelLooks;
  /** What would confine commands; `problem`: a sandbox is required, and there is none. */
  readonly sandbox: (wanted: SandboxWish) => Promise<SandboxFacts>;
  /** What is wrong with a folder of prompts. */
  readonly prompts: (folder: string) => Promise<Failure | undefined>;
  /** What is wrong with the script of a scripted agent. */
  readonly script: (file: string) => Promise<readonly string[] | "missing">;
};

type SandboxWish = { readonly sandbox: "auto" | "required" | "off"; readonly network: boolean };

type ProgramLooks = {
  /** Why a command cannot be started in a folder. */
  readonly unstartable: (
    command: readonly [string, ...string[]],
    folder: string,
  ) => Promise<Failure | undefined>;
  /** The version of the package that a program belongs to; undefined if it does not belong to that package. */
  readonly version: (program: string, packageName: string) => Promise<string | undefined>;
  /** The version of the Node on the PATH. */
  readonly node: () => Promise<string | undefined>;
};

type ModelLooks = {
  /** Why a model has no key. */
  readonly keyProblem: (model: ModelSpec) => Promise<Failure | undefined>;
  /** Why a model on this machine does not answer. */
  readonly reachProblem: (model: ModelSpec) => Promise<Failure | undefined>;
  /** The model servers that answer on this machine. */
  readonly servers: (signal: AbortSignal) => Promise<readonly LocalModels[]>;
  readonly prices: (overrides: PriceOverrides) => Promise<PriceTable>;
};

type LocalModels = {
  readonly provider: string;
  /** The address before "/models". */
  readonly place: string;
  /** True if this is the usual address of such a server. */
  readonly isUsual: boolean;
  /** Names of the models that can hold a conversation, in the server's own order. */
  readonly models: readonly string[];
};

/** In dollars per million tokens, by "provider/model". Cache prices default to the input price. */
export type PriceOverrides = Readonly<Record<string, PriceOverride>>;

export type PriceOverride = {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  readonly cacheReadPerMillion?: number;
  readonly cacheWritePerMillion?: number;
};

type PriceTable = {
  /** The date of the table. */
  readonly asOf: string;
  /** In microdollars; undefined if the price is unknown. */
  readonly cost: (
    model: ModelSpec,
    use: { readonly input: number; readonly output: number },
  ) => number | undefined;
};

export type SandboxFacts = {
  readonly level: "bubblewrap" | "none";
  /** Which confinement is in force, and why. */
  readonly why: string;
  readonly problem?: Failure;
};
