/** Could a run start here now, and what prevents it? Looks at everything; nothing is changed. */
import { diagnose } from "./inspect/checks.ts";
import { type DoctorFacts, type DoctorFinding, gatherFacts, type InspectRequest } from "./inspect/facts.ts";
import type { InspectParts } from "./inspect/parts.ts";

type Inspected = { readonly facts: DoctorFacts; readonly findings: readonly DoctorFinding[] };

/** Each look has a time limit of its own. */
export async function inspect(request: InspectRequest, parts: InspectParts): Promise<Inspected> {
  const facts = await gatherFacts(request, parts);
  return { facts, findings: diagnose(facts) };
}
