/** Tests the layout of the graph: lines pass between boxes, and the graph has the shape of its box. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskId } from "../../src/core/task.ts";
import type { GraphNode } from "../../src/core/view/graph.ts";
import { HEIGHT, layOut, route, THUMB_SCALE, WIDTH } from "../../src/surfaces/web/layout.ts";

const node = (task: string, wave: number, after: readonly string[] = []): GraphNode => ({
  task: task as TaskId,
  depth: 1,
  wave,
  below: 0,
  isFolded: false,
  after: after as readonly TaskId[],
});

/** Two tasks with lines across full columns, and the tasks between. */
const NODES = [
  ...["a", "b", "c"].map((task) => node(task, 0)),
  ...["d", "e", "f"].map((task) => node(task, 1, ["b"])),
  ...["g", "h"].map((task) => node(task, 2, ["d", "a"])),
  node("i", 3, ["a", "b", "g"]),
];

/** Large enough that no wave is folded. */
const BOX = { width: 4_000, height: 1_000 };

test("a line that reaches over a column passes between its boxes", () => {
  const layout = layOut(NODES, BOX);
  const { placed, columns } = layout;
  for (const to of placed.values())
    for (const id of to.after) {
      const path = route(layout, placed.get(id)!, to);
      for (const { start, nodes, wave } of columns) {
        if (wave <= placed.get(id)!.wave || wave >= to.wave) continue;
        const [, y] = new RegExp(` ${start},([\\d.]+)L${start + WIDTH},`).exec(path) ?? [];
        assert.ok(y !== undefined, `${id} → ${to.task} through wave ${wave}: ${path}`);
        const hit = nodes.find((box) => Number(y) > box.y && Number(y) < box.y + HEIGHT);
        assert.equal(hit, undefined, `${id} → ${to.task} behind ${hit?.task}`);
      }
    }
});

test("boxes of a column do not overlap", () => {
  for (const { nodes } of layOut(NODES, BOX).columns)
    for (const [i, box] of nodes.entries())
      if (i > 0) assert.ok(box.y >= nodes[i - 1]!.y + HEIGHT, `${nodes[i - 1]!.task} and ${box.task}`);
});

/** Two waves of fifty. */
const MANY = Array.from({ length: 100 }, (_, i) => node(`n${i}`, i < 50 ? 0 : 1, i < 50 ? [] : ["n0"]));

test("large waves are folded, so that the graph has the shape of its box", () => {
  const { width, height, isUpright } = layOut(MANY, { width: 1_200, height: 600 });
  assert.equal(isUpright, false);
  assert.ok(width / height > 1.2 && width / height < 2.8, `${width} × ${height}`);
});

test("in a box that is higher than wide, waves go downwards", () => {
  const layout = layOut(MANY, { width: 390, height: 600 });
  const { width, height, placed } = layout;
  assert.ok(layout.isUpright && height > width && width * THUMB_SCALE < 390, `${width} × ${height}`);
  assert.ok(placed.get("n99" as TaskId)!.y > placed.get("n49" as TaskId)!.y + HEIGHT);
  assert.match(route(layout, placed.get("n0" as TaskId)!, placed.get("n99" as TaskId)!), /^M[\d.]+,/);
});

test("on a phone, too many boxes to be hit by a thumb have the shape of their box", () => {
  const many = Array.from({ length: 1_000 }, (_, i) => node(`n${i}`, Math.floor(i / 100)));
  const { width, height, isUpright } = layOut(many, { width: 372, height: 422 });
  assert.ok(isUpright && width / height > 0.5 && width / height < 1.5, `${width} × ${height}`);
});

test("on a phone every box is in sight, and lines that reach over a wave pass on the right of it", () => {
  const layout = layOut(NODES, { width: 390, height: 600 });
  for (const { task, x } of layout.placed.values())
    assert.ok((x + WIDTH) * THUMB_SCALE <= 390, `${task}: ${x}`);
  for (const { nodes } of layout.columns)
    for (const [i, box] of nodes.entries())
      assert.ok(box.x === 16 + i * (WIDTH + 14), `${box.task}: ${box.x}`);
  for (const lane of layout.lanes.get(2)!.values()) assert.ok(lane > 16 + WIDTH, String(lane));
});
