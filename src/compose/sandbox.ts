/** What confines commands on this machine? The same for the built-in agent's and for the criteria of a plan. */
import path from "node:path";
import { openSandbox } from "../adapters/sandboxes/bubblewrap.ts";
import { readableOf } from "../adapters/sandboxes/repository-parts.ts";
import type { Sandbox } from "../adapters/sandboxes/sandbox.ts";
import type { Failed } from "../core/result.ts";
import type { AgentParts } from "./agent-parts.ts";

export async function sandboxFor(
  parts: Pick<AgentParts, "config" | "env" | "top" | "gitDir" | "stateFolder">,
): Promise<Sandbox | Failed> {
  const { config, env, top, gitDir, stateFolder } = parts;
  return openSandbox({
    setting: config.sandbox,
    network: config.network,
    environment: env,
    hidden: [path.dirname(stateFolder), top, gitDir], // The runs of other repositories, too.
    readable: await readableOf({ top, gitDir, share: config.workspace.share }, AbortSignal.timeout(LOOK_MS)),
  });
}

const LOOK_MS = 30_000;
