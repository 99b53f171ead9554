/** Orders tasks into waves by what they wait for, and finds the chain of tasks that took the longest. */
import type { RunState } from "../log/state.ts";
import { parentId, ROOT, type TaskId } from "../task.ts";
import { isAgents, ranMs } from "./job-spans.ts";
import type { Story } from "./story.ts";
import { type Seen, treeOf } from "./view.ts";

/** Changes only when tasks are added, so a caller that draws often can keep it. */
type GraphShape = { readonly nodes: readonly GraphNode[]; readonly waves: number };
export type GraphNode = {
  readonly task: TaskId;
  readonly depth: number;
  /** 0 for a task that waits for nothing; a task below another comes in a later wave. */
  readonly wave: number;
  /** How many tasks are below it, at any depth. */
  readonly below: number;
  readonly isFolded: boolean;
  /** What must have happened before: the siblings that it names (some may be folded), else its planner. */
  readonly after: readonly TaskId[];
};

/** The goal is not a node, unless it is the only task. `isFolded`: whether a task's children are hidden. */
export function shapeOf(state: RunState, isFolded: (task: TaskId) => boolean = () => false): GraphShape {
  const below = countBelow(state);
  const shown: { readonly task: TaskId; readonly depth: number; readonly isFolded: boolean }[] = [];
  let hiddenFrom = Number.POSITIVE_INFINITY;
  for (const { id, depth } of treeOf(state)) {
    if (id === ROOT && state.tasks.size > 1) continue;
    if (depth > hiddenFrom) continue;
    const folded = below.has(id) && isFolded(id);
    hiddenFrom = folded ? depth : Number.POSITIVE_INFINITY;
    shown.push({ task: id, depth, isFolded: folded });
  }
  const visible = new Set(shown.map(({ task }) => task));
  const waveOf = wavesOf(state, visible);
  const nodes = shown.map((node) => ({
    ...node,
    wave: waveOf(node.task),
    below: below.get(node.task) ?? 0,
    after: before(state, node.task),
  }));
  return { nodes, waves: nodes.reduce((most, { wave }) => Math.max(most, wave + 1), 0) };
}

function before(state: RunState, id: TaskId): readonly TaskId[] {
  const { after } = state.tasks.get(id)!.spec;
  if (after.length > 0) return after;
  const parent = parentId(id);
  return parent === undefined || parent === ROOT ? [] : [parent];
}

/** A task comes after its parent, and after everything below the siblings that it waits for. */
function wavesOf(state: RunState, visible: ReadonlySet<TaskId>): (id: TaskId) => number {
  const children = Map.groupBy(visible, (id) => parentId(id));
  const waves = new Map<TaskId, number>();
  const ends = new Map<TaskId, number>();
  const endOf = (id: TaskId): number => {
    const known = ends.get(id);
    if (known !== undefined) return known;
    const end = (children.get(id) ?? []).reduce((most, child) => Math.max(most, endOf(child)), waveOf(id));
    ends.set(id, end);
    return end;
  };
  const waveOf = (id: TaskId): number => {
    const known = waves.get(id);
    if (known !== undefined) return known;
    const parent = parentId(id);
    let wave = parent !== undefined && visible.has(parent) ? waveOf(parent) + 1 : 0;
    for (const other of state.tasks.get(id)!.spec.after)
      if (visible.has(other)) wave = Math.max(wave, endOf(other) + 1);
    waves.set(id, wave);
    return wave;
  };
  return waveOf;
}

function countBelow({ tasks }: RunState): ReadonlyMap<TaskId, number> {
  const below = new Map<TaskId, number>();
  for (const task of tasks.keys())
    for (let above = parentId(task); above !== undefined && above !== ROOT; above = parentId(above))
      below.set(above, (below.get(above) ?? 0) + 1);
  return below;
}

/** How long agents worked on each task. */
export function agentsMsOf({ spans: { all } }: Story): ReadonlyMap<TaskId, number> {
  const took = new Map<TaskId, number>();
  for (const span of all) {
    const task = isAgents(span) ? span.tasks[0] : undefined;
    if (task !== undefined) took.set(task, (took.get(task) ?? 0) + ranMs(span));
  }
  return took;
}

/** The chain of tasks that took the longest so far, in its order: more workers could not have shortened it. */
type CriticalPath = { readonly tasks: ReadonlySet<TaskId>; readonly ms: number };

export function criticalPath({ state, story }: Seen): CriticalPath {
  const took = agentsMsOf(story);
  const children = Map.groupBy(state.tasks.keys(), (id) => parentId(id));
  type End = { readonly ms: number; readonly task: TaskId };
  const own = new Map<TaskId, { readonly ms: number; readonly after: TaskId | undefined }>();
  const ends = new Map<TaskId, End>();
  const ownEnd = (id: TaskId): number => {
    const known = own.get(id);
    if (known) return known.ms;
    const parent = parentId(id);
    const hasParent = parent !== undefined && parent !== ROOT;
    let start: { readonly ms: number; readonly task: TaskId | undefined } = hasParent
      ? { ms: ownEnd(parent), task: parent }
      : { ms: 0, task: undefined };
    for (const other of state.tasks.get(id)!.spec.after) {
      const end = endOf(other);
      if (end.ms >= start.ms) start = end;
    }
    const ms = start.ms + (took.get(id) ?? 0);
    own.set(id, { ms, after: start.task });
    return ms;
  };
  /** When a task ends together with everything below it. */
  const endOf = (id: TaskId): End => {
    const known = ends.get(id);
    if (known) return known;
    let end: End = { ms: ownEnd(id), task: id };
    for (const child of children.get(id) ?? []) {
      const inner = endOf(child);
      if (inner.ms > end.ms) end = inner;
    }
    ends.set(id, end);
    return end;
  };
  let last: End | undefined;
  for (const id of state.tasks.keys()) {
    if (id === ROOT && state.tasks.size > 1) continue;
    const end = endOf(id);
    if (!last || end.ms > last.ms) last = end;
  }
  const chain: TaskId[] = [];
  for (let at = last?.ms ? last.task : undefined; at !== undefined; at = own.get(at)?.after) chain.push(at);
  return { tasks: new Set(chain.reverse()), ms: last?.ms ?? 0 };
}
