/** Warns at the start of a run about the gate and its set-up, as `skein doctor` would, one line per finding. */
import { hasFailed } from "../../core/result.ts";
import { sentence } from "../../text/words.ts";
import { checkGate, checkSetup } from "./checks.ts";
import { inspectGate } from "./gate.ts";
import type { InspectParts, Settled } from "./parts.ts";

/** In ms: a slower look is not worth the wait. */
const MAX_MS = 5_000;
const MAX_LINES = 2;

/** None without a gate: the run's own first lines say that. */
export async function gateWarnings(
  settled: Settled,
  commit: string,
  parts: Pick<InspectParts, "agents" | "workspaces">,
): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(MAX_MS);
  const [gate, setup] = await Promise.all([
    inspectGate(settled, commit, parts, signal),
    parts.workspaces.setup(settled.located, commit, signal).catch(() => undefined), // Only a hint.
  ]);
  if (hasFailed(gate) || gate.commands.length === 0) return [];
  const configuration = { config: settled.config, origins: {}, notices: [] };
  const facts = { gate, configuration, repository: settled.located, ...(setup && { setup }) };
  return [...checkGate(facts), ...checkSetup(facts)]
    .filter(({ level }) => level !== "ok")
    .map(({ text, next }) => (next === undefined ? text : `${sentence(text)} Try: ${next}`))
    .slice(0, MAX_LINES);
}
