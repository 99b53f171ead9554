/** Judges what a change does to tests, and the marks that it leaves: what is refused, and what is only flagged. */
import type { TaskSpec } from "../task.ts";
import type { Policy } from "./policy.ts";
import { orderedRemovals } from "./removal.ts";

/** What a change does to tests, and which marks it leaves. */
export type TestEvidence = {
  /** With their names; of those that live on elsewhere, none. */
  readonly deletedTests: readonly string[];
  /** Those that never run any more, or check nothing. */
  readonly disabledTests: readonly string[];
  /** Places with a mark that workers must not leave, such as "src/a.ts:3 @ts-expect-error". */
  readonly forbiddenMarks: readonly string[];
  /** In words: what became of tests that are not lost: skipped under a condition, or taken up by others. */
  readonly flaggedTests?: readonly string[];
  /** Of each of the deleted tests, in their order, names that its code uses. Unknown in answers of an older Skein. */
  readonly deletedWords?: readonly (readonly string[])[];
  /** Places with a mark that the repository uses itself, or of which a file has no more than before. */
  readonly usualMarks?: readonly string[];
};

type TestsAndMarks = {
  /** Rules that it breaks, in words. */
  readonly broken: readonly string[];
  /** What it is allowed to do, and a person may want to know. */
  readonly flagged: readonly string[];
};

export function judgeTestsAndMarks(
  { description, acceptance, repairs }: Pick<TaskSpec, "description" | "acceptance" | "repairs">,
  evidence: TestEvidence,
  policy: Policy["evidence"],
): TestsAndMarks {
  // The words of a fix task are those of what fails: "should remove items" is the name of a test.
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

/** Tests were removed, moved or skipped: that fewer run then is no news. */
export const tellsOfTests = ({ deletedTests, disabledTests, flaggedTests = [] }: TestEvidence): boolean =>
  deletedTests.length + disabledTests.length + flaggedTests.length > 0;

/** How `forbiddenMarks` names what no setting allows. */
const CONFLICT = " conflict markers";
