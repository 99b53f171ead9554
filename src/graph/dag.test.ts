/** Tests the graph of nodes: what becomes ready or dead, the order of ready nodes, lanes and cycles. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuMs } from "../../test/support/cpu.ts";
import { CycleError, OrderedDag } from "./dag.ts";

test("a node without dependencies is ready, one with an open dependency waits", () => {
  const dag = new OrderedDag();
  assert.equal(dag.add("a"), "ready");
  assert.equal(dag.add("b", { after: ["a"] }), "waiting");
  assert.equal(dag.size, 2);
});

test("a node becomes ready when its last dependency is done, and only then", () => {
  const dag = dagOf({ a: [], b: [], c: ["a", "b"] });
  assert.deepEqual(dag.complete("a"), []);
  assert.equal(dag.status("c"), "waiting");
  assert.deepEqual(dag.complete("b"), ["c"]);
  assert.equal(dag.status("c"), "ready");
});

test("complete names what became ready in insertion order", () => {
  const dag = dagOf({ a: [], z: ["a"], m: ["a"], b: ["a"] });
  assert.deepEqual(dag.complete("a"), ["z", "m", "b"]);
});

test("a dependency may be added after its dependent", () => {
  const dag = dagOf({ b: ["a"] });
  assert.equal(dag.status("b"), "waiting");
  assert.equal(dag.has("a"), false);
  assert.equal(dag.size, 1);
  assert.equal(dag.add("a"), "ready");
  assert.deepEqual(dag.complete("a"), ["b"]);
});

test("a node whose dependencies are done already is ready at once", () => {
  const dag = dagOf({ a: [] });
  dag.complete("a");
  assert.equal(dag.add("b", { after: ["a"] }), "ready");
});

test("a dependency that is named twice counts once", () => {
  const dag = dagOf({ a: [], b: ["a", "a"] });
  assert.deepEqual(dag.dependencies("b"), ["a"]);
  assert.deepEqual(dag.complete("a"), ["b"]);
});

test("an id can be added once", () => {
  const dag = dagOf({ a: [] });
  assert.throws(() => dag.add("a"), /"a" was added before/);
  assert.equal(dag.size, 1);
});

test("an id that is unknown, or only named as a dependency, is refused by name", () => {
  const dag = dagOf({ b: ["ghost"] });
  for (const ask of [dag.status, dag.take, dag.release, dag.complete, dag.fail, dag.dependencies]) {
    assert.throws(() => ask.call(dag, "nobody"), /no node "nobody"/);
    assert.throws(() => ask.call(dag, "ghost"), /"ghost" was named as a dependency but never added/);
  }
  assert.throws(() => dag.downstream("nobody"), /no node "nobody"/);
});

test("a forbidden transition names the node and both states", () => {
  const dag = dagOf({ a: [], b: ["a"] });
  assert.throws(() => dag.take("b"), /"b" cannot become taken: it is waiting/);
  assert.throws(() => dag.complete("b"), /"b" cannot become done: it is waiting/);
  assert.throws(() => dag.release("a"), /"a" cannot become ready: it is ready/);
  dag.take("a");
  assert.throws(() => dag.take("a"), /"a" cannot become taken: it is taken/);
  dag.complete("a");
  assert.throws(() => dag.complete("a"), /"a" cannot become done: it is done/);
  assert.throws(() => dag.fail("a"), /"a" cannot become dead: it is done/);
  dag.fail("b");
  assert.throws(() => dag.fail("b"), /"b" cannot become dead: it is dead/);
});

test("ready gives the lower priority number first, then the earlier node", () => {
  const dag = new OrderedDag();
  dag.add("late", { priority: 9 });
  dag.add("first", { priority: 1 });
  dag.add("default");
  dag.add("five", { priority: 5 });
  dag.add("also first", { priority: 1 });
  assert.deepEqual([...dag.ready()], ["first", "also first", "default", "five", "late"]);
  assert.equal(dag.peek(), "first");
});

test("reading what is ready changes nothing", () => {
  const dag = dagOf({ a: [], b: [], c: [] });
  assert.deepEqual([...dag.ready()], [...dag.ready()]);
  assert.equal(dag.status("a"), "ready");
});

test("nodes may be taken while what is ready is read", () => {
  const dag = new OrderedDag();
  for (let i = 0; i < 100; i++) dag.add(`n${i}`, { priority: i % 7 });
  const expected = [...dag.ready()];
  const seen: string[] = [];
  for (const id of dag.ready()) {
    seen.push(id);
    if (seen.length % 3 !== 0) dag.take(id);
  }
  assert.deepEqual(seen, expected);
});

test("a thousand ready nodes are all offered, in order", () => {
  const dag = new OrderedDag();
  const ids = Array.from({ length: 1000 }, (_, at) => `n${at}`);
  for (const id of ids) dag.add(id);
  assert.deepEqual([...dag.ready()], ids);
  for (const id of ids) {
    assert.equal(dag.peek(), id);
    dag.take(id);
  }
  assert.equal(dag.peek(), undefined);
});

test("each lane has its own queue", () => {
  const dag = new OrderedDag();
  dag.add("plan", { lane: 1 });
  dag.add("work");
  assert.deepEqual([...dag.ready()], ["work"]);
  assert.deepEqual([...dag.ready(1)], ["plan"]);
  assert.deepEqual([...dag.ready(2)], []);
  assert.equal(dag.peek(2), undefined);
  dag.add("work too");
  assert.deepEqual([dag.readyCount(), dag.readyCount(1), dag.readyCount(2)], [2, 1, 0]);
  dag.take("work");
  assert.equal(dag.readyCount(), 1);
});

test("a released node is ready again, in another lane or with another priority if told", () => {
  const dag = dagOf({ a: [], b: [] });
  dag.take("a");
  dag.take("b");
  dag.release("b");
  dag.release("a", { priority: 6 });
  assert.deepEqual([...dag.ready()], ["b", "a"]);
  dag.take("a");
  dag.release("a", { lane: 3 });
  assert.deepEqual([...dag.ready()], ["b"]);
  assert.deepEqual([...dag.ready(3)], ["a"]);
});

test("a failed node takes everything below it along, breadth first, and nothing else", () => {
  const dag = dagOf({
    a: [],
    other: [],
    b: ["a"],
    deep: ["b"],
    c: ["a", "other"],
    deeper: ["deep", "c"],
    free: ["other"],
  });
  assert.deepEqual(dag.downstream("a"), ["b", "c", "deep", "deeper"]);
  assert.deepEqual(dag.fail("a"), ["b", "c", "deep", "deeper"]);
  assert.deepEqual(dag.downstream("a"), []);
  assert.equal(dag.status("deeper"), "dead");
  assert.deepEqual(dag.complete("other"), ["free"]);
});

test("a ready node that fails is no longer offered", () => {
  const dag = dagOf({ a: [], b: [] });
  dag.fail("a");
  assert.deepEqual([...dag.ready()], ["b"]);
});

test("a node added below a dead one is dead at once, and so is what waited for it", () => {
  const dag = dagOf({ a: [], c: ["b"] });
  dag.fail("a");
  assert.deepEqual(dag.downstream("b"), ["c"]);
  assert.equal(dag.add("b", { after: ["a"] }), "dead");
  assert.equal(dag.status("c"), "dead");
});

test("a node can be added settled, and its dependents hear of it", () => {
  const dag = dagOf({ b: ["a"], d: ["c"] });
  assert.equal(dag.add("a", { as: "done", after: ["never added"] }), "done");
  assert.equal(dag.add("c", { as: "dead" }), "dead");
  assert.equal(dag.status("b"), "ready");
  assert.equal(dag.status("d"), "dead");
});

test("dependencies that never arrived are named with what needs them", () => {
  const dag = dagOf({ b: ["a", "x"], c: ["x"] });
  assert.deepEqual(dag.missing(), [
    { id: "a", neededBy: "b" },
    { id: "x", neededBy: "b" },
    { id: "x", neededBy: "c" },
  ]);
  dag.add("a");
  dag.add("x");
  assert.deepEqual(dag.missing(), []);
});

test("the order is insertion order where the dependencies allow it", () => {
  assert.deepEqual(dagOf({ a: [], b: ["a"], c: [], d: ["b"] }).order(), ["a", "b", "c", "d"]);
  assert.deepEqual(dagOf({ a: ["d"], b: [], c: ["a"], d: [], e: ["missing"] }).order(), [
    "b",
    "d",
    "a",
    "c",
    "e",
  ]);
});

test("a cycle is accepted, and named in the direction of waiting", () => {
  const dag = dagOf({ before: [], below: ["c"], a: ["before", "b"], b: ["c"], c: ["a"] });
  assert.deepEqual(dag.cycle(), ["a", "b", "c"]);
  assert.throws(
    () => dag.order(),
    (error: unknown) =>
      error instanceof CycleError && /a → b → c → a/.test(error.message) && error.cycle.join() === "a,b,c",
  );
  assert.deepEqual([...dag.ready()], ["before"]);
  assert.deepEqual(dag.fail("a"), ["c", "below", "b"]);
});

test("a node that depends on itself is a cycle of one", () => {
  const dag = dagOf({ a: ["a"] });
  assert.equal(dag.status("a"), "waiting");
  assert.deepEqual(dag.cycle(), ["a"]);
  assert.throws(() => dag.order(), /a → a/);
});

test("a graph without a cycle has none", () => {
  assert.equal(dagOf({ b: ["a"], a: [] }).cycle(), undefined);
  assert.equal(dagOf({ a: [], b: ["a"] }).cycle(), undefined);
});

test("a priority that is no number and a lane that is not whole are refused, and leave nothing behind", () => {
  const dag = new OrderedDag();
  assert.throws(() => dag.add("a", { priority: Number.NaN }), /"a" has a priority that is not a number/);
  assert.throws(() => dag.add("a", { lane: 0.5 }), /"a" has lane 0.5/);
  assert.equal(dag.add("a"), "ready");
  dag.take("a");
  assert.throws(() => dag.release("a", { priority: Number.NaN }), /not a number/);
  assert.equal(dag.status("a"), "taken");
});

test("a chain of a hundred thousand nodes is built backwards, sorted, run and failed at its head", () => {
  const length = 100_000;
  const dag = new OrderedDag();
  for (let i = length - 1; i > 0; i--) dag.add(String(i), { after: [String(i - 1)] });
  dag.add("0");
  const order = dag.order();
  assert.equal(order[0], "0");
  assert.equal(order[length - 1], String(length - 1));
  for (let i = 0; i < 1000; i++) dag.complete(dag.peek()!);
  assert.equal(dag.fail("1000").length, length - 1001);
});

function dagOf(nodes: Readonly<Record<string, readonly string[]>>): OrderedDag {
  const dag = new OrderedDag();
  for (const [id, after] of Object.entries(nodes)) dag.add(id, { after });
  return dag;
}

test("thousands of ready nodes keep their order while the first are taken and others come back", () => {
  const dag = new OrderedDag();
  const ids = Array.from({ length: 3_000 }, (_, at) => `n${at}`);
  for (const id of ids) dag.add(id);
  for (const id of ids.slice(0, 2_500)) dag.take(id);
  assert.deepEqual([...dag.ready()], ids.slice(2_500));
  dag.release("n7");
  dag.take("n2600");
  dag.add("late");
  const left = ["n7", ...ids.slice(2_500).filter((id) => id !== "n2600"), "late"];
  assert.deepEqual([...dag.ready()], left);
  assert.equal(dag.readyCount(), left.length);
  for (const id of left) {
    assert.equal(dag.peek(), id);
    dag.complete(id);
  }
  assert.equal(dag.peek(), undefined);
});

test("a walk through thousands of ready nodes goes on while what it gives is taken, behind nodes that stay", () => {
  const dag = new OrderedDag();
  const ids = Array.from({ length: 10_000 }, (_, at) => `n${at}`);
  for (const id of ids) dag.add(id);
  const given: string[] = [];
  for (const id of dag.ready()) {
    if (given.push(id) % 10 !== 1) dag.take(id);
  }
  assert.deepEqual(given, ids);
  const stayed = ids.filter((_, at) => at % 10 === 0);
  assert.deepEqual([...dag.ready()], stayed);
  for (const id of stayed) dag.complete(id);
  assert.equal(dag.readyCount(), 0);
});

test("a ready node that is never taken makes no step dearer, however many pass it", () => {
  const dag = new OrderedDag();
  dag.add("stays");
  const before = cpuMs();
  for (let n = 0; n < 150_000; n++) {
    dag.add(`n${n}`);
    const [, next = ""] = dag.ready();
    dag.complete(next);
  }
  // Takes less than a second; if each iteration passed all empty places, it would take about twenty.
  assert.ok(cpuMs() - before < 3_000);
});
