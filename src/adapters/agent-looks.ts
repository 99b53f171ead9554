/** Checks agents before one is started: programs, models, sandbox, prompts, scripts. Loads slow modules late. */
import { realpath } from "node:fs/promises";
import { hasFailed } from "../core/result.ts";
import type { AgentLooks } from "../ports/agent-looks.ts";
import type { Environment } from "../ports/project.ts";
import { readBounded } from "./files/read-bounded.ts";
import { nodeOnPath, whyUnstartable } from "./programs/command.ts";
import { installedVersion } from "./programs/installed-version.ts";

/**
 * Asking Node for its version takes 40 ms. If a busy machine does not answer in time, the agent itself reports a
 * bad Node.
 */
const NODE_MS = 5_000;
/** A model server on the same machine refuses within 1 ms; one that has not refused by then counts as reachable. */
const REACH_MS = 1_000;
/** Larger than any script written by hand. */
const MAX_SCRIPT_BYTES = 64_000_000;

/** `known`: the known model servers, each with the address where it usually listens. */
export function agentLooks(
  env: Environment,
  known: readonly { readonly name: string; readonly local?: string }[],
): AgentLooks {
  const environment = { PATH: env["PATH"] ?? "" };
  const providers = () => import("./models/providers.ts");
  return {
    programs: {
      unstartable: (command, folder) => whyUnstartable({ command, folder, environment }),
      version: (program, packageName) => installedVersion(program, packageName, environment),
      node: () => nodeOnPath(environment, AbortSignal.timeout(NODE_MS)),
    },
    models: {
      keyProblem: async (model) => (await providers()).keyProblem(model, env),
      reachProblem: async (model) => (await providers()).reachProblem(model, AbortSignal.timeout(REACH_MS)),
      servers: async (signal) => (await import("./models/local-servers.ts")).localServers(known, env, signal),
      prices: async (overrides) => {
        const { openPrices, PRICE_TABLE } = await import("./models/prices.ts");
        const prices = await openPrices(overrides);
        const cost = (model: Parameters<typeof prices.cost>[0], use: { input: number; output: number }) =>
          prices.cost(model, { cacheRead: 0, cacheWrite: 0, ...use });
        return { asOf: PRICE_TABLE.date, cost };
      },
    },
    sandbox: async ({ sandbox: setting, network }) => {
      const { openSandbox } = await import("./sandboxes/bubblewrap.ts");
      const sandbox = await openSandbox({ setting, network, environment: env });
      return hasFailed(sandbox)
        ? { level: "none", why: sandbox.failure.message, problem: sandbox.failure }
        : { level: sandbox.level, why: sandbox.why };
    },
    prompts: async (folder) => {
      const { loadPrompts } = await import("./prompts.ts");
      const prompts = await loadPrompts([folder]);
      return hasFailed(prompts) ? prompts.failure : undefined;
    },
    script: async (file) => {
      const real = await realpath(file).catch(() => file); // A user may name a link.
      const read = await readBounded(real, MAX_SCRIPT_BYTES);
      if (read.is === "none") return "missing";
      if (read.is !== "bytes") return [`it cannot be read: ${read.is === "unreadable" ? read.why : read.is}`];
      const { readScript } = await import("../ports/agent-script.ts");
      const script = readScript(read.bytes.toString());
      return script.is === "broken" ? script.problems : [];
    },
  };
}
