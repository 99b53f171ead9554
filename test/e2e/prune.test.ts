/** Tests `git gc --prune=now` in the repository of a live run: it must take nothing that the run needs. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
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

const QUICK = { "retry.first": "10ms", "retry.max": "20ms" };
const FILES = { "seed.txt": "good\n" };
const SCRIPT = {
  plans: { t: [plans(task("a"), task("b", { after: ["a"] })), plans()] },
  work: { a: [writes("a.txt")], b: [writes("b.txt")] },
};

/** Runs a command while an event is handled, before anything follows from the event. */
const meddle = ({ repository }: Setting, command: string): Buffer =>
  execFileSync("sh", ["-c", command], { cwd: repository.folder, env: plainEnvironment() });

/** Removes every unreachable object, as people do who want the space back. */
const COLLECT = "git reflog expire --expire=now --all && git gc -q --prune=now";

const BRANCHES = "git for-each-ref --format='%(refname:short)' 'refs/heads/skein/*/task/*'";

/** Every object is there, nothing was attempted twice, and no ref is left that only held objects. */
async function isWhole(setting: Setting, target: string, events: readonly Event[]): Promise<void> {
  const { git } = setting.repository;
  assert.equal(await git("fsck", "--no-dangling", "--no-reflogs"), "");
  assert.equal(await git("ls-tree", "-r", "--name-only", target), "a.txt\nb.txt\nseed.txt");
  for (const file of ["a.txt", "b.txt"]) assert.match(await git("show", `${target}:${file}`), /./);
  const failed = events.filter(
    (event) => event.type === "task.retried" || (event.type === "landing.turned" && event.failure),
  );
  assert.deepEqual(failed, []);
  assert.equal(await git("for-each-ref", "refs/skein/held"), "");
}

describe("git gc --prune=now in the middle of a run", () => {
  it("takes no candidate while its gate runs, nor the proofs", async () => {
    await using setting = await makeSetting({ files: FILES, script: SCRIPT });
    const gate = [`cd '${setting.repository.folder}' && ${COLLECT}`];
    const config = setting.config({ ...QUICK, gate, gateSandbox: "off" });
    const { end, target, events } = await runGoal(setting, config);
    assert.equal(closing(end), "done");
    await isWhole(setting, target, events);
  });

  it("takes nothing that was handed in and has to land, also if its branch was deleted", async () => {
    await using setting = await makeSetting({ files: FILES, script: SCRIPT });
    const watch = (event: Event) => {
      if (event.type !== "task.handed-off") return;
      meddle(setting, `${BRANCHES} | xargs git branch -q -D && ${COLLECT}`);
    };
    const config = setting.config({ ...QUICK, gate: "none" });
    const { end, target, events } = await runGoal(setting, config, { watch });
    assert.equal(closing(end), "done");
    await isWhole(setting, target, events);
  });

  it("takes nothing that a worker works on, also while somebody has put the target back", async () => {
    const command = [
      'cd "$(dirname "$(cat .git/objects/info/alternates)")"', // Goes to the git folder of the user's repository.
      "ref=$(git for-each-ref --format='%(refname)' 'refs/heads/skein/*/target')",
      "tip=$(git rev-parse $ref)",
      "git update-ref $ref main",
      COLLECT,
      "git update-ref $ref $tip",
    ].join(" && ");
    const b = writes("b.txt", "good\n", { do: "run", command: ["sh", "-c", command] });
    const work = { ...SCRIPT.work, b: [b] };
    await using setting = await makeSetting({ files: FILES, script: { ...SCRIPT, work } });
    const { end, target, events } = await runGoal(setting, setting.config({ ...QUICK, gate: "none" }));
    assert.equal(closing(end), "done");
    await isWhole(setting, target, events);
  });
});

describe("objects of a run that are missing when it goes on", () => {
  /** Stops a run when its task was handed off and has not landed. */
  async function handedIn(setting: Setting) {
    const config = setting.config({ ...QUICK, gate: "none" });
    const stopAt = (event: Event) => event.type === "task.handed-off";
    const { home } = await runGoal(setting, config, { stopAt });
    const { run } = home.record;
    const [branch = ""] = (
      await setting.repository.git("branch", "--list", `skein/${run}/task/*`, FORMAT)
    ).split("\n");
    return { home, config, run, branch };
  }

  const FORMAT = "--format=%(refname:short)";

  /** Removes the backup of objects, from which the newest objects would be put back. */
  const withoutShelf = ({ folder }: { readonly folder: string }) =>
    rm(path.join(folder, "shelf"), { recursive: true });

  for (const [what, damage] of [
    ["is gone", (id: string) => `rm -f ${id}`],
    ["is empty, as a power cut leaves it", (id: string) => `chmod u+w ${id} && : > ${id}`],
  ] as const)
    it(`an attempt whose commit ${what} is lost, is not counted against its task, and is made again`, async () => {
      await using setting = await makeSetting({ files: FILES, script: SCRIPT });
      const { home, config, run, branch } = await handedIn(setting);
      const id = await setting.repository.git("rev-parse", branch);
      meddle(setting, damage(`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`));
      await withoutShelf(home);
      const said: string[] = [];
      const options = {
        config,
        env: setting.env,
        watch: () => {},
        onRestored: (what: string) => said.push(what),
      };
      const live = await startRun(setting.project, home, options, AbortSignal.timeout(30_000));
      assert.ok(!hasFailed(live));
      assert.equal(closing(await live.ended), "done");
      assert.match(said.join("\n"), new RegExp(`^refs/heads/${branch} was removed`, "m"));
      const retried = (await eventsOf(home)).filter((event) => event.type === "task.retried");
      assert.deepEqual(
        retried.map(({ task: of, charge, attempt }) => [of, charge, attempt]),
        [["t.1", "lost", 1]],
      );
      const { git } = setting.repository;
      assert.equal(await git("fsck", "--no-dangling", "--no-reflogs"), "");
      assert.equal(await git("show", `skein/${run}/target:b.txt`), "good");
    });

  it("a ref that is empty is removed; a target that lacks something is not, and says what to do", async () => {
    await using setting = await makeSetting({ files: FILES, script: SCRIPT });
    const { home, config, run, branch } = await handedIn(setting);
    meddle(setting, `: > .git/refs/heads/${branch}`);
    const end = await drive(setting, home, config, { stopAt: (event) => event.type === "batch.landed" });
    assert.equal(end.is, "stopped");
    const { git } = setting.repository;
    assert.doesNotMatch(await git("for-each-ref", "--format=%(refname)"), new RegExp(branch));
    const tip = await git("rev-parse", `skein/${run}/target`);
    const tree = await git("rev-parse", `${tip}^{tree}`);
    meddle(setting, `rm -f .git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`);
    await withoutShelf(home);
    const live = await startRun(
      setting.project,
      home,
      { config, env: setting.env, watch: () => {} },
      AbortSignal.timeout(30_000),
    );
    assert.ok(hasFailed(live));
    assert.match(
      live.failure.message,
      new RegExp(`the target skein/${run}/target is lost: the log has it at ${tip}`),
    );
    assert.match(live.failure.next ?? "", /restore that commit .* skein run --base [0-9a-f]{40}$/);
    assert.equal(await git("rev-parse", `skein/${run}/target`), tip);
  });
});
