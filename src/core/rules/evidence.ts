/** Judges a worker's result by what the repository shows, not by what the worker claims. */
import { type Failure, failure } from "../failure.ts";
import { cut, type Handoff, toLookAt } from "../handoff.ts";
import { containing } from "../scope.ts";
import type { TaskSpec } from "../task.ts";
import { flagOf, type GateChange, judgeGateChanges } from "./gate-changes.ts";
import type { Policy } from "./policy.ts";
import { judgeTestsAndMarks, type TestEvidence, tellsOfTests } from "./tests-and-marks.ts";

/** Computed from the branch. */
export type Evidence = TestEvidence & {
  /** The commit to land; undefined if nothing was changed. */
  readonly commit?: string;
  readonly filesChanged: readonly string[];
  readonly diff: string;
  readonly linesAdded: number;
  readonly linesRemoved: number;
  readonly filesCreated: number;
  readonly filesModified: number;
  /** What it changes of the gate, or of what steers agents. Absent in answers of an older Skein. */
  readonly gateChanges?: readonly GateChange[];
  /** Which of the task's terms is not met; undefined if all are, or there are none. */
  readonly unmet?: Failure;
  /** Nothing was changed, and the task's criterion passes in a fresh workspace with the tree from before the task. */
  readonly isMetBefore?: true;
};

type WorkVerdict =
  | { readonly is: "accepted"; readonly handoff: Handoff }
  | { readonly is: "refused"; readonly handoff: Handoff; readonly failure: Failure };

type Rules = Pick<Policy, "sharedFiles" | "gateChanges" | "evidence">;

type Work = { readonly spec: TaskSpec; readonly claim: Handoff; readonly evidence: Evidence };

export function judgeWork({ spec, claim, evidence }: Work, policy: Rules): WorkVerdict {
  const { broken: rules, flagged } = judgeTestsAndMarks(spec, evidence, policy.evidence);
  const handoff = withEvidence(claim, evidence, flagged);
  const wrong =
    claim.status === "complete"
      ? (evidence.unmet ?? broken({ spec, claim, evidence }, rules, policy))
      : failure("incomplete", `the worker reported ${claim.status}: ${claim.summary}`);
  return wrong ? { is: "refused", handoff, failure: wrong } : { is: "accepted", handoff };
}

const withEvidence = (
  { commit: _claimed, flags: _said, tellsOfTests: _told, ...claim }: Handoff,
  evidence: Evidence,
  flagged: readonly string[],
): Handoff => ({
  ...claim,
  concerns: [...(flagged.length > 0 ? [toLookAt(some(flagged))] : []), ...claim.concerns],
  ...(evidence.gateChanges?.length ? { flags: evidence.gateChanges.map(flagOf) } : {}),
  ...(tellsOfTests(evidence) && { tellsOfTests: true }),
  diff: evidence.diff,
  filesChanged: evidence.filesChanged,
  ...(evidence.commit === undefined ? {} : { commit: evidence.commit }),
  metrics: {
    ...claim.metrics,
    linesAdded: evidence.linesAdded,
    linesRemoved: evidence.linesRemoved,
    filesCreated: evidence.filesCreated,
    filesModified: evidence.filesModified,
  },
});

/** How much of the worker's claim about an empty change is quoted; the handoff has all of it. */
const MAX_CLAIM_CHARS = 500;

function broken(
  { spec, claim, evidence }: Work,
  rules: readonly string[],
  { sharedFiles, gateChanges }: Rules,
): Failure | undefined {
  if (spec.delivers === "report") return undefined; // A report lands nothing, so it cannot break a rule.
  if (evidence.commit === undefined || evidence.filesChanged.length === 0) {
    if (spec.spawn || evidence.isMetBefore) return undefined; // A subtask's result may be an answer only.
    return failure(
      "empty-change",
      `the worker changed no file and says that it is so already, which is not verified: ${cut(claim.summary, MAX_CLAIM_CHARS)}`,
      "make the change; or report blocked, and name the file and line that show that nothing is to be done",
    );
  }
  const isAllowed = containing([...spec.scope, ...sharedFiles]);
  const outside = evidence.filesChanged.filter((path) => !isAllowed(path));
  if (outside.length > 0) {
    return failure(
      "out-of-scope",
      `changed files outside its scope: ${some(outside)}`,
      `touch only ${some(spec.scope)}; name what else is needed as a concern`,
    );
  }
  const gate = judgeGateChanges(spec, evidence.gateChanges ?? [], gateChanges);
  if (gate) return gate;
  return rules.length > 0
    ? failure(
        "rule-broken",
        some(rules),
        "solve it without deleting or disabling tests and without forbidden marks; a test that moves keeps its name and what it checks",
      )
    : undefined;
}

/** The first few entries of a list, as text: a worker's list can have any length. */
const some = (items: readonly string[], max = 5) =>
  items.length <= max ? items.join(", ") : `${items.slice(0, max).join(", ")} and ${items.length - max} more`;
