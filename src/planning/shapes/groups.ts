/** Divides paths into groups of neighbours of nearly equal size, cut between folders if that costs at most one file. */

/** Takes time in proportion to the paths, the groups and the size of a group. */
export function inGroups(paths: readonly string[], count: number): readonly (readonly string[])[] {
  const groups = Math.max(1, Math.min(count, paths.length));
  const even = paths.length / groups;
  const most = Math.ceil(even) + 1;
  const costOf = (start: number, end: number) => (end - start - even) ** 2 + cutCost(paths, start);
  /** `costs[end]`: the cost of the best way to cut the first `end` paths into the groups made so far. */
  let costs = [0, ...paths.map(() => Number.POSITIVE_INFINITY)];
  const starts: number[][] = [];
  for (let group = 0; group < groups; group += 1) {
    const before = costs;
    const begun: number[] = [];
    costs = before.map((_, end) => {
      let best = Number.POSITIVE_INFINITY;
      for (let start = Math.max(0, end - most); start < end; start += 1) {
        const cost = before[start]! + costOf(start, end);
        if (cost >= best) continue;
        best = cost;
        begun[end] = start;
      }
      return best;
    });
    starts.push(begun);
  }
  const found: (readonly string[])[] = [];
  for (let end = paths.length; end > 0; end = starts[groups - 1 - (found.length - 1)]![end]!) {
    const start = starts[groups - 1 - found.length]![end]!;
    found.push(paths.slice(start, end));
  }
  return found.reverse();
}

/**
 * A cut inside a folder costs a little more than one group that is a file too large and one that is a file too small.
 */
const INSIDE = 2.5;

const cutCost = (paths: readonly string[], start: number): number =>
  start > 0 && folderOf(paths[start]!) === folderOf(paths[start - 1]!) ? INSIDE : 0;

const folderOf = (path: string): string => path.slice(0, path.replace(/\/$/, "").lastIndexOf("/") + 1);
