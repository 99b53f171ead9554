/** Tests whole runs from a goal to gated commits in a real repository; only the agents are scripted. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { closing, endings, makeSetting, readText, runGoal } from "../support/live-runs.ts";

const task = (id: string, file: string, more = {}) => ({
  id,
  description: `write ${file}`,
  scope: [file],
  acceptance: `${file} is there`,
  ...more,
});
const writes = (file: string, text: string) => ({
  steps: [{ do: "write", path: file, text } as const],
  end: { handoff: { status: "complete", summary: `wrote ${file}` } },
});

describe("a run", () => {
  it("takes two tasks from a plan to gated commits on its own target, and leaves the checkout as it was", async () => {
    await using setting = await makeSetting({
      files: {
        "check.sh": 'for f in *.txt; do grep -q good $f || { echo "$f is bad"; exit 1; }; done\n',
        "seed.txt": "good\n",
      },
      script: {
        plans: {
          t: [
            { answer: { scratchpad: "", tasks: [task("a", "a.txt"), task("b", "b.txt")] } },
            { answer: { scratchpad: "", tasks: [], done: true } },
          ],
        },
        work: {
          a: [writes("a.txt", "good a\n")],
          b: [writes("b.txt", "bad\n"), writes("b.txt", "good b\n")],
        },
      },
    });
    const { repository } = setting;
    const config = setting.config({ gate: ["sh check.sh"] });
    const { end, target, events, home } = await runGoal(setting, config);
    assert.equal(closing(end), "done");
    assert.ok(end.is === "closed");
    assert.deepEqual(endings(end.state), { t: "done", a: "done", b: "done" });
    assert.equal(await repository.git("show", `${target}:b.txt`), "good b");
    assert.equal(events.filter((e) => e.type === "batch.landed").length, 2);
    assert.equal(await repository.git("status", "--porcelain"), "");
    const { brief } = JSON.parse(await readText(`${home.folder}/jobs/work-t.2-2/job.json`));
    assert.match(
      brief.past[0].failure.detail,
      /b\.txt is bad/,
      "the next attempt is told what the gate wrote",
    );
  });
});
