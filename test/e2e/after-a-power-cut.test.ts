/** Tests a resume after a power cut: empty files are removed, and the target is put back to where the log has it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { glob, rm, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { RunHome } from "../../src/ports/runs.ts";
import {
  closing,
  drive,
  eventsOf,
  makeSetting,
  runGoal,
  type Setting,
  startRun,
} from "../support/live-runs.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { plans, task, writes } from "../support/scripts.ts";

/** Makes a run of three tasks, one after the other, that was stopped when the second had landed. */
async function makeStopped() {
  const setting = await makeSetting({
    files: { "seed.txt": "good\n" },
    script: {
      plans: { t: [plans(task("a"), task("b", { after: ["a"] }), task("c", { after: ["b"] })), plans()] },
      work: { a: [writes("a.txt", "a\n")], b: [writes("b.txt", "b\n")], c: [writes("c.txt", "c\n")] },
    },
  });
  let landings = 0;
  const watch = (event: Event) => {
    if (event.type !== "batch.landed") return;
    landings += 1;
    // The packed refs get an older value of the target, which git reads once the ref's own file is gone.
    if (landings === 1) execFileSync("git", ["pack-refs", "--all"], { cwd, env: plainEnvironment() });
  };
  const cwd = setting.repository.folder;
  const config = setting.config({ gate: "none" });
  const { home, target } = await runGoal(setting, config, { watch, stopAt: () => landings === 2 });
  const tips = (await eventsOf(home)).flatMap((event) => (event.type === "batch.landed" ? event.commit : []));
  assert.equal(tips.length, 2);
  const git = path.join(cwd, ".git");
  return { setting, config, home, target, ref: path.join(git, "refs/heads", target), tips, git };
}

const objectFile = (git: string, id: string) => path.join(git, "objects", id.slice(0, 2), id.slice(2));

/** Empties a file, as a power cut does when the file's name was on the disk before its content. */
async function empty(file: string): Promise<void> {
  await rm(file, { force: true }); // Files of git objects are read-only.
  await writeFile(file, "");
}

async function resumed(setting: Setting, home: RunHome, config: Parameters<typeof drive>[2]) {
  const restored: string[] = [];
  const end = await drive(setting, home, config, { onRestored: (what) => restored.push(what) });
  return { closed: closing(end), restored };
}

const filesIn = async ({ repository }: Setting, target: string) =>
  (await repository.git("ls-tree", "--name-only", target)).split("\n");

describe("after a power cut", { concurrency: 2 }, () => {
  it("a run goes on whose target, proofs and records are empty, and says what was restored", async () => {
    const { setting, config, home, target, ref, tips, git } = await makeStopped();
    await using _ = setting;
    const { run } = home.record;
    await empty(ref);
    await empty(path.join(git, "refs/notes/skein", run));
    await writeFile(`${ref}.lock`, "");
    await utimes(`${ref}.lock`, 1, 1);
    const records: string[] = [];
    for await (const name of glob(["jobs/*/*.json", "turns/*.said.json"], { cwd: home.folder }))
      records.push(path.join(home.folder, name));
    for (const file of records) await empty(file);
    // The third task will make this object. Until then nothing needs it, but if the empty file stayed, git would take
    // it for the object.
    await setting.repository.write({ "c.tmp": "c\n" });
    await empty(objectFile(git, await setting.repository.git("hash-object", "-w", "c.tmp")));
    const { closed, restored } = await resumed(setting, home, config);
    assert.equal(closed, "done");
    assert.deepEqual(await filesIn(setting, target), ["a.txt", "b.txt", "c.txt", "seed.txt"]);
    assert.equal(await setting.repository.git("merge-base", "--is-ancestor", tips[1]!, target), "");
    assert.deepEqual(restored, [
      "1 empty object in the repository removed",
      "2 empty refs in the repository removed",
      `${records.length} empty records of the run removed`,
      `the target ${target} was lost, and is again at ${tips[1]}, where the log has it`,
    ]);
    assert.equal(await setting.repository.git("fsck", "--no-dangling"), "");
  });

  it("a target that names a commit which is not there is put back to where the log has it", async () => {
    const { setting, config, home, target, ref, tips } = await makeStopped();
    await using _ = setting;
    await writeFile(ref, `${"1".repeat(40)}\n`);
    const { closed, restored } = await resumed(setting, home, config);
    assert.equal(closed, "done");
    assert.match(restored.join(), new RegExp(`^the target ${target} was lost, and is again at ${tips[1]}`));
  });

  it("a target that somebody moved is not put back", async () => {
    const { setting, config, home, target, tips } = await makeStopped();
    await using _ = setting;
    await setting.repository.git("update-ref", `refs/heads/${target}`, tips[0]!);
    const { closed, restored } = await resumed(setting, home, config);
    assert.match(closed, /^incomplete; .*but was taken back/);
    assert.deepEqual(restored, []);
  });

  it("a run does not go on whose last commit is lost, and says what can be done", async () => {
    const { setting, config, home, target, ref, tips, git } = await makeStopped();
    await using _ = setting;
    await empty(ref);
    await empty(objectFile(git, tips[1]!));
    // Otherwise the commit is put back from the backup of objects.
    await rm(path.join(home.folder, "shelf"), { recursive: true });
    for (const tries of [1, 2]) {
      const options = { config, env: setting.env, watch: () => {} };
      const live = await startRun(setting.project, home, options, AbortSignal.timeout(30_000));
      assert.ok(hasFailed(live), `it went on at try ${tries}`);
      const { message, next } = live.failure;
      const lost = `the target ${target} is lost: the log has it at ${tips[1]}, of which parts are missing`;
      assert.ok(message.startsWith(lost), message);
      assert.match(next ?? "", new RegExp(`another clone; .*skein run --base ${tips[0]}$`));
    }
  });
});
