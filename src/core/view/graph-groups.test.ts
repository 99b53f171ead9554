/** Tests which similar tasks are drawn as one box, and which have boxes of their own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { shapeOf } from "./graph.ts";
import { groupAlike } from "./graph-groups.ts";

const NAMES = ["a", "b", "c", "d", "e", "f"];
/** Six independent tasks, and five that come after the first of them; two workers. */
const planned = () =>
  CoreRun.planned(
    [
      ...NAMES.map((name) => task(name)),
      ...[1, 2, 3, 4, 5].map((n) => task(`later-${n}`, { after: ["a"] })),
      task("last", { after: ["later-3"] }),
    ],
    { capacity: { work: 2 } },
  );
const grouped = ({ state }: CoreRun, isOpen?: (key: string) => boolean) =>
  groupAlike(state, shapeOf(state).nodes, isOpen).map(
    ({ task: id, group }) => `${id}${group ? ` ${group.is} x${group.members.length}` : ""}`,
  );

test("what waits in one wave is one box, what is at work is not", () => {
  assert.deepEqual(grouped(planned()), ["t.1", "t.2", "t.3 waiting x4", "t.7 waiting x5", "t.12"]);
});

test("what is done becomes one box once it is four tasks, and an opened box shows its tasks", () => {
  const run = planned();
  run.finish("t.1", "t.2", "t.3");
  assert.ok(grouped(run).includes("t.3"), grouped(run).join(", "));
  run.finish("t.4");
  assert.ok(grouped(run).includes("t.1 done x4"), grouped(run).join(", "));
  assert.ok(grouped(run, (key) => key.startsWith("done")).includes("t.1"));
});

test("lines lead to the box, each once", () => {
  const { state } = planned();
  const nodes = groupAlike(state, shapeOf(state).nodes);
  assert.deepEqual(nodes.find(({ task: id }) => id === "t.7")?.after, ["t.1"]);
  assert.deepEqual(nodes.find(({ task: id }) => id === "t.12")?.after, ["t.7"], "t.9 is in that box");
});
