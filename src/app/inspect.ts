/** Could a run start here now, and what prevents it? As a run looks first, and at more; nothing is changed. */
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

/** What a run would be refused for, unless it has been said: the run's own look decides, whatever was found besides. */
function refusal(
  { start, configuration }: DoctorFacts,
  findings: readonly DoctorFinding[],
): readonly DoctorFinding[] {
  if (!start) return [];
  const { message, next, kind } = start.failure;
  const isSaid = findings.some(({ level, text }) => level === "bad" && text.includes(message));
  // Without any agent, both have a list of what would help, in other words.
  const isAgent = findings.some(({ level, name }) => level === "bad" && AGENTS.has(name));
  // Before what is not agreed to, nothing of an agent is asked.
  const isLater = "config" in configuration && configuration.untrusted && kind === "agent-unreachable";
  return isSaid || isAgent || isLater ? [] : [bad("start", message, next)];
}

const AGENTS: ReadonlySet<string> = new Set(["agent", "planner"]);
