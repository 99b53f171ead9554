/** Groups the problems of a failing target that belong together, and sorts them. */

/** The parts of a problem that say where it belongs. */
type Told = {
  readonly name: string;
  readonly message: string;
  readonly files: readonly string[];
  readonly cause?: string;
};

/**
 * Groups problems that one change should remove: those with the same cause; without a cause, those that show first in
 * the same file; and all that name neither. The order of the input does not matter.
 */
export function groupProblems<T extends Told>(problems: readonly T[]): readonly (readonly T[])[] {
  const groupOf = ({ cause, files }: Told) =>
    cause !== undefined ? `cause ${cause}` : files.length > 0 ? `file ${files[0]}` : "nowhere";
  return [...Map.groupBy(inOrder(problems), groupOf).values()];
}

/** By name; problems with equal names by their other fields, so that the order never depends on the input. */
export const inOrder = <T extends Told>(problems: readonly T[]): readonly T[] =>
  problems.toSorted(
    (a, b) => compare(a.name, b.name) || compare(a.message, b.message) || compare(originOf(a), originOf(b)),
  );

export const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
const originOf = ({ files, cause }: Told) => JSON.stringify([files, cause]);
