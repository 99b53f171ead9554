/** Tests how handoffs of a subtree are combined, and how failures become handoffs. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { failure } from "./failure.ts";
import {
  aggregateHandoffs,
  createFailureHandoff,
  type Handoff,
  type HandoffStatus,
  NO_METRICS,
} from "./handoff.ts";

describe("aggregateHandoffs", () => {
  for (const [statuses, whole] of [
    [["complete", "complete"], "complete"],
    [["failed", "failed"], "failed"],
    [["complete", "failed"], "partial"],
    [["complete", "blocked"], "partial"],
    [["complete", undefined], "partial"],
    [["failed", "blocked"], "blocked"],
    [["partial", "partial"], "blocked"],
    [["failed", undefined], "blocked"],
    [[undefined, undefined], "blocked"],
    [[], "blocked"],
  ] as const) {
    test(`subtasks that report ${statuses.map((s) => s ?? "nothing").join(", ") || "nothing at all"}: ${whole}`, () => {
      const subtasks = statuses.map((_, i) => ({ id: `t.${i}` }));
      const handoffs = statuses.flatMap((status, i) =>
        status ? [handoff({ taskId: `t.${i}`, status })] : [],
      );
      assert.equal(aggregateHandoffs(parent, subtasks, handoffs).status, whole);
    });
  }

  test("work adds up, the longest subtask is how long it took", () => {
    const metrics = {
      linesAdded: 1,
      linesRemoved: 2,
      filesCreated: 3,
      filesModified: 4,
      tokensUsed: 5,
      toolCallCount: 6,
      durationMs: 700,
    };
    const whole = aggregateHandoffs(
      parent,
      [{ id: "a" }, { id: "b" }],
      [handoff({ taskId: "a", metrics }), handoff({ taskId: "b", metrics: { ...metrics, durationMs: 300 } })],
    );
    assert.deepEqual(whole.metrics, {
      linesAdded: 2,
      linesRemoved: 4,
      filesCreated: 6,
      filesModified: 8,
      tokensUsed: 10,
      toolCallCount: 12,
      durationMs: 700,
    });
  });

  test("concerns and suggestions say whose they are; a file changed by two is named once", () => {
    const whole = aggregateHandoffs(
      parent,
      [{ id: "a" }, { id: "b" }],
      [
        handoff({ taskId: "b", concerns: ["slow"], filesChanged: ["x.ts", "y.ts"], diff: "+b" }),
        handoff({ taskId: "a", suggestions: ["cache it"], filesChanged: ["x.ts"], diff: "+a" }),
      ],
    );
    assert.deepEqual(whole.concerns, ["[b] slow"]);
    assert.deepEqual(whole.suggestions, ["[a] cache it"]);
    assert.deepEqual(whole.filesChanged, ["x.ts", "y.ts"]);
    assert.equal(whole.diff, "+a\n+b");
  });

  test("an empty diff leaves no empty line", () => {
    const handoffs = [handoff({ taskId: "a" }), handoff({ taskId: "b", diff: "+b" })];
    assert.equal(aggregateHandoffs(parent, [{ id: "a" }, { id: "b" }], handoffs).diff, "+b");
  });

  test("the summary counts, then tells each one", () => {
    const whole = aggregateHandoffs(
      parent,
      [{ id: "a" }, { id: "b" }, { id: "c" }],
      [
        handoff({ taskId: "a", summary: "built it" }),
        handoff({ taskId: "b", status: "failed", summary: "no key" }),
      ],
    );
    assert.equal(whole.taskId, "t.4");
    assert.deepEqual(whole.summary.split("\n"), [
      '"Add search" was split into 3 subtasks: 1 complete, 1 failed, 1 other.',
      "[a] complete: built it",
      "[b] failed: no key",
    ]);
  });

  test("a second report of a subtask replaces the first", () => {
    const metrics = { ...NO_METRICS, tokensUsed: 10 };
    const reports = [handoff({ taskId: "a", status: "failed", metrics }), handoff({ taskId: "a", metrics })];
    const whole = aggregateHandoffs(parent, [{ id: "a" }], reports);
    assert.equal(whole.status, "complete");
    assert.equal(whole.metrics.tokensUsed, 10);
  });

  test("a subtask that is named twice counts once, in the total as well", () => {
    const whole = aggregateHandoffs(parent, [{ id: "a" }, { id: "a" }], [handoff({ taskId: "a" })]);
    assert.equal(whole.status, "complete");
    assert.match(whole.summary, /split into 1 subtask: 1 complete, 0 failed, 0 other/);
  });

  test("a report of a stranger counts for nothing", () => {
    const known = handoff({ taskId: "a", diff: "+a" });
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom<HandoffStatus>("complete", "partial", "blocked", "failed")),
        (statuses) => {
          const strangers = statuses.map((status, i) =>
            handoff({ taskId: `z.${i}`, status, diff: "+z", concerns: ["?"] }),
          );
          assert.deepEqual(
            aggregateHandoffs(parent, [{ id: "a" }], [...strangers, known]),
            aggregateHandoffs(parent, [{ id: "a" }], [known]),
          );
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe("createFailureHandoff", () => {
  test("says what went wrong, as summary and as concern, what to try, and claims nothing else", () => {
    assert.deepEqual(createFailureHandoff({ id: "t.1" }, new Error("model unreachable")), {
      taskId: "t.1",
      status: "failed",
      summary: "model unreachable",
      diff: "",
      filesChanged: [],
      concerns: ["model unreachable"],
      suggestions: ["find out why, then try again with a smaller or clearer task"],
      metrics: NO_METRICS,
    });
  });

  test("suggests what the failure itself says", () => {
    const why = failure("authentication", "the key is wrong", "set ANTHROPIC_API_KEY");
    assert.deepEqual(createFailureHandoff({ id: "t.1" }, why).suggestions, ["set ANTHROPIC_API_KEY"]);
    const odd = {
      message: "odd",
      get next(): string {
        throw new Error("not even this");
      },
    };
    assert.equal(createFailureHandoff({ id: "t.1" }, odd).suggestions.length, 1);
  });

  for (const [what, thrown, summary] of [
    ["a string", "out of memory", "out of memory"],
    ["an object with a message", { message: "no route" }, "no route"],
    ["an error without a message", new Error(), "Error"],
    ["an empty text", "", "failed without a message"],
    ["a number", 7, "7"],
    ["an object without a way to show it", Object.create(null), "failed with an error that cannot be shown"],
    ["a message that throws", throwing(), "failed with an error that cannot be shown"],
  ] as const) {
    test(`takes ${what}`, () => {
      assert.equal(createFailureHandoff({ id: "t.1" }, thrown).summary, summary);
    });
  }

  test("takes anything that can be thrown", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (thrown) => {
        const { status, summary } = createFailureHandoff({ id: "t.1" }, thrown);
        assert.equal(status, "failed");
        assert.notEqual(summary, "");
      }),
    );
  });
});

const parent = { id: "t.4", description: "Add search" };

const handoff = (given: Partial<Handoff> & Pick<Handoff, "taskId">): Handoff => ({
  status: "complete",
  summary: "done",
  diff: "",
  filesChanged: [],
  concerns: [],
  suggestions: [],
  metrics: NO_METRICS,
  ...given,
});

function throwing() {
  return {
    get message(): string {
      throw new Error("not even this");
    },
  };
}
