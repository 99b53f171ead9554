/** Tests that a run reports once, in plain words, that the user's branch moved while it ran or was stopped. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { closing, drive, eventsOf, makeSetting, runGoal } from "../support/live-runs.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { plans, task, writes } from "../support/scripts.ts";
import { makePlace } from "./cli-place.ts";

const DONE = { answer: { scratchpad: "", tasks: [], done: true } };
const movesIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === "base.moved" ? [event.commit] : []));
const checksIn = (events: readonly Event[]) =>
  events.filter((event) => event.type === "job.started" && event.job.kind === "check").length;

const setting = (...ids: readonly string[]) =>
  makeSetting({
    files: { "README.md": "x\n" },
    script: {
      plans: { t: [...ids.map((id) => plans(task(id))), DONE] },
      work: Object.fromEntries(ids.map((id) => [id, [writes(`${id}.txt`)]])),
    },
  });

/** Runs git synchronously, so that the engine in this process sees nothing until git has ended. */
const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: folder, env: plainEnvironment(), encoding: "utf8" }).trim();
const commit = (folder: string): string => {
  git(folder, "commit", "-q", "--allow-empty", "-m", "of a person");
  return git(folder, "rev-parse", "HEAD");
};

/**
 * Makes a gate that blocks on trees with `file` until `goOn` is called. It waits on a named pipe, which the gate's
 * sandbox does not have.
 */
function heldGate(folder: string, file: string) {
  const [pipe, mark] = [path.join(folder, "pipe"), path.join(folder, "went on")];
  execFileSync("mkfifo", [pipe]);
  // The pipe is opened for reading and writing, so that no end waits for the other.
  const end = openSync(pipe, constants.O_RDWR);
  return {
    gate: `test ! -e ${file} || test -e '${mark}' || { read word < '${pipe}' && touch '${mark}'; }`,
    goOn: () => void writeSync(end, "go\n"),
    [Symbol.dispose]: () => closeSync(end),
  };
}

describe("a base that somebody moves", () => {
  it("while a run is live, is heard once", async () => {
    await using place = await setting("a");
    const { repository, folder } = place;
    using held = heldGate(folder, "a.txt");
    let moved = "";
    const { end, events } = await runGoal(place, place.config({ gate: [held.gate], gateSandbox: "off" }), {
      watch: (event) => {
        if (event.type === "job.started" && event.job.kind === "land" && moved === "")
          moved = commit(repository.folder);
        if (event.type === "base.moved") held.goOn();
      },
    });
    assert.equal(closing(end), "done");
    assert.deepEqual(movesIn(events), [moved]);
  });

  it("a hundred times while a run is live, does not have the target gated a hundred times", async () => {
    await using place = await setting("a", "b", "c");
    const { repository } = place;
    const { end, events } = await runGoal(place, place.config({ gate: ["true"] }), {
      watch: () => {
        for (let i = 0; i < 5; i += 1) commit(repository.folder);
      },
    });
    assert.equal(closing(end), "done");
    const made = Number(git(repository.folder, "rev-list", "--count", "HEAD"));
    assert.ok(made > 100, `${made}`);
    assert.equal(movesIn(events).length, 1, "the next would be heard a minute later");
    assert.ok(checksIn(events) <= 4, `${checksIn(events)} looks at the target`);
  });

  it("while nobody was at it, is heard when the run goes on, and not again", async () => {
    await using place = await setting("a", "b");
    const { repository } = place;
    const config = place.config({ gate: ["true"] });
    const landed = ({ type }: Event) => type === "batch.landed";
    const { home } = await runGoal(place, config, { stopAt: landed });
    const moved = commit(repository.folder);
    assert.equal(
      (await drive(place, home, config, { stopAt: ({ type }) => type === "base.moved" })).is,
      "stopped",
    );
    assert.equal(closing(await drive(place, home, config)), "done");
    assert.deepEqual(movesIn(await eventsOf(home)), [moved]);
  });

  it("is told in plain words, and no more once it is delivered", async () => {
    await using place = await makePlace({ files: { "README.md": "# here\n" } });
    const { repository } = place;
    using held = heldGate(place.folder, "t.1.txt");
    const live = place.start(
      ...["run", "write two files", "--agent", place.agent],
      ...["--gate", held.gate, "--set", "gateSandbox=off"],
    );
    await live.says("Running the gate: one");
    const moved = commit(repository.folder);
    const words = `moved to ${moved.slice(0, 10)}`;
    await live.says(`The base branch ${words}; skein deliver will merge it and run the gate first`);
    const [run = ""] = git(
      repository.folder,
      "for-each-ref",
      "--format=%(refname:lstrip=3)",
      "refs/heads/skein",
    )
      .split("\n")
      .map((name) => name.split("/")[0]!);
    assert.match((await place.skein("show", run)).out, new RegExp(`\nmain has ${words}, by 1 commit that`));
    held.goOn();
    assert.equal((await live.ended).code, 0);
    assert.match(
      (await place.skein("status", run)).out,
      new RegExp(`\nbase +main has ${words}, by 1 commit that`),
    );
    assert.equal(JSON.parse((await place.skein("status", run, "--json")).out).baseMoved.commit, moved);
    const delivered = await place.skein("deliver", run, "--into-checkout");
    assert.equal(delivered.code, 0, delivered.err);
    assert.doesNotMatch((await place.skein("show", run)).out, /has moved/);
    assert.ok(existsSync(path.join(repository.folder, "t.1.txt")));
  });
});
