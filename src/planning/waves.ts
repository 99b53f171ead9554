/** When can each task start at the earliest? Its wave: 0 without dependencies, else one more than its latest. */
import { Dag } from "../graph/dag.ts";

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

/** Unknown dependencies count as done, and repeated ids once: reporting those is the lint's task. */
export function wavesOf(tasks: readonly Waited[]): Waves {
  const dag = new Dag();
  for (const { id, blockedBy } of tasks) if (!dag.has(id)) dag.add(id, { after: blockedBy });
  const ids = dag.cycle();
  if (ids !== undefined) return { is: "cycle", ids };
  const found = new Map<string, number>();
  for (const id of dag.order()) {
    const before = dag.dependencies(id).map((other) => found.get(other) ?? -1);
    found.set(id, 1 + before.reduce((latest, wave) => Math.max(latest, wave), -1));
  }
  const byId = new Map([...found].sort(([, a], [, b]) => a - b));
  return { is: "waves", byId, count: 1 + ([...byId.values()].at(-1) ?? -1) };
}
