/** When can each task start at the earliest? Its wave: 0 without dependencies, else one more than its latest. */

export type Waited = { readonly id: string; readonly blockedBy: readonly string[] };

export type Waves =
  | {
      readonly is: "waves";
      /** In an order in which everything comes after what it waits for. */
      readonly byId: ReadonlyMap<string, number>;
      readonly count: number;
    }
  /** Each waits for the next, and the last for the first. */
  | { readonly is: "cycle"; readonly ids: readonly string[] };

/**
 * Dependencies that nobody knows, and repeated ids, are for others to say: they count as done, or once. By hand, and
 * not by the run's DAG: whoever asks for a plan waits for every file that is loaded.
 */
export function wavesOf(tasks: readonly Waited[]): Waves {
  const needs = needsOf(tasks);
  const dependents = new Map<string, string[]>([...needs.keys()].map((id) => [id, []]));
  const missing = new Map<string, number>();
  for (const [id, after] of needs) {
    missing.set(id, after.size);
    for (const before of after) dependents.get(before)!.push(id);
  }
  const byId = new Map<string, number>();
  for (const [id, after] of needs) if (after.size === 0) byId.set(id, 0);
  let count = 0;
  // A map may grow while it is walked: whoever is free last is reached last.
  for (const [id, wave] of byId) {
    count = Math.max(count, wave + 1);
    for (const next of dependents.get(id)!) {
      const left = missing.get(next)! - 1;
      missing.set(next, left);
      if (left === 0) byId.set(next, wave + 1);
    }
  }
  return byId.size === needs.size ? { is: "waves", byId, count } : { is: "cycle", ids: cycleIn(needs, byId) };
}

function needsOf(tasks: readonly Waited[]): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Set(tasks.map(({ id }) => id));
  const needs = new Map<string, ReadonlySet<string>>();
  for (const { id, blockedBy } of tasks)
    if (!needs.has(id)) needs.set(id, new Set(blockedBy.filter((one) => known.has(one))));
  return needs;
}

/** Whoever is left waits for somebody who is left: going from one to the next comes round. */
function cycleIn(
  needs: ReadonlyMap<string, ReadonlySet<string>>,
  done: ReadonlyMap<string, number>,
): readonly string[] {
  const isLeft = (id: string) => !done.has(id);
  const way: string[] = [];
  const seen = new Set<string>();
  let at = [...needs.keys()].find(isLeft)!;
  while (!seen.has(at)) {
    seen.add(at);
    way.push(at);
    at = [...needs.get(at)!].find(isLeft)!;
  }
  return way.slice(way.indexOf(at));
}
