/** Tests tasks that a program splits and does with `decomposeAndExecute`. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ALL, did, execute, LIMIT, once, PARENT, part } from "../../../test/support/decompositions.ts";
import type { PlanBrief } from "../../core/brief.ts";
import type { Event } from "../../core/log/event.ts";

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
    /** All but one file go to one subtask, which stays large as long as there are files. */
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
