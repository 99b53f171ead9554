/** Tests that two levels of subtasks with a question come to the same end, wherever the engine is stopped. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import type { Script } from "../../src/ports/agent-script.ts";
import {
  closing,
  drive,
  endings,
  eventsOf,
  makeSetting,
  runGoal,
  type Setting,
} from "../support/live-runs.ts";

const write = (path: string) => ({ do: "write", path, text: `${path}\n` }) as const;

/** The goal's worker calls for a part; the part's worker asks a question, and calls for a part of its own. */
const script: Script = {
  plans: {},
  work: {
    t: [
      {
        steps: [write("begun.txt")],
        end: { spawn: { type: "part", description: "Make a part" } },
        goesOn: [{ steps: [write("end.txt")], end: "done" }],
        answers: "in English",
      },
    ],
    "part-1": [
      {
        steps: [{ do: "append", path: "begun.txt", text: "taken over\n" }],
        end: { ask: { question: "In which language?", default: "none" } },
        goesOn: [
          { steps: [write("asked.txt")], end: { spawn: { type: "detail", description: "Make a detail" } } },
          { steps: [{ do: "append", path: "detail.txt", text: "seen\n" }], end: "done" },
        ],
      },
    ],
    "detail-1": [{ steps: [write("detail.txt")], end: "done" }],
  },
};

const flags = { planner: "none", gate: "none" };

async function treeOf({ repository }: Setting, target: string): Promise<string> {
  return repository.git("ls-tree", "-r", target);
}

describe("scripted workers that call", () => {
  it("hand on, ask and are answered over two levels, and land once", async () => {
    await using setting = await makeSetting({ files: { "README.md": "# here\n" }, script });
    const { end, events, target } = await runGoal(setting, setting.config(flags));
    assert.equal(closing(end), "done");
    assert.deepEqual(endings(end.is === "closed" ? end.state : assert.fail(end.is)), {
      t: "done",
      "part-1": "done",
      "detail-1": "done",
    });
    assert.equal(await setting.repository.git("show", `${target}:detail.txt`), "detail.txt\nseen");
    assert.equal(await setting.repository.git("show", `${target}:begun.txt`), "begun.txt\ntaken over");
    const answered = events.find((event) => event.type === "question.answered");
    assert.deepEqual(answered?.type === "question.answered" && [answered.text, answered.by], [
      "in English",
      { task: "t", attempt: 2 },
    ]);
    assert.equal(events.filter(({ type }) => type === "batch.landed").length, 1);
  });

  const stops: readonly (readonly [string, (event: Event) => boolean])[] = [
    ["the part is spawned", ({ type }) => type === "subtask.spawned"],
    ["the part asks", ({ type }) => type === "question.asked"],
    ["its parent has answered", ({ type }) => type === "question.answered"],
    ["the detail is done", (event) => event.type === "task.done" && event.task.endsWith(".1.1")],
  ];
  for (const [when, stopAt] of stops)
    it(`come to the same end if the engine is stopped when ${when}`, async () => {
      await using setting = await makeSetting({ files: { "README.md": "# here\n" }, script });
      const config = setting.config(flags);
      const first = await runGoal(setting, config, { stopAt });
      assert.equal(first.end.is, "stopped");
      const end = await drive(setting, first.home, config);
      assert.equal(closing(end), "done");
      assert.match(
        await treeOf(setting, first.target),
        /asked\.txt\n[\s\S]*begun\.txt\n[\s\S]*detail\.txt\n[\s\S]*end\.txt/,
      );
      assert.equal(await setting.repository.git("show", `${first.target}:detail.txt`), "detail.txt\nseen");
      const events = await eventsOf(first.home);
      assert.equal(events.filter(({ type }) => type === "subtask.spawned").length, 2);
      assert.equal(events.filter(({ type }) => type === "question.asked").length, 1);
    });
});
