/** Tests that random sequences of graph operations agree with a naive model. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OrderedDag } from "./dag.ts";
import type { NodeStatus } from "./dag-node.ts";

interface Node {
  id: string;
  after: string[];
  priority: number;
  lane: number;
  status: NodeStatus;
}

/** The same rules in the slowest and simplest way: everything but the decisions is computed again. */
class Model {
  readonly nodes: Node[] = [];

  find(id: string): Node | undefined {
    return this.nodes.find((node) => node.id === id);
  }

  add({ id, after, priority, lane }: Omit<Node, "status">): void {
    this.nodes.push({ id, after: [...new Set(after)], priority, lane, status: "waiting" });
    this.settle();
  }

  /** Derives the remaining states, until nothing changes any more. */
  settle(): void {
    const waiting = this.nodes.filter((node) => node.status === "waiting");
    const doomed = waiting.filter((node) => node.after.some((id) => this.find(id)?.status === "dead"));
    for (const node of doomed) node.status = "dead";
    for (const node of waiting.filter((it) => it.status === "waiting")) {
      if (node.after.every((id) => this.find(id)?.status === "done")) node.status = "ready";
    }
    if (doomed.length > 0) this.settle();
  }

  ready(lane: number): string[] {
    const found = this.nodes.filter((node) => node.status === "ready" && node.lane === lane);
    return found.sort((a, b) => a.priority - b.priority).map((node) => node.id);
  }

  /** Repeatedly takes the first node whose dependencies are all out; shorter than `nodes` if there is a cycle. */
  order(): string[] {
    const out: string[] = [];
    const isOut = (id: string) => out.includes(id) || this.find(id) === undefined;
    for (;;) {
      const next = this.nodes.find((node) => !out.includes(node.id) && node.after.every(isOut));
      if (next === undefined) return out;
      out.push(next.id);
    }
  }
}

const ID = fc.integer({ min: 0, max: 11 }).map((n) => `n${n}`);
const LANE = fc.integer({ min: 0, max: 1 });
const PRIORITY = fc.integer({ min: 1, max: 3 });
const OPERATION = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("add" as const),
      id: ID,
      after: fc.array(ID, { maxLength: 3 }),
      priority: PRIORITY,
      lane: LANE,
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("take" as const), id: ID }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant("release" as const), id: ID, priority: PRIORITY, lane: LANE }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant("complete" as const), id: ID }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("fail" as const), id: ID }) },
);
type Operation = typeof OPERATION extends fc.Arbitrary<infer T> ? T : never;

test("any sequence of operations agrees with a naive model of the rules", () => {
  fc.assert(
    fc.property(fc.array(OPERATION, { maxLength: 60, size: "max" }), (operations) => {
      const dag = new OrderedDag();
      const model = new Model();
      for (const operation of operations) {
        apply(operation, dag, model);
        compare(dag, model);
      }
    }),
    { numRuns: 500 },
  );
});

test("a ready queue that grows, is thinned out and refilled keeps its order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ priority: PRIORITY, every: fc.integer({ min: 1, max: 5 }) }), {
        maxLength: 150,
        size: "max",
      }),
      (steps) => {
        const dag = new OrderedDag();
        const model = new Model();
        for (const [at, { priority, every }] of steps.entries()) {
          for (let i = 0; i < every; i++) addToBoth(dag, model, `n${at}.${i}`, priority + (i % 2));
          const thinned = [...dag.ready()].filter((_, place) => place % (every + 1) === 0);
          for (const id of thinned) {
            dag.take(id);
            model.find(id)!.status = "taken";
          }
        }
        assert.deepEqual([...dag.ready()], model.ready(0));
      },
    ),
    { numRuns: 100 },
  );
});

function addToBoth(dag: OrderedDag, model: Model, id: string, priority: number): void {
  dag.add(id, { priority });
  model.nodes.push({ id, after: [], priority, lane: 0, status: "ready" });
}

function apply(operation: Operation, dag: OrderedDag, model: Model): void {
  const { id } = operation;
  const node = model.find(id);
  if (!isAllowed(operation.does, node?.status)) {
    assert.throws(() => act(operation, dag), new RegExp(`"${id}"`));
  } else if (operation.does === "add") {
    model.add(operation);
    assert.equal(act(operation, dag), model.find(id)!.status);
  } else if (operation.does === "fail") {
    const expected = dag.downstream(id);
    const died = changesIn(model, () => decide(node!, { status: "dead" }));
    assert.deepEqual(act(operation, dag), expected);
    assert.deepEqual([...expected].sort(), died.filter((other) => other !== id).sort());
  } else if (operation.does === "complete") {
    const freed = changesIn(model, () => decide(node!, { status: "done" }));
    assert.deepEqual(
      act(operation, dag),
      freed.filter((other) => other !== id),
    );
  } else {
    decide(node!, operation.does === "take" ? { status: "taken" } : { ...operation, status: "ready" });
    act(operation, dag);
  }
}

function isAllowed(does: Operation["does"], from: NodeStatus | undefined): boolean {
  if (does === "add") return from === undefined;
  if (does === "take") return from === "ready";
  if (does === "release") return from === "taken";
  if (does === "complete") return from === "ready" || from === "taken";
  return from !== undefined && from !== "done" && from !== "dead";
}

function act(operation: Operation, dag: OrderedDag): unknown {
  const { does, id } = operation;
  if (does === "add") return dag.add(id, operation);
  if (does === "release") return dag.release(id, operation);
  return dag[does](id);
}

function decide(node: Node, change: Partial<Node>): void {
  Object.assign(node, change);
}

/** Ids of the nodes whose status changed, in insertion order. */
function changesIn(model: Model, change: () => void): string[] {
  const before = model.nodes.map((node) => node.status);
  change();
  model.settle();
  return model.nodes.filter((node, at) => node.status !== before[at]).map((node) => node.id);
}

function compare(dag: OrderedDag, model: Model): void {
  assert.equal(dag.size, model.nodes.length);
  for (const node of model.nodes) {
    assert.equal(dag.status(node.id), node.status, node.id);
    assert.deepEqual(dag.dependencies(node.id), node.after);
  }
  for (const lane of [0, 1]) {
    assert.deepEqual([...dag.ready(lane)], model.ready(lane));
    assert.equal(dag.peek(lane), model.ready(lane)[0]);
  }
  const order = model.order();
  const cycle = dag.cycle();
  if (order.length === model.nodes.length) {
    assert.equal(cycle, undefined);
    assert.deepEqual(dag.order(), order);
  } else {
    assert.ok(cycle !== undefined && cycle.length > 0);
    for (const [at, id] of cycle.entries()) {
      assert.ok(model.find(id)!.after.includes(cycle[(at + 1) % cycle.length]!), `${id} is not in a cycle`);
    }
  }
  const missing = model.nodes.flatMap((node) =>
    node.after.filter((id) => model.find(id) === undefined).map((id) => ({ id, neededBy: node.id })),
  );
  assert.deepEqual(dag.missing(), missing);
}
