/** When can each task start at the earliest? Its wave: 0 without dependencies, else one more than its latest. */
import { Dag } from "../graph/dag.ts";

export type Waited = { readonly id: string; readonly blockedBy: readonly string[] };

export type Waves =
  | { readonly is: "waves"; readonly byId: ReadonlyMap<string, number>; readonly count: number }
  | { readonly is: "cycle"; readonly ids: readonly string[] };

/** Dependencies that nobody knows, and repeated ids, are for others to say: they count as done, or once. */
export function wavesOf(tasks: readonly Waited[]): Waves {
  const known = new Set(tasks.map(({ id }) => id));
  const dag = new Dag();
  const needs = new Map<string, readonly string[]>();
  for (const { id, blockedBy } of tasks) {
    if (needs.has(id)) continue;
    const after = [...new Set(blockedBy)].filter((one) => known.has(one));
    needs.set(id, after);
    dag.add(id, { after });
  }
  const cycle = dag.cycle();
  if (cycle) return { is: "cycle", ids: cycle };
  const byId = new Map<string, number>();
  for (const id of dag.order()) {
    let wave = 0;
    for (const before of needs.get(id)!) wave = Math.max(wave, byId.get(before)! + 1);
    byId.set(id, wave);
  }
  let count = 0;
  for (const wave of byId.values()) count = Math.max(count, wave + 1);
  return { is: "waves", byId, count };
}
