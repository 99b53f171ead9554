/** What can be seen of agents before one is started? What takes long to load is loaded when it is asked for. */
import { realpath } from "node:fs/promises";
import { readBounded } from "../adapters/files/read-bounded.ts";
import { nodeOnPath, whyUnstartable } from "../adapters/programs/command.ts";
import type { AgentLooks } from "../app/agent-looks.ts";
import { KNOWN_PROVIDERS } from "../config/known-providers.ts";
import type { Environment } from "../config/sources.ts";
import { hasFailed } from "../core/result.ts";
import { readScript } from "../ports/agent-script.ts";

/** It takes 40 ms; on a machine that is too busy to answer it is left to the agent to say. */
const NODE_MS = 5_000;
/** On the same machine it takes a ms. A server that does not refuse at once is there. */
const REACH_MS = 1_000;
/** More than any script that somebody writes. */
const MAX_SCRIPT_BYTES = 64_000_000;

export function agentLooks(env: Environment): AgentLooks {
  const environment = { PATH: env["PATH"] ?? "" };
  const providers = () => import("../adapters/models/providers.ts");
  return {
    programs: {
      unstartable: (command, folder) => whyUnstartable({ command, folder, environment }),
      node: () => nodeOnPath(environment, AbortSignal.timeout(NODE_MS)),
    },
    models: {
      keyProblem: async (model) => (await providers()).keyProblem(model, env),
      reachProblem: async (model) => (await providers()).reachProblem(model, AbortSignal.timeout(REACH_MS)),
      servers: async (signal) =>
        (await import("../adapters/models/local-servers.ts")).localServers(KNOWN_PROVIDERS, env, signal),
      prices: async (overrides) => {
        const { openPrices, PRICE_TABLE } = await import("../adapters/models/prices.ts");
        const prices = await openPrices(overrides);
        const cost = (model: Parameters<typeof prices.cost>[0], use: { input: number; output: number }) =>
          prices.cost(model, { cacheRead: 0, cacheWrite: 0, ...use });
        return { asOf: PRICE_TABLE.date, cost };
      },
    },
    sandbox: async ({ sandbox: setting, network }) => {
      const { openSandbox } = await import("../adapters/sandboxes/bubblewrap.ts");
      const sandbox = await openSandbox({ setting, network, environment: env });
      return hasFailed(sandbox)
        ? { level: "none", why: sandbox.failure.message, problem: sandbox.failure }
        : { level: sandbox.level, why: sandbox.why };
    },
    prompts: async (folder) => {
      const { loadPrompts } = await import("../adapters/prompts.ts");
      const prompts = await loadPrompts([folder]);
      return hasFailed(prompts) ? prompts.failure : undefined;
    },
    script: async (file) => {
      const real = await realpath(file).catch(() => file); // A person may name a link.
      const read = await readBounded(real, MAX_SCRIPT_BYTES);
      if (read.is === "none") return "missing";
      if (read.is !== "bytes") return [`it cannot be read: ${read.is === "unreadable" ? read.why : read.is}`];
      const script = readScript(read.bytes.toString());
      return script.is === "broken" ? script.problems : [];
    },
  };
}
