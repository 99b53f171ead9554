/** Replaces the engine's fast indexes with simple ones in the page, which shows a run and decides nothing. */
import type { Deadlines as FastDeadlines } from "../src/core/log/deadlines.ts";
import type { ScopeTable as FastScopes } from "../src/core/log/scope-table.ts";
import type { DagNode } from "../src/graph/dag-node.ts";
import type { ReadyQueue as FastQueue } from "../src/graph/ready-queue.ts";

/** Of two deadlines at the same time, the one that was set first comes first. */
export class Deadlines extends Map<string, number> implements Pick<FastDeadlines, "get" | "due"> {
  override set(key: string, at: number): this {
    this.delete(key);
    return super.set(key, at);
  }

  due(now: number): readonly string[] {
    const due = [...this].filter(([, at]) => at <= now);
    return due.sort(([, a], [, b]) => a - b || 0).map(([key]) => key);
  }
}

/** Tracks which tasks hold files or wait for some; not which files. */
export class ScopeTable extends Set<string> implements Pick<FastScopes, "claim" | "hold" | "drop" | "size"> {
  claim(id: string): void {
    this.add(id);
  }
  hold(id: string): void {
    this.add(id);
  }
  drop(id: string): void {
    this.delete(id);
  }
}

export class ReadyQueue<N extends DagNode>
  extends Set<N>
  implements Pick<FastQueue<N>, "push" | "remove" | "inOrder" | "size">
{
  push(node: N): void {
    this.add(node);
  }
  remove(node: N): void {
    this.delete(node);
  }
  *inOrder(): Generator<N, undefined> {
    yield* [...this].sort((a, b) => a.priority - b.priority || a.rank - b.rank);
  }
}
