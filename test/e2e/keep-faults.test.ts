/** Tests a disk fault after a worker has finished: its work is kept later, and its turn is not paid for twice. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { makePlace, type Place } from "./cli-place.ts";
import { ALONE, agentOf, COMPLETE, eventsOf, ONCE, runOf } from "./odd-place.ts";

const LIMIT = { timeout: 90_000 };
const FAILING = "unable to write file";

/** Makes an agent that counts its turns, and a file in the place of a folder that git needs for the agent's work. */
async function faulty(place: Place) {
  const { repository, folder } = place;
  const turns = path.join(folder, "turns");
  let text = "";
  let obstacle = "";
  for (let number = 0; obstacle === "" || existsSync(obstacle); number += 1) {
    text = `text ${number}`;
    const file = path.join(folder, "text");
    await writeFile(file, `${text}\n`);
    const id = await repository.git("hash-object", file);
    obstacle = path.join(repository.folder, ".git/objects", id.slice(0, 2));
  }
  await writeFile(obstacle, "");
  const script = `echo turn >> '${turns}'; echo other > other.txt; echo '${text}' > new.txt; ${COMPLETE}`;
  const agent = await agentOf(place, "writer.sh", script);
  return {
    args: ["run", "x", "--agent", agent, ...ALONE],
    mend: () => rm(obstacle),
    turns: async () => (await readFile(turns, "utf8")).trim().split("\n").length,
    landed: (run: string) => repository.git("ls-tree", "--name-only", `skein/${run}/target`),
  };
}

const WHOLE = "README.md\nnew.txt\nother.txt";

describe("where the work of a finished turn cannot be kept,", { concurrency: 2 }, () => {
  it(
    "the keep is repeated, not the turn, and all of the change lands once the fault is mended",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const { args, mend, turns, landed } = await faulty(place);
      const live = place.start(...args);
      await live.says(FAILING);
      await mend();
      const ended = await live.ended;
      assert.equal(ended.code, 0, ended.out + ended.err);
      const run = runOf(ended.out);
      assert.deepEqual([await turns(), await landed(run)], [1, WHOLE]);
      assert.equal(await place.repository.git("for-each-ref", "refs/skein/salvage"), "");
      assert.ok(!existsSync(path.join(/^kept in (.*)$/m.exec(ended.out)![1]!, "workspaces")));
    },
  );

  it("the same after the engine was killed: the next one goes on with what was made", LIMIT, async () => {
    await using place = await makePlace();
    const { args, mend, turns, landed } = await faulty(place);
    const live = place.start(...args);
    await live.says(FAILING);
    live.kill("SIGKILL");
    const run = runOf((await live.ended).out);
    await mend();
    const resumed = await place.skein("resume", run);
    assert.equal(resumed.code, 0, resumed.out + resumed.err);
    assert.deepEqual([await turns(), await landed(run)], [1, WHOLE]);
  });

  it(
    "and stays so, the task fails, nothing lands, and the work is still there, which is said",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const { args, mend, turns, landed } = await faulty(place);
      const ended = await place.skein(...args, ...ONCE);
      const run = runOf(ended.out);
      assert.equal(ended.code, 1, ended.out + ended.err);
      assert.deepEqual([await turns(), await landed(run)], [1, "README.md"]);
      const failed = (await eventsOf(place, run)).find(({ type }) => type === "task.failed");
      assert.ok(failed?.type === "task.failed");
      const folder = /its work is still in (\S+)$/.exec(failed.failure.message)?.[1] ?? "";
      assert.equal(await readFile(path.join(folder, "other.txt"), "utf8"), "other\n");
      assert.ok((ended.out + ended.err).includes(path.dirname(folder)), ended.out + ended.err);
      await mend();
      await place.skein("resume", run);
      const kept = await place.repository.git("ls-tree", "--name-only", `refs/skein/salvage/${run}/t.1`);
      assert.equal(kept, WHOLE);
    },
  );
});
