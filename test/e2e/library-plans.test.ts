/** Tests plans in the library: they are made and followed by the same functions as the command's. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import type { WorkFunction } from "../../src/index.ts";
import { lintPlan, planRequest, renderMarkdown } from "../../src/surfaces/library/planning.ts";
import { failureOf, good, LIMIT, makePlace } from "../support/orchestrators.ts";

const REQUEST = "Build user auth with login, logout, register";

describe("plans inside a program", LIMIT, () => {
  it("are made of a request, shown, and followed to their end", async () => {
    await using place = await makePlace();
    const plan = good(await planRequest(REQUEST, { repository: place.repository.folder }));
    assert.deepEqual(
      lintPlan(plan).filter(({ level }) => level === "error"),
      [],
    );
    assert.match(renderMarkdown(plan), /^# EXECUTION PLAN\n/);
    const worker: WorkFunction = async ({ spec }, { folder, scratchpad }) => {
      await writeFile(path.join(folder, `${spec.key}.txt`), `${spec.key}\n`);
      if (scratchpad?.file === undefined) return { status: "complete", summary: "no file was wanted" };
      await writeFile(scratchpad.file, `what was done for ${spec.key}\n`);
      return { status: "complete", summary: `DONE|${scratchpad.file}` };
    };
    await using skein = place.open({ worker });
    const run = good(await skein.run({ plan }));
    assert.deepEqual(await run.ended, { is: "closed", how: "done", left: [] });
    const landed = await place.repository.git("ls-tree", "--name-only", run.target);
    assert.deepEqual(
      landed.split("\n").filter((name) => /^\d/.test(name)),
      ["1.txt", "2.txt", "3.txt"],
    );
  });

  it("are refused with the place of what is wrong, before anything is made", async () => {
    await using place = await makePlace();
    await using skein = place.open({ worker: async () => undefined });
    const circle = { tasks: [{ id: "a", subject: "a", description: "a", blockedBy: ["a"] }] };
    assert.match(failureOf(await skein.run({ plan: circle })).message, /tasks\[0\]/);
    assert.deepEqual(good(await skein.runs()), []);
    assert.match(failureOf(await skein.run({})).message, /the goal is empty/);
  });

  it("are not made for a number of workers that no run takes, nor after a stop", async () => {
    await using place = await makePlace();
    const repository = place.repository.folder;
    for (const maxConcurrent of [0, 1.5, Number.NaN, 1e9])
      assert.match(
        failureOf(await planRequest(REQUEST, { repository, maxConcurrent })).message,
        /maxConcurrent/,
      );
    const stopped = await planRequest(REQUEST, {
      repository,
      signal: AbortSignal.abort(new Error("enough")),
    });
    assert.deepEqual(
      [failureOf(stopped).kind, failureOf(stopped).message],
      ["interrupted", "stopped before it was planned: enough"],
    );
  });
});
