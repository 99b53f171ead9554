/** The options of the commands, and those that several commands share. */
import { type Command, Option } from "commander";
import type { MailboxMessage } from "../../../ports/mailbox.ts";
import type { Perform } from "../context.ts";

/** Adds a command's options and its action. */
export type AddTo = (command: Command, perform: Perform) => void;

/** A valid name of a fleet machine. */
export const MACHINE = /^[a-zA-Z0-9][\w.-]{0,63}$/;

export const addRepo = (command: Command, fleet = FLEET): Command =>
  command
    .option("--repo <folder>", "the repository (default: the one of the current folder)")
    .option("--fleet", fleet);

const FLEET = "use the runs of the fleet, in the Postgres of SKEIN_FLEET_URL (see docs/fleet.md)";

export const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

const GATE = new Option(
  "--gate <command>",
  "what must pass before a task lands: auto, none or a command; may be repeated",
).argParser(collect);

/** Adds the settings that have a flag; all others are set with --set. */
export const addSettings = (command: Command, gate: Option = GATE): Command =>
  command
    .option(
      "--agent <agent>",
      "the agent: a name (claude, codex, gemini, opencode, pi), provider/model, a command, acp:command",
    )
    .option(
      "--model <provider/model>",
      "the model of the built-in agent, such as anthropic/claude-sonnet-4-5",
    )
    .option("--script <file>", "answer from this script instead of an agent (see skein demo)")
    .option("--planner <agent>", 'the planner, if not the agent; "none": one worker does the whole goal')
    .option("--workers <n>", "maximum number of workers at once")
    .addOption(gate)
    .option("--gates <n>", "how many candidates are gated at once; auto: by the number of cores")
    .option("--approve", "wait for your approval of the first plan (skein approve)")
    .option("--deliver", "merge into the base branch when everything is done")
    .option("--into-checkout", "with --deliver: even if the base branch is checked out (it must be clean)")
    .option("--set <key=value>", "set any key of skein.yaml; may be repeated", collect);

/** For CI, where no person can be asked. */
export const addTrusting = (command: Command): Command =>
  command.option(
    "--trust <hash>",
    "agree, for this command, to what the repository's files ask for: the set with this hash (skein trust --show)",
  );

export type TrustOption = { readonly trust?: string };

/** On a terminal a run is shown on the whole screen, unless lines are requested. */
export const addPlain = (command: Command): Command =>
  command.option("--plain", "print lines instead of showing the run on the whole terminal");

export type PlainOption = { readonly plain?: true };

export type SettingOptions = {
  readonly agent?: string;
  readonly model?: string;
  readonly script?: string;
  readonly planner?: string;
  readonly workers?: string;
  readonly gate?: readonly string[];
  readonly gates?: string;
  readonly approve?: true;
  readonly deliver?: true;
  readonly intoCheckout?: true;
  readonly set?: readonly string[];
};

export type RepoOption = { readonly repo?: string; readonly fleet?: true };

/** The example lines below a command's help. */
export const examples = (...lines: readonly string[]): string =>
  ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n");

export type RunOptions = RepoOption &
  SettingOptions &
  PlainOption &
  TrustOption & { readonly base?: string; readonly config?: string };

/** `ask`: undefined if neither --ask nor --no-ask was given. */
export type PlanOptions = RepoOption &
  TrustOption &
  Pick<SettingOptions, "agent" | "model" | "planner" | "script" | "set"> & {
    readonly markdown?: true;
    readonly out?: string;
    readonly force?: true;
    readonly ask?: boolean;
    readonly maxConcurrent?: string;
    readonly by?: string;
    readonly agentPrefix?: string | true;
    readonly config?: string;
  };

export type SpawnOptions = {
  readonly input?: readonly string[];
  readonly file?: readonly string[];
  readonly hint?: readonly string[];
  readonly expect?: string;
  readonly maxDepth?: string;
  readonly inherit?: string;
  readonly request?: string;
};

export type AskOptions = { readonly default?: string; readonly wait?: string };

/** Options of `skein run` to make the plan first, show it, and ask. */
export type PlanFirst = {
  readonly plan?: true;
  readonly yes?: true;
  readonly by?: string;
};

export type ResumeOptions = RepoOption & SettingOptions & PlainOption & { readonly run?: string };

export type StopOptions = RepoOption & { readonly run?: string; readonly now?: true };

export type TellOptions = RepoOption & { readonly run?: string; readonly command: MailboxMessage };

export type DeliverCommandOptions = RepoOption & {
  readonly run?: string;
  readonly branch?: string;
  readonly intoCheckout?: true;
  readonly partial?: true;
};

export type RemoveOptions = RepoOption & {
  readonly run: string;
  readonly yes?: true;
  readonly undelivered?: true;
  readonly olderThan?: string;
};

export type RestoreOptions = RepoOption & { readonly entry: string; readonly branch?: string };

export type DoctorOptions = RunOptions & { readonly all?: true; readonly worker?: true };
