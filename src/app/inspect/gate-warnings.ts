/** What would `skein doctor` have warned of about the gate and its set-up? Said where a run starts, in a line each. */
import { hasFailed } from "../../core/result.ts";
import { sentence } from "../../text/words.ts";
import { checkGate, checkSetup } from "./checks.ts";
import { inspectGate } from "./gate.ts";
import type { InspectParts, Settled } from "./parts.ts";

/** A look that takes longer is not worth it. */
const MAX_MS = 5_000;
const MAX_LINES = 2;

/** Of a gate that is not there the run's own first lines speak. */
export async function gateWarnings(
  settled: Settled,
  commit: string,
  parts: Pick<InspectParts, "agents" | "workspaces">,
): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(MAX_MS);
  const [gate, setup] = await Promise.all([
    inspectGate(settled, commit, parts, signal),
    parts.workspaces.setup(settled.located, commit, signal).catch(() => undefined), // A hint, no more.
  ]);
  if (hasFailed(gate) || gate.commands.length === 0) return [];
  const configuration = { config: settled.config, origins: {}, notices: [] };
  const facts = { gate, configuration, repository: settled.located, ...(setup && { setup }) };
  return [...checkGate(facts), ...checkSetup(facts)]
    .filter(({ level }) => level !== "ok")
    .map(({ text, next }) => (next === undefined ? text : `${sentence(text)} Try: ${next}`))
    .slice(0, MAX_LINES);
}
