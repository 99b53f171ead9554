import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PlanBrief, WorkBrief } from "../../core/brief.ts";
import type { Event } from "../../core/event.ts";
import type { PlannedPart, PlanResult, WorkResult } from "../../ports/agent-functions.ts";
import { UnreachableError } from "../../ports/agent-functions.ts";
import { decomposeAndExecute } from "./library.ts";
import type { DecomposeOptions, ParentTask } from "./types.ts";

const LIMIT = { timeout: 30_000 };
const PARENT: ParentTask = { id: "big", description: "Make all", scope: ["a.ts", "b.ts", "c.ts", "d.ts"] };

/** Its scope is the file of its own name, unless told. */
const part = (id: string, more: Partial<PlannedPart> = {}): PlannedPart => ({
  id,
  description: `make ${id}`,
  acceptance: `${id} is there`,
  scope: [`${id}.ts`],
  ...more,
});

const ALL = ["a", "b", "c", "d"].map((id) => part(id));

const did = ({ spec }: WorkBrief, more: object = {}): WorkResult => ({
  status: "complete",
  summary: `made ${spec.key}`,
  filesChanged: spec.scope,
  ...more,
});

const once =
  (tasks: readonly PlannedPart[]) =>
  ({ first }: PlanBrief): PlanResult => ({ tasks: first ? tasks : [] });

/** With every brief and every event that there was. */
async function execute(options: Partial<DecomposeOptions> = {}, parent = PARENT) {
  const [plans, works, events] = [[] as PlanBrief[], [] as WorkBrief[], [] as Event[]];
  const { plan = once(ALL), work = did } = options;
  const handoff = await decomposeAndExecute(parent, {
    ...options,
    plan: (brief, turn) => {
      plans.push(brief);
      return plan(brief, turn);
    },
    work: (brief, turn) => {
      works.push(brief);
      return work(brief, turn);
    },
    onEvent: (event) => {
      events.push(event);
      options.onEvent?.(event);
    },
  });
  return { handoff, plans, works, events, keys: works.map(({ spec }) => spec.key) };
}

describe("a task that is split and done in a program", LIMIT, () => {
  it("becomes one handoff: files together, words with their subtask, work summed up", async () => {
    const { handoff, works } = await execute({
      work: (brief) =>
        did(brief, {
          diff: `+${brief.spec.key}`,
          concerns: brief.spec.key === "b" ? ["odd"] : [],
          suggestions: brief.spec.key === "c" ? ["more"] : [],
          metrics: { linesAdded: 2, filesCreated: 1, tokensUsed: 5, toolCallCount: 3 },
        }),
    });
    const { metrics, summary, ...rest } = handoff;
    assert.deepEqual(rest, {
      taskId: "big",
      status: "complete",
      diff: "+a\n+b\n+c\n+d",
      filesChanged: PARENT.scope,
      concerns: ["[b] odd"],
      suggestions: ["[c] more"],
    });
    assert.match(summary, /^"Make all" was split into 4 subtasks: 4 complete, .*\n\[a\] complete: made a\n/);
    const { durationMs, ...sums } = metrics;
    assert.deepEqual(sums, {
      linesAdded: 8,
      linesRemoved: 0,
      filesCreated: 4,
      filesModified: 0,
      tokensUsed: 20,
      toolCallCount: 12,
    });
    assert.ok(durationMs >= 0 && durationMs < 30_000, `${durationMs}`);
    assert.deepEqual(
      works.map(({ attempt, spec }) => [attempt, spec.acceptance]),
      ["a", "b", "c", "d"].map((id) => [1, `${id} is there`]),
    );
  });

  it("is planned whatever its size, and goes to a worker as it is if its planner keeps it whole", async () => {
    const small = { id: "small", description: "Make a", scope: ["a.ts"], acceptance: "it is" };
    const { handoff, plans, works } = await execute({ plan: once([]) }, small);
    assert.deepEqual([plans.length, works.length, works[0]?.spec.key], [1, 1, "small"]);
    assert.equal(works[0]?.spec.acceptance, "it is");
    assert.deepEqual([handoff.taskId, handoff.status, handoff.summary], ["small", "complete", "made small"]);
    assert.equal("commit" in handoff, false);
  });

  it("asks its planner again after each subtask, with the news, and does what it asks for then", async () => {
    const { handoff, plans, keys } = await execute({
      plan: ({ first, news }) => {
        if (first) return { scratchpad: "c and d later", tasks: [part("a"), part("b")] };
        const heard = news.map(({ key }) => key);
        if (heard.includes("a")) return { tasks: [part("c")] };
        return { tasks: heard.includes("c") ? [part("d")] : [] };
      },
      policy: { capacity: { work: 1 } },
    });
    assert.deepEqual(keys, ["a", "b", "c", "d"]);
    assert.equal(handoff.status, "complete");
    assert.equal(plans[1]?.scratchpad, "c and d later");
    assert.deepEqual(
      plans.slice(1).flatMap(({ news }) => news.map(({ key, end, summary }) => [key, end, summary])),
      ["a", "b", "c", "d"].map((key) => [key, "done", `made ${key}`]),
    );
  });

  it("splits large subtasks again, down to the depth that the policy allows", async () => {
    const files = (count: number) => Array.from({ length: count }, (_, i) => `f${i}.ts`);
    /** All but one file to one subtask: it stays large for as long as there are files. */
    const peel = ({ first, spec, depth }: PlanBrief) => ({
      tasks: first
        ? [
            part(`rest-${depth}`, { scope: spec.scope.slice(1) }),
            part(`one-${depth}`, { scope: spec.scope.slice(0, 1) }),
          ]
        : [],
    });
    const parent = { ...PARENT, scope: files(9) };
    const { plans, keys, handoff } = await execute({ plan: peel }, parent);
    assert.deepEqual([...new Set(plans.map(({ depth }) => depth))], [0, 1, 2]);
    assert.deepEqual(keys.toSorted(), ["one-0", "one-1", "one-2", "rest-2"]);
    assert.deepEqual([handoff.status, handoff.filesChanged.length], ["complete", 9]);
    const flat = await execute({ plan: peel, policy: { decompose: { maxDepth: 1 } } }, parent);
    assert.deepEqual(flat.keys.toSorted(), ["one-0", "rest-0"]);
  });

  it("keeps subtasks inside the parent's files, and tells the planner what it removed", async () => {
    const { works, plans } = await execute({
      plan: once([part("a", { scope: ["a.ts", "other.ts"] }), part("gone", { scope: ["elsewhere.ts"] })]),
    });
    assert.deepEqual(
      works.map(({ spec }) => spec.scope),
      [["a.ts"]],
    );
    const notes = plans[1]?.notes.join("; ") ?? "";
    assert.match(notes, /task "a": "other.ts" removed/);
    assert.match(notes, /task "gone" was dropped/);
    assert.match(notes, /b.ts is in no task and not deferred/);
  });

  it("is not complete if files were forgotten, unless its planner gave a reason", async () => {
    const { handoff } = await execute({ plan: once([part("a"), part("b"), part("c")]) });
    assert.deepEqual([handoff.status, handoff.concerns], ["partial", ["d.ts was in no task"]]);
    const reasoned = await execute({
      plan: ({ first }) => ({
        tasks: first ? [part("a"), part("b"), part("c")] : [],
        deferred: [{ files: ["d.ts"], reason: "nobody needs it" }],
      }),
    });
    assert.equal(reasoned.handoff.status, "complete");
  });

  it("refuses overlaps and too many subtasks, and asks again with the reasons", async () => {
    const many = Array.from({ length: 11 }, (_, i) => part(`p${i}`, { scope: ["a.ts"] }));
    const answers = [many, [part("a"), part("again", { scope: ["a.ts", "b.ts"] })], ALL];
    const { plans, handoff } = await execute({
      plan: ({ first }) => ({ tasks: first ? (answers.shift() ?? []) : [] }),
    });
    assert.match(plans[1]?.rejected.join() ?? "", /there are 11 tasks in one answer; at most 10 are allowed/);
    assert.match(plans[2]?.rejected.join() ?? "", /tasks "a" and "again" both have a.ts in their scope/);
    assert.equal(handoff.status, "complete");
  });

  it("runs subtasks side by side, and in order where one waits for another", async () => {
    const both = Promise.withResolvers<void>();
    let atWork = 0;
    const { keys } = await execute({
      plan: once([part("d", { after: ["a", "b"] }), part("a"), part("b"), part("c")]),
      work: async (brief) => {
        atWork += 1;
        if (atWork === 3) both.resolve();
        if (brief.spec.key !== "d") await both.promise;
        return did(brief);
      },
    });
    assert.equal(keys.at(-1), "d");
  });

  it("tells every event in order, from the opening to the end", async () => {
    const { events } = await execute();
    const types = events.map(({ type }) => type);
    assert.deepEqual([types[0], types.at(-1)], ["run.opened", "run.closed"]);
    assert.ok(events.every(({ at }, i) => i === 0 || at >= events[i - 1]!.at));
    const place = (type: Event["type"]) => types.indexOf(type);
    assert.ok(place("job.started") < place("task.handed-off"));
    assert.ok(place("task.handed-off") < place("batch.landed"));
    assert.ok(place("batch.landed") < place("task.done"));
  });

  it("goes on when a listener throws, and says so once", async () => {
    const warned: string[] = [];
    const hear = ({ name, message }: Error) => name === "SkeinWarning" && warned.push(message);
    process.on("warning", hear);
    const { handoff } = await execute({ onEvent: () => assert.fail("deaf") });
    await new Promise(setImmediate);
    process.off("warning", hear);
    assert.equal(handoff.status, "complete");
    assert.deepEqual(warned, ["onEvent threw: deaf"]);
  });
});

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
    ["no files", { status: "complete", summary: "done" }, /said complete but changed no file/],
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
      /^nothing of it was done\n"Make all" was split into 2 subtasks: 0 complete, 1 failed/,
    );
    assert.match(handoff.summary, /\[a\] failed: the work function threw: never/);
    assert.deepEqual(handoff.filesChanged, []);
    const all = await execute({ work: () => assert.fail("never"), policy: { retry: { maxFailed: 1 } } });
    assert.equal(all.handoff.status, "failed");
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
        return new Promise(() => {}); // Goes on for ever: nobody waits for it.
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
