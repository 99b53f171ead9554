/** Are lines of the graph drawn between its boxes, and not behind them? */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskId } from "../../src/core/task.ts";
import type { GraphNode } from "../../src/core/view/graph.ts";
import { HEIGHT, layOut, route, WIDTH } from "../../src/surfaces/web/layout.ts";

const node = (task: string, wave: number, after: readonly string[] = []): GraphNode => ({
  task: task as TaskId,
  depth: 1,
  wave,
  below: 0,
  isFolded: false,
  after: after as readonly TaskId[],
});

/** Two tasks that reach over full columns, and what lies between. */
const NODES = [
  ...["a", "b", "c"].map((task) => node(task, 0)),
  ...["d", "e", "f"].map((task) => node(task, 1, ["b"])),
  ...["g", "h"].map((task) => node(task, 2, ["d", "a"])),
  node("i", 3, ["a", "b", "g"]),
];

test("a line that reaches over a column passes between its boxes", () => {
  const layout = layOut(NODES);
  const { placed, columns } = layout;
  for (const to of placed.values())
    for (const id of to.after) {
      const path = route(layout, placed.get(id)!, to);
      for (const { x, nodes, wave } of columns) {
        if (wave <= placed.get(id)!.wave || wave >= to.wave) continue;
        const [, y] = new RegExp(` ${x},([\\d.]+)H${x + WIDTH}`).exec(path) ?? [];
        assert.ok(y !== undefined, `${id} → ${to.task} through wave ${wave}: ${path}`);
        const hit = nodes.find((box) => Number(y) > box.y && Number(y) < box.y + HEIGHT);
        assert.equal(hit, undefined, `${id} → ${to.task} behind ${hit?.task}`);
      }
    }
});

test("boxes of a column do not overlap", () => {
  for (const { nodes } of layOut(NODES).columns)
    for (const [i, box] of nodes.entries())
      if (i > 0) assert.ok(box.y >= nodes[i - 1]!.y + HEIGHT, `${nodes[i - 1]!.task} and ${box.task}`);
});
