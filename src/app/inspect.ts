/** Finds out whether a run could start here now, and what prevents it. Changes nothing. */
import { diagnose } from "./inspect/checks.ts";
import {
  bad,
  type DoctorFacts,
  type DoctorFinding,
  gatherFacts,
  type InspectRequest,
} from "./inspect/facts.ts";
import type { InspectParts } from "./inspect/parts.ts";

type Inspected = { readonly facts: DoctorFacts; readonly findings: readonly DoctorFinding[] };

/** Each look has a time limit of its own. */
export async function inspect(request: InspectRequest, parts: InspectParts): Promise<Inspected> {
  const facts = await gatherFacts(request, parts);
  const findings = diagnose(facts);
  return { facts, findings: [...findings, ...refusal(facts, findings)] };
}

/** Adds what a run would be refused for, unless a finding says it already: the run's own check decides. */
function refusal(
  { start, configuration }: DoctorFacts,
  findings: readonly DoctorFinding[],
): readonly DoctorFinding[] {
  if (!start) return [];
  const { message, next, kind } = start.failure;
  const isSaid = findings.some(({ level, text }) => level === "bad" && text.includes(message));
  // Without any agent, both list what would help, in different words.
  const isAgent = findings.some(({ level, name }) => level === "bad" && AGENTS.has(name));
  // As long as a request of the repository is not agreed to, agents are not checked.
  const isLater = "config" in configuration && configuration.untrusted && kind === "agent-unreachable";
  return isSaid || isAgent || isLater ? [] : [bad("start", message, next)];
}

const AGENTS: ReadonlySet<string> = new Set(["agent", "planner"]);
