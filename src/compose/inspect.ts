/** What is there to work with? Looked at for `skein doctor` and `skein init`: nothing is changed, nothing throws. */
import { existsSync } from "node:fs";
import path from "node:path";
import { git } from "../adapters/git/git.ts";
import { whyUnstartable } from "../adapters/programs/command.ts";
import { locate, tooOld } from "../adapters/repositories/locate.ts";
import { agentProblem } from "../app/find-agent.ts";
import { NO_AGENT } from "../app/ready-agents.ts";
import { splitWords } from "../config/commands.ts";
import type { Config } from "../config/schema.ts";
import type { Failure } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Located } from "../ports/project.ts";
import { agentLooks } from "./agent-looks.ts";
import type { Environment } from "./project.ts";
import { gateOf } from "./world.ts";

export type GitFacts = { readonly version: string; readonly problem?: Failure };

/** Asked at the root, which is there whatever else is not. */
export async function inspectGit(folder: string, signal: AbortSignal): Promise<GitFacts | Failed> {
  const said = await git({ folder: path.parse(folder).root, args: ["version"] }, signal);
  if (!said.ok) return { failure: said.failure };
  const version = said.out.trim().replace(/^git version /, "");
  const old = tooOld(said.out);
  return old === undefined ? { version } : { version, problem: old.failure };
}

export type InspectedRepository = Located & {
  readonly isBare: boolean;
  readonly isClean: boolean;
  readonly isShallow: boolean;
  /** Objects are fetched when they are asked for. */
  readonly isPartial: boolean;
  /** One of several work trees. */
  readonly isLinked: boolean;
  readonly objectFormat: string;
};

export async function inspectRepository(
  folder: string,
  signal: AbortSignal,
): Promise<InspectedRepository | Failed> {
  const located = await locate(folder, signal);
  if (hasFailed(located)) return located;
  const { top, gitDir, notices } = located;
  const said = (...args: readonly string[]) =>
    git({ folder: top, args, maxBytes: MAX_ANSWER_BYTES }, signal).then(({ out }) => out.trim());
  const [shallow, format, own, promisor] = await Promise.all([
    said("rev-parse", "--is-shallow-repository"),
    said("rev-parse", "--show-object-format"),
    said("rev-parse", "--absolute-git-dir"),
    said("config", "--get-regexp", "^(remote\\..*\\.promisor|extensions\\.partialclone)$"),
  ]);
  return {
    ...located,
    isBare: top === gitDir,
    isClean: !notices.some((notice) => /committed/.test(notice)),
    isShallow: shallow === "true",
    isPartial: promisor !== "",
    isLinked: path.basename(path.dirname(own)) === "worktrees",
    objectFormat: format || "sha1",
  };
}

const MAX_ANSWER_BYTES = 1_000_000;

export type TreeFacts = { readonly files: number; readonly bytes: number; readonly isCut: boolean };

/** How large a commit is when it is checked out; of a very large one what was seen within the limits. */
export async function inspectTree(
  { top, isPartial }: InspectedRepository,
  commit: string,
  signal: AbortSignal,
): Promise<TreeFacts | undefined> {
  if (isPartial) return undefined; // To be asked for its size, a blob that is not here would be fetched.
  const args = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit];
  const listed = await git({ folder: top, args, maxBytes: MAX_TREE_BYTES, cut: true }, signal);
  if (!listed.ok) return undefined;
  const sizes = [...listed.out.matchAll(/(?:^|\0)\d+ blob [0-9a-f]+ +(\d+)\t/g)].map(([, size]) =>
    Number(size),
  );
  const bytes = sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES, 0);
  return { files: sizes.length, bytes, isCut: listed.isCut };
}

/** What a file takes on most disks, however short it is: of 150,000 files of ten bytes 600 MB, not 1.5. */
const BLOCK_BYTES = 4_096;
/** Some 100,000 files. */
const MAX_TREE_BYTES = 10_000_000;

export type GateFacts = {
  /** Where it was found, in words. */
  readonly found: string;
  readonly commands: readonly {
    readonly name: string;
    /** As a person would type it. */
    readonly run: string;
    /** Why its program could not be started; not known of everything that a shell can say. */
    readonly problem?: Failure;
  }[];
};

/** A repository, and how a run in it would be configured. */
export type Settled = {
  readonly located: Located;
  readonly config: Config;
  readonly env: Environment;
};

export async function inspectGate(
  { located, config, env }: Settled,
  commit: string,
  signal: AbortSignal,
): Promise<GateFacts | Failed> {
  const gate = await gateOf({ located }, config, commit, signal);
  if (hasFailed(gate)) return gate;
  const commands = gate.commands.map(async ({ name, command }) => {
    const isShell = command[0] === "/bin/sh" && command[1] === "-c";
    const run = isShell ? (command[2] ?? "") : command.join(" ");
    const program = isShell ? programOf(run) : command[0];
    const problem =
      program === undefined
        ? undefined
        : await whyUnstartable({
            command: [program],
            folder: located.top,
            environment: { PATH: env["PATH"] ?? "" },
          });
    return { name, run, ...(problem === undefined ? {} : { problem }) };
  });
  return { found: gate.found, commands: await Promise.all(commands) };
}

/** The program that a line starts with; undefined where only a shell knows. */
function programOf(line: string): string | undefined {
  const split = splitWords(line.split("\n")[0] ?? "");
  if (!("words" in split)) return undefined;
  const word = split.words.find((one) => !/^\w+=/.test(one));
  return word === undefined || BUILT_IN.has(word) ? undefined : word;
}

/** What a shell does itself, or begins something larger with. */
const BUILT_IN: ReadonlySet<string> = new Set([
  ...[
    "!",
    ".",
    ":",
    "[",
    "cd",
    "command",
    "eval",
    "exec",
    "exit",
    "export",
    "set",
    "trap",
    "ulimit",
    "umask",
  ],
  ...["case", "for", "if", "until", "while", "{", "test", "true", "false", "echo", "printf", "unset", "wait"],
]);

export type AgentFacts = {
  readonly role: "worker" | "planner";
  readonly spec: Config["planner"];
  readonly problem?: Failure;
  /** Of one that was started: how long its session took to come. */
  readonly session?: SessionFacts;
};

/** `problem`: why there was none. */
export type SessionFacts = { readonly ms: number; readonly problem?: Failure };

/** The worker, and the planner where it is somebody else. */
export async function inspectAgents({ located, config, env }: Settled): Promise<readonly AgentFacts[]> {
  const { agent, planner } = config;
  const look = async (role: AgentFacts["role"], spec: Config["planner"]): Promise<AgentFacts> => {
    if (spec === "none") return { role, spec };
    const problem = spec ? await agentProblem(spec, located.top, agentLooks(env)) : NO_AGENT;
    return { role, spec, ...(problem === undefined ? {} : { problem }) };
  };
  const isSame = JSON.stringify(planner ?? agent) === JSON.stringify(agent);
  return Promise.all([look("worker", agent), ...(isSame ? [] : [look("planner", planner)])]);
}

/** Ignored files that programs often need, by name: workspaces have none of them unless `.worktreeinclude` says so. */
export async function ignoredSettings(
  { top, gitDir }: Located,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (top === gitDir || existsSync(path.join(top, ".worktreeinclude"))) return [];
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const listed = await git({ folder: top, args, maxBytes: MAX_ANSWER_BYTES, cut: true }, signal);
  return listed.out
    .split("\0")
    .filter((file) => SETTINGS_FILE.test(path.basename(file)) && !file.endsWith("/"));
}

const SETTINGS_FILE = /^(?:\.env(?:\..+)?|\.envrc|\.npmrc|local\.properties)$/;

/** What keeps an agent from harm, in plain words, as it is in force for a run with this configuration. */
export type Isolation = {
  /** Whether the operating system holds the commands of every agent back. */
  readonly sandbox: "bubblewrap" | "none";
  readonly has: readonly string[];
  readonly lacks: readonly string[];
};

/** `sandbox`: the one in force for the built-in agent, which alone can be put into it, and for the gate. */
export function isolationOf(
  { workspace: { pass, share, filters }, agent, planner, network, gateSandbox }: Config,
  sandbox: Isolation["sandbox"] = "none",
): Isolation {
  const passed = pass.length === 0 ? "" : `, and ${pass.join(", ")} because workspace.pass says so`;
  const workers = [agent, planner].filter((spec) => typeof spec === "object");
  const isConfined = sandbox !== "none" && workers.every(({ kind }) => kind === "model");
  const isPart = sandbox !== "none" && workers.some(({ kind }) => kind === "model");
  const isGate = sandbox !== "none" && gateSandbox === "auto";
  return {
    sandbox: isConfined ? sandbox : "none",
    has: [
      "each agent works in its own clone, outside your checkout",
      "in its own process group, which ends with it",
      `with a minimal environment (PATH, HOME and the like), without secrets${passed}`,
      "with limits on time, output and file size",
      ...(isPart ? [`commands of the built-in agent run in the ${sandbox} sandbox`] : []),
      ...(isGate ? [`gate and set-up commands run in the ${sandbox} sandbox`] : []),
    ],
    lacks: [
      ...(isConfined ? [] : [isPart ? OTHERS_UNCONFINED : sandbox === "none" ? UNSANDBOXED : UNCONFINED]),
      ...(isConfined && network
        ? ["sandboxed commands can reach the network (network: false forbids it)"]
        : []),
      ...(share.length === 0
        ? []
        : [`workspace.share: agents can change ${share.join(", ")} in your checkout`]),
      ...(filters.length === 0
        ? []
        : [`workspace.filters: ${filters.join(", ")} run outside the sandbox on files that agents write`]),
    ],
  };
}

const AS_YOU = "it runs as you, can read and change whatever you can, and can reach the network";
const UNSANDBOXED = `there is no sandbox for the agent: ${AS_YOU}`;
const UNCONFINED = `the agent itself does not run in the sandbox: ${AS_YOU}`;
const OTHERS_UNCONFINED = `an agent other than the built-in one does not run in the sandbox: ${AS_YOU}`;
