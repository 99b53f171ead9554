/** Tests failures, aborts and mistakes in tasks that a program decomposes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ALL, did, execute, LIMIT, once, PARENT, part } from "../../../test/support/decompositions.ts";
import type { WorkBrief } from "../../core/brief.ts";
import {
  type PlannedPart,
  type PlanResult,
  UnreachableError,
  type WorkResult,
} from "../../ports/agent-functions.ts";
import { decomposeAndExecute } from "./library.ts";
import type { ParentTask } from "./types.ts";

describe("a subtask that comes to nothing in a program", LIMIT, () => {
  it("is tried again, knowing why, when its function throws, says nothing or strays", async () => {
    const ways: Readonly<Record<number, (brief: WorkBrief) => unknown>> = {
      1: () => assert.fail("a bad day"),
      2: (brief) => did(brief, { filesChanged: ["a.ts", "b.ts"] }),
      3: (brief) => did(brief),
    };
    const { works, handoff } = await execute({
      plan: once([part("a")]),
      work: (brief) => ways[brief.attempt]?.(brief) as WorkResult,
    });
    assert.deepEqual(
      works.at(-1)?.past.map(({ failure: { kind, message } }) => [kind, message]),
      [
        ["agent-failed", "the work function threw: a bad day"],
        ["out-of-scope", "changed files outside its scope: b.ts"],
      ],
    );
    assert.equal(handoff.status, "partial"); // Three files were in no task.
    assert.deepEqual(handoff.filesChanged, ["a.ts"]);
  });

  const nonsense: readonly [name: string, value: unknown, words: RegExp][] = [
    ["nothing", undefined, /the work function returned nothing/],
    ["words alone", "I believe that it is done", /a text with no handoff in it/],
    ["a number", 42, /returned a number/],
    ["no status", { summary: "done" }, /cannot be read: "status" is missing/],
    ["an odd status", { status: "great", summary: "done" }, /"status" is "great"/],
    ["no files", { status: "complete", summary: "done" }, /changed no file and says that it is so already/],
    [
      "odd files",
      { status: "complete", summary: "done", filesChanged: ["/etc/passwd", 1] },
      /is not relative.*not a text/,
    ],
    ["blocked", { status: "blocked", summary: "no key" }, /the worker reported blocked: no key/],
  ];
  for (const [name, value, words] of nonsense)
    it(`fails with the reason when its function returns ${name}`, async () => {
      const { handoff, works } = await execute({
        work: (brief) => (brief.spec.key === "a" ? (value as WorkResult) : did(brief)),
        policy: { retry: { maxFailed: 2 } },
      });
      assert.equal(works.filter(({ spec }) => spec.key === "a").length, 2);
      assert.equal(handoff.status, "partial");
      assert.match(handoff.summary, words);
      assert.deepEqual(handoff.filesChanged, ["b.ts", "c.ts", "d.ts"]);
    });

  it("is found in a text as a model writes it", async () => {
    const text = `Done.\n${JSON.stringify({ status: "complete", summary: "ok", filesChanged: ["./a.ts"] })}`;
    const { handoff } = await execute({ plan: once([]), work: () => text });
    assert.deepEqual([handoff.status, handoff.filesChanged], ["complete", ["a.ts"]]);
  });

  it("leaves the whole failed if none was done, and what waited for it is said", async () => {
    const { handoff } = await execute({
      plan: once([part("a"), part("b", { after: ["a"] })]),
      work: () => assert.fail("never"),
      policy: { retry: { maxFailed: 1 } },
    });
    assert.equal(handoff.status, "blocked");
    assert.match(
      handoff.summary,
      /^none of it was done\n"Make all" was split into 2 subtasks: 0 complete, 1 failed/,
    );
    assert.match(handoff.summary, /\[a\] failed: the work function threw: never/);
    assert.deepEqual(handoff.filesChanged, []);
    const all = await execute({ work: () => assert.fail("never"), policy: { retry: { maxFailed: 1 } } });
    assert.equal(all.handoff.status, "failed");
  });

  it("hands up what its worker had reported: status, concerns, suggestions, metrics and tokens", async () => {
    const said = {
      status: "blocked",
      summary: "no key",
      concerns: ["the key is old"],
      suggestions: ["get a key"],
      metrics: { toolCallCount: 3, linesAdded: 2 },
      filesChanged: ["a.ts"],
      spent: { tokens: 7 },
    } as const;
    const policy = { retry: { maxFailed: 1 } };
    const work = (brief: WorkBrief) => (brief.spec.key === "b" ? did(brief) : said);
    const [some, none, whole] = await Promise.all([
      execute({ work, plan: once([part("a"), part("b")]), policy }),
      execute({ work, plan: once([part("a")]), policy }),
      execute({ work, plan: once([]), policy }),
    ]);
    for (const { handoff } of [some, none, whole]) {
      const isWhole = handoff === whole.handoff;
      assert.ok(handoff.concerns.includes(isWhole ? "the key is old" : "[a] the key is old"));
      assert.deepEqual(handoff.suggestions, [isWhole ? "get a key" : "[a] get a key"]);
      assert.match(handoff.summary, isWhole ? /blocked: no key/ : /\[a\] blocked: .*no key/);
      const { tokensUsed, toolCallCount } = handoff.metrics;
      assert.deepEqual([tokensUsed, toolCallCount], [7, 3]);
    }
    assert.deepEqual(
      [some, none, whole].map(({ handoff }) => [handoff.status, handoff.filesChanged]),
      [
        ["partial", ["b.ts"]],
        ["blocked", []],
        ["blocked", []],
      ],
    );
    assert.deepEqual(some.plans.at(-1)?.news.at(-1)?.suggestions ?? [], []);
    assert.ok(some.plans.some(({ news }) => news.some(({ suggestions }) => suggestions[0] === "get a key")));
  });

  it("is not talked away: given up it is a concern with its reason, and something replaced is named", async () => {
    const dealing = (deal: (id: string) => object | string, more: readonly PlannedPart[] = []) => {
      let left = more;
      return execute({
        plan: ({ first, concerns }) => {
          const tasks = first ? ALL : concerns.length > 0 ? left : [];
          if (!first && concerns.length > 0) left = [];
          return { tasks, addressed: concerns.map(({ id }) => deal(id)) } as PlanResult;
        },
        work: (brief) => (brief.spec.key === "a" ? assert.fail("never") : did(brief)),
        policy: { retry: { maxFailed: 1 } },
      });
    };
    const bare = await dealing((id) => id);
    const reasoned = await dealing((concern) => ({ concern, because: "nobody uses it" }));
    for (const [{ handoff, events }, reason, rejected] of [
      [bare, "no reason given", 1],
      [reasoned, "nobody uses it", 0],
    ] as const) {
      assert.equal(handoff.status, "partial");
      assert.match(handoff.summary, /split into 4 subtasks: 3 complete, 1 failed, 0 other/);
      const text = `a failed: the work function threw: never (given up: ${reason})`;
      assert.deepEqual(handoff.concerns, [text]);
      assert.equal(events.filter(({ type }) => type === "plan.rejected").length, rejected);
    }
    const again = [part("a2", { scope: ["a.ts"] })];
    const { handoff } = await dealing((concern) => ({ concern, by: "a2" }), again);
    assert.equal(handoff.status, "complete");
    assert.match(handoff.summary, /5 subtasks: 4 complete, 1 failed.*\[a\] failed: .*\(replaced by a2\)/s);
    assert.deepEqual(handoff.concerns, []);
  });

  it("keeps its words as they are, whatever they look like; only sentences of the engine have its name", async () => {
    const words = "see t.1.1, t.1 and the planner of t.1 failed; [t.1.2] skipped, because t.1.1 did not land";
    const { handoff } = await execute({
      plan: once([part("a"), part("b"), part("c", { after: ["b"] }), part("d")]),
      work: (brief) =>
        brief.spec.key === "b"
          ? assert.fail(words)
          : did(brief, { summary: words, concerns: [words], suggestions: [words] }),
      policy: { retry: { maxFailed: 1 } },
    });
    assert.deepEqual(handoff.summary.split("\n").slice(1), [
      `[a] complete: ${words}`,
      `[b] failed: the work function threw: ${words}`,
      "[c] blocked: skipped, because b did not land",
      `[d] complete: ${words}`,
    ]);
    assert.deepEqual(handoff.concerns, [
      `[a] ${words}`,
      `[d] ${words}`,
      `b failed: the work function threw: ${words}`,
      "c was skipped, because b did not land",
    ]);
    assert.deepEqual(handoff.suggestions, [
      `[a] ${words}`,
      "[b] fix the function, or what it failed on",
      `[d] ${words}`,
    ]);
  });

  it("is waited for while its model cannot be reached, and nothing is held against it", async () => {
    let calls = 0;
    const { handoff } = await execute({
      plan: once([]),
      work: (brief) => {
        calls += 1;
        if (calls <= 4) throw new UnreachableError("no route");
        return did(brief);
      },
      policy: { retry: { firstMs: 1, maxMs: 1, maxFailed: 1 } },
    });
    assert.deepEqual([handoff.status, calls], ["complete", 5]);
  });
});

describe("a planner that fails in a program", LIMIT, () => {
  it("is asked again after a throw or nonsense, and is never taken to be done", async () => {
    const answers = [() => assert.fail("dropped"), () => undefined, () => "Sure!", () => ({ tasks: ALL })];
    const { handoff, plans, events } = await execute({
      plan: ({ first }) => (first ? answers.shift()?.() : { tasks: [] }) as PlanResult,
    });
    assert.equal(handoff.status, "complete");
    const reasons = events.flatMap((event) => (event.type === "plan.rejected" ? event.failure.message : []));
    assert.match(reasons.join("\n"), /threw: dropped\nthe answer is empty.*\nno JSON object was found/);
    assert.deepEqual(plans[1]?.rejected, ["the plan function threw: dropped"]);
  });

  it("is given up after five errors in a row, and the handoff says why", async () => {
    const { handoff, plans, works } = await execute({ plan: () => assert.fail("dropped") });
    assert.deepEqual([plans.length, works.length, handoff.status, handoff.taskId], [5, 0, "failed", "big"]);
    assert.match(
      handoff.summary,
      /^the planner of big failed 5 times in a row, last: the plan function threw: dropped/,
    );
  });

  it("keeps what was done when it is given up later", async () => {
    const { handoff } = await execute({
      plan: ({ first }) => (first ? { tasks: ALL } : assert.fail("dropped")),
    });
    assert.equal(handoff.status, "partial");
    assert.equal(handoff.filesChanged.length, 4);
    assert.match(handoff.concerns.join(), /the planner of big failed 5 times in a row/);
  });

  it("is not asked more than twenty times", async () => {
    let made = 0;
    const { handoff, plans } = await execute({
      plan: () => {
        made += 1;
        return { tasks: [part(`p${made}`, { scope: ["a.ts"] })] };
      },
    });
    assert.equal(plans.length, 20);
    assert.match(handoff.concerns.join(), /was not done after 20 answers/);
  });
});

describe("abort and mistakes in a program", LIMIT, () => {
  it("ends midway: everybody is told, what was done stays, and the handoff says why", async () => {
    const abort = new AbortController();
    const told: unknown[] = [];
    const { handoff, events } = await execute({
      signal: abort.signal,
      work: async (brief, { signal }) => {
        if (brief.spec.key === "a") return did(brief);
        signal.addEventListener("abort", () => told.push(brief.spec.key));
        return new Promise(() => {}); // Never ends, and is not awaited.
      },
      onEvent: (event) => {
        if (event.type === "batch.landed") abort.abort(new Error("enough"));
      },
    });
    assert.deepEqual([handoff.taskId, handoff.status, handoff.filesChanged], ["big", "partial", ["a.ts"]]);
    assert.match(handoff.summary, /^aborted: enough\n/);
    assert.ok(handoff.concerns.includes("aborted: enough"));
    assert.deepEqual(told.toSorted(), ["b", "c", "d"]);
    const last = events.at(-1);
    assert.equal(last?.type === "run.closed" && last.how, "cancelled");
  });

  it("fails if nothing was done when it is aborted, and does not begin if it was before", async () => {
    const abort = new AbortController();
    const planning = await execute({
      signal: abort.signal,
      plan: () => {
        abort.abort();
        return { tasks: ALL };
      },
    });
    assert.equal(planning.handoff.status, "failed");
    assert.match(planning.handoff.summary, /^aborted: /);
    const later = new AbortController();
    const working = await execute({
      signal: later.signal,
      work: () => {
        later.abort();
        return new Promise(() => {});
      },
    });
    assert.equal(working.handoff.status, "failed");
    assert.match(working.handoff.summary, /split into 4 subtasks: 0 complete, 0 failed, 4 other/);
    const before = await execute({ signal: AbortSignal.abort("no") });
    assert.deepEqual([before.handoff.status, before.handoff.summary], ["failed", "aborted: no"]);
    assert.equal(before.plans.length, 0);
  });

  it("says what is wrong with a task or a policy, and does nothing", async () => {
    const wrong: readonly [Partial<ParentTask>, RegExp][] = [
      [{ description: " " }, /"description" says nothing/],
      [{ scope: [] }, /"scope" names nothing/],
      [{ scope: ["../up"] }, /leaves the repository/],
      [{ id: "no spaces" }, /"id" must be up to 64 letters/],
      [{ priority: 11 }, /"priority" must be a whole number from 1/],
    ];
    for (const [change, words] of wrong) {
      const { handoff, plans } = await execute({}, { ...PARENT, ...change });
      assert.deepEqual([handoff.status, plans.length], ["failed", 0]);
      assert.match(handoff.summary, words);
    }
    const { handoff } = await execute({ policy: { capacity: { work: 0 } } });
    assert.deepEqual([handoff.status, handoff.taskId], ["failed", "big"]);
    assert.match(handoff.summary, /capacity.work must be a whole number from 1, not 0/);
    const nothing = await decomposeAndExecute(undefined as unknown as ParentTask, {
      plan: once([]),
      work: did,
    });
    assert.equal(nothing.status, "failed");
  });

  it("says so when the budget is spent", async () => {
    const { handoff } = await execute({
      work: (brief) => did(brief, { spent: { tokens: 100 } }),
      policy: { capacity: { work: 1 }, budget: { maxTokens: 150, reserveTokens: 1 } },
    });
    assert.equal(handoff.status, "partial");
    assert.match(handoff.concerns.join("; "), /the budget is spent/);
  });
});
