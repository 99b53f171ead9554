/** Tests that waves, the longest chain and lanes follow from the events. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JobId, JobOutcome } from "../job.ts";
import type { Event, Fact } from "../log/event.ts";
import type { TaskId, TaskSpec } from "../task.ts";
import { criticalPath, shapeOf } from "./graph.ts";
import { tell } from "./story.ts";
import { timelineOf } from "./timeline.ts";
import { nothingSeen, see } from "./view.ts";

const id = (text: string) => text as TaskId;
const specOf = (key: string, after: readonly TaskId[] = [], shape: TaskSpec["shape"] = "work"): TaskSpec => ({
  key,
  description: key,
  acceptance: "",
  scope: [],
  after,
  priority: 5,
  delivers: "change",
  shape,
  slug: key,
});
const planned = (task: TaskId, specs: readonly TaskSpec[]): Fact => ({
  type: "plan.accepted",
  task,
  into: specs.map((spec, i) => ({ id: id(`${task}.${i + 1}`), spec, rank: 5 })),
  replanAfter: 9,
  said: { scratchpad: "", addressed: [], heard: 0, steers: 0 },
  notes: [],
});
const work = (task: TaskId, from: number, to: number): readonly Event[] => [
  { type: "job.started", job: { kind: "work", task, attempt: 1 }, until: 1e9, at: from },
  { type: "job.ended", job: `work:${task}#1` as JobId, how: "answered", at: to },
];

/** a, b; c after a; d is split into d1 and d2 after d1; e after d. */
function seenOf(more: readonly Event[] = []) {
  const seen = nothingSeen();
  const facts: Fact[] = [
    { type: "run.opened", request: { run: "r", goal: "g", base: "b" }, spec: specOf("g", [], "plan") },
    planned(id("t"), [
      specOf("a"),
      specOf("b"),
      specOf("c", [id("t.1")]),
      specOf("d", [], "plan"),
      specOf("e", [id("t.4")]),
    ]),
    planned(id("t.4"), [specOf("d1"), specOf("d2", [id("t.4.1")])]),
  ];
  for (const fact of facts) see(seen, { ...fact, at: 0 } as Event);
  // Only the story gets these events: whether the jobs could start is tested elsewhere.
  for (const event of more.toSorted((x, y) => x.at - y.at)) tell(seen.story, event);
  return seen;
}

describe("the graph of a run", () => {
  const wavesIn = (shape: ReturnType<typeof shapeOf>) =>
    Object.fromEntries(shape.nodes.map(({ task, wave }) => [task, wave]));

  it("puts a task after what it waits for, with all that is below it", () => {
    const shape = shapeOf(seenOf().state);
    assert.deepEqual(wavesIn(shape), {
      "t.1": 0,
      "t.2": 0,
      "t.3": 1,
      "t.4": 0,
      "t.4.1": 1,
      "t.4.2": 2,
      "t.5": 3,
    });
    assert.equal(shape.waves, 4);
    assert.deepEqual(
      shape.nodes.flatMap(({ task, after }) => after.map((from) => `${from} → ${task}`)),
      ["t.1 → t.3", "t.4 → t.4.1", "t.4.1 → t.4.2", "t.4 → t.5"],
    );
  });

  it("hides the parts of a folded task, and counts them", () => {
    const shape = shapeOf(seenOf().state, (task) => task === "t.4");
    assert.deepEqual(wavesIn(shape), { "t.1": 0, "t.2": 0, "t.3": 1, "t.4": 0, "t.5": 1 });
    const folded = shape.nodes.find(({ task }) => task === "t.4");
    assert.deepEqual([folded?.isFolded, folded?.below], [true, 2]);
  });

  it("finds the chain that took the longest, through the parts of a task", () => {
    const seen = seenOf([
      ...work(id("t.1"), 10, 60),
      ...work(id("t.3"), 60, 70),
      ...work(id("t.4.1"), 10, 40),
      ...work(id("t.4.2"), 40, 70),
      ...work(id("t.5"), 70, 75),
    ]);
    const { tasks, ms } = criticalPath(seen);
    assert.equal(ms, 65);
    assert.deepEqual([...tasks], ["t.4", "t.4.1", "t.4.2", "t.5"]);
  });
});

describe("the timeline of a run", () => {
  it("needs as many lanes as were at work at once, and leaves open what runs", () => {
    const seen = seenOf([
      ...work(id("t.1"), 10, 30),
      ...work(id("t.2"), 20, 40),
      ...work(id("t.3"), 30, 50).slice(0, 1),
    ]);
    const lanes = timelineOf(seen).map(({ kind, spans }) => [
      kind,
      spans.map(({ tasks, from, to }) => [tasks[0]?.task, from, to]),
    ]);
    assert.deepEqual(lanes, [
      [
        "work",
        [
          ["t.1", 10, 30],
          ["t.3", 30, undefined],
        ],
      ],
      ["work", [["t.2", 20, 40]]],
    ]);
  });

  it("shows what failed: attempts that were made again, and gates", () => {
    const gate = (turn: number, task: TaskId, at: number, outcome: JobOutcome): readonly Event[] => [
      { type: "job.started", job: { kind: "land", turn, members: [{ task, attempt: 1 }] }, until: 1e9, at },
      { type: "job.ended", job: `land#${turn}` as JobId, how: "answered", outcome, at: at + 5 },
    ];
    const failure = { kind: "agent-failed", message: "exit code 9" } as const;
    const seen = seenOf([
      ...work(id("t.1"), 10, 30),
      { type: "task.retried", task: id("t.1"), attempt: 1, charge: "failed", failure, at: 31 } as Event,
      ...work(id("t.2"), 10, 40),
      ...gate(1, id("t.2"), 50, { is: "red" }),
      ...gate(2, id("t.2"), 60, { is: "landed", proof: "green" }),
    ]);
    assert.deepEqual(
      seen.story.spans.all.map(({ job, isFailed = false }) => [job, isFailed]),
      [
        ["work:t.1#1", true],
        ["work:t.2#1", false],
        ["land#1", true],
        ["land#2", false],
      ],
    );
  });
});
