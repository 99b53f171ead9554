/** Which problems of a failing target belong together, and in which order are they told? */

/** What of a problem says where it belongs. */
type Told = {
  readonly name: string;
  readonly message: string;
  readonly files: readonly string[];
  readonly cause?: string;
};

/**
 * Problems that one change should remove: those of one cause; without a cause, those that show first in one
 * file; and together those that name neither. The order of the problems does not matter.
 */
export function groupProblems<T extends Told>(problems: readonly T[]): readonly (readonly T[])[] {
  const groupOf = ({ cause, files }: Told) =>
    cause !== undefined ? `cause ${cause}` : files.length > 0 ? `file ${files[0]}` : "nowhere";
  return [...Map.groupBy(inOrder(problems), groupOf).values()];
}

/** By name; twins by what else they say, so that no order but this one is ever seen. */
export const inOrder = <T extends Told>(problems: readonly T[]): readonly T[] =>
  problems.toSorted(
    (a, b) => compare(a.name, b.name) || compare(a.message, b.message) || compare(originOf(a), originOf(b)),
  );

export const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
const originOf = ({ files, cause }: Told) => JSON.stringify([files, cause]);
