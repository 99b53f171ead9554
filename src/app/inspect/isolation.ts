/** Describes what protects the machine from agents, as it is in force for a configuration. */
import type { Config } from "../../config/schema.ts";

/** The protection from agents in plain words, as it is in force for a run with this configuration. */
export type Isolation = {
  /** Whether the operating system confines the commands of every agent. */
  readonly sandbox: "bubblewrap" | "none";
  readonly has: readonly string[];
  readonly lacks: readonly string[];
};

/** `sandbox`: the one in force for the gate and for the built-in agent; other agents cannot be put into it. */
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
