/** Judges what a change does to tests and which marks it leaves: what is refused, and what is only flagged. */
import type { TaskSpec } from "../task.ts";
import type { Policy } from "./policy.ts";
import { orderedRemovals } from "./removal.ts";

/** What a change does to tests, and which marks it leaves. */
export type TestEvidence = {
  /** With their names; without tests that live on elsewhere. */
  readonly deletedTests: readonly string[];
  /** Tests that never run any more, or check nothing. */
  readonly disabledTests: readonly string[];
  /** Places with a mark that workers must not leave, such as "src/a.ts:3 @ts-expect-error". */
  readonly forbiddenMarks: readonly string[];
  /** What happened to tests that are not lost, in words: skipped under a condition, or taken up by others. */
  readonly flaggedTests?: readonly string[];
  /** For each deleted test, in the same order: names that its code uses. Absent in answers of an older Skein. */
  readonly deletedWords?: readonly (readonly string[])[];
  /** Places with a mark that the repository uses itself, or with no more such marks in the file than before. */
  readonly usualMarks?: readonly string[];
};

type TestsAndMarks = {
  /** Rules that the change breaks, in words. */
  readonly broken: readonly string[];
  /** What the change is allowed to do, but a person may want to know. */
  readonly flagged: readonly string[];
};

export function judgeTestsAndMarks(
  { description, acceptance, repairs }: Pick<TaskSpec, "description" | "acceptance" | "repairs">,
  evidence: TestEvidence,
  policy: Policy["evidence"],
): TestsAndMarks {
  // A fix task's words quote what fails: "should remove items" is the name of a test, not an order.
  const isOrdered = repairs === undefined ? orderedRemovals(`${description}\n${acceptance}`) : () => false;
  const { ordered = [], lost = [] } = Object.groupBy(evidence.deletedTests, (test, i) =>
    isOrdered({ test, words: evidence.deletedWords?.[i] ?? [] }) ? "ordered" : "lost",
  );
  const tests = [
    ...lost.map((test) => `deleted the test ${test}`),
    ...evidence.disabledTests.map((test) => `switched off the test ${test}`),
  ];
  const isConflict = (place: string) => place.endsWith(CONFLICT);
  const marks = evidence.forbiddenMarks.filter((place) => !isConflict(place)).map((place) => `left ${place}`);
  const conflicts = evidence.forbiddenMarks.filter(isConflict).map((place) => `left ${place}`);
  const refused = (what: keyof Policy["evidence"]) => policy[what] === "refuse";
  return {
    broken: [...(refused("tests") ? tests : []), ...(refused("marks") ? marks : []), ...conflicts],
    flagged: [
      ...ordered.map((test) => `removed the test ${test}, as its task orders`),
      ...(evidence.flaggedTests ?? []),
      ...(refused("tests") ? [] : tests),
      ...(evidence.usualMarks ?? []).map((place) => `left ${place}, as is usual here`),
      ...(refused("marks") ? [] : marks),
    ],
  };
}

/** Tests were removed, moved or skipped, so a lower number of tests is expected. */
export const tellsOfTests = ({ deletedTests, disabledTests, flaggedTests = [] }: TestEvidence): boolean =>
  deletedTests.length + disabledTests.length + flaggedTests.length > 0;

/** How `forbiddenMarks` names conflict markers, which no setting allows. */
const CONFLICT = " conflict markers";
