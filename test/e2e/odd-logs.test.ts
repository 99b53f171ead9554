/** Tests event logs with a second writer, with damage or of a newer Skein, and a disk that fills up during a run. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { firstLine, makePipe } from "../support/pipes.ts";
import { makeBarrier, makePlace, type Place } from "./cli-place.ts";
import { ALONE, agentOf, bytesOf, COMPLETE, eventsOf, runOf, smallDisk } from "./odd-place.ts";

const LIMIT = { timeout: 90_000 };

/** Makes a run that was stopped in the middle of its second task, and gives the folder that it is kept in. */
async function stoppedRun(place: Place): Promise<{ readonly run: string; readonly home: string }> {
  const barrier = await makeBarrier(place.folder);
  const agent = await agentOf(
    place,
    "slow.sh",
    `[ "$SKEIN_TASK" != t.2 ] || ${barrier.wait}\nexec '${place.agent}'`,
  );
  const live = place.start("run", "write two files", "--agent", agent, "--gate", "none");
  await live.says("Worker started on two");
  live.kill("SIGKILL");
  const { out } = await live.ended;
  await barrier.open();
  return { run: runOf(out), home: /^kept in (.*)$/m.exec(out)![1]! };
}

const edit = (file: string, sql: string) => {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA wal_checkpoint(TRUNCATE); ${sql}`);
  db.close();
};

/** Without SQLite's own side files, which reading creates. */
const bytesIn = async (home: string) =>
  [...(await bytesOf(home))].filter(([name]) => !/-(?:wal|shm)$/.test(name));

describe("the log of a run", { concurrency: 2 }, () => {
  it(
    "has one writer: a second one is refused with the number of the first, which goes on undisturbed",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const barrier = await makeBarrier(place.folder);
      const started = makePipe(place.folder, "started");
      const work = `echo > '${started}'; ${barrier.wait}\necho x > x.txt; ${COMPLETE}`;
      const agent = await agentOf(place, "slow.sh", work);
      const live = place.start("run", "x", "--agent", agent, ...ALONE);
      // The workspace's ref is made between the start of the job and the start of the agent.
      await firstLine(started, live.ended);
      const { run, pid } = JSON.parse((await place.skein("status", "--json")).out).runs[0];
      assert.equal(pid, live.pid);
      const refs = await place.repository.git("for-each-ref");
      for (const args of [["resume", run], ["resume"]]) {
        const second = await place.skein(...args);
        assert.equal(second.code, 1, second.out + second.err);
        assert.match(second.err, new RegExp(`is running in process ${live.pid}; nothing was changed`));
      }
      assert.equal(await place.repository.git("for-each-ref"), refs);
      await barrier.open();
      assert.equal((await live.ended).code, 0);
      const ended = (await eventsOf(place, run)).filter(({ type }) => type === "job.ended");
      assert.deepEqual(
        ended.map((event) => "how" in event && event.how),
        ["answered", "answered", "answered", "answered", "answered"],
      );
    },
  );

  it(
    "is refused where it is corrupt, cut off, damaged inside or newer: place and reason, and no byte is changed",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const { run, home } = await stoppedRun(place);
      const file = path.join(home, "events.db");
      edit(file, "");
      const good = path.join(place.folder, "good.db");
      await copyFile(file, good);
      const size = (await readFile(good)).length;
      const damages: readonly (readonly [string, () => Promise<unknown>, RegExp])[] = [
        ["corrupt", () => writeFile(file, Buffer.alloc(size, "junk ")), /damaged, or no database/],
        ["empty", () => truncate(file, 0), /not a log of Skein, or it was truncated/],
        ["cut off", () => truncate(file, size - 4096), /damaged/],
        [
          "newer",
          async () => edit(file, "PRAGMA user_version = 99"),
          /newer Skein \(format 99, this one knows 1\)/,
        ],
        [
          "with newer events",
          async () => edit(file, "UPDATE event SET version = 99 WHERE seq = 3"),
          /event 3 .*newer/,
        ],
        [
          "with an event that is no JSON",
          async () => edit(file, "UPDATE event SET body = '{' WHERE seq = 4"),
          /event 4 is not JSON/,
        ],
        ["with a hole", async () => edit(file, "DELETE FROM event WHERE seq = 2"), /event 2 is missing/],
        ["gone", () => rm(file), /the log of run \S+ is gone/],
      ];
      for (const [what, damage, reason] of damages) {
        await damage();
        const before = [await bytesIn(home), await place.repository.git("for-each-ref")];
        for (const verb of what === "cut off"
          ? ["resume", "show", "logs", "deliver", "status"]
          : ["resume"]) {
          const refused = await place.skein(verb, run);
          assert.equal(refused.code, 3, `${verb} of a log that is ${what}: ${refused.out}${refused.err}`);
          assert.match(refused.err, reason);
          assert.ok(refused.err.includes("events.db"), refused.err);
          assert.doesNotMatch(refused.err, /node:internal|^ {4}at /m);
        }
        assert.deepEqual([await bytesIn(home), await place.repository.git("for-each-ref")], before, what);
        await rm(file, { force: true });
        await copyFile(good, file);
      }
      const resumed = await place.skein("resume", run);
      assert.equal(resumed.code, 0, resumed.out + resumed.err);
      assert.match(resumed.out, /2 of 2 tasks done/);
    },
  );
});

describe("a worker that fills the disk itself", () => {
  it(
    "is named by its workspace, also to who resumes; with room made there, the run goes on and leaves nothing",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const disk = path.join(place.folder, "disk");
      await using held = await smallDisk(disk, 16_000);
      const { skein, start } = place.with({ env: { SKEIN_STATE_DIR: path.join(disk, "state") } });
      const once = path.join(place.folder, "once");
      // Where no disk can be mounted, the disk never fills up, and the run just ends.
      const fill = `[ -e '${once}' ] || { : > '${once}'; head -c ${held ? 64_000_000 : 0} /dev/zero > ballast 2>/dev/null; }`;
      const agent = await agentOf(
        place,
        "fill.sh",
        `echo "by $SKEIN_ATTEMPT" > work.txt\n${fill}\n${COMPLETE}`,
      );
      const ended = await start("run", "x", "--agent", agent, ...ALONE).ended;
      if (!held) return assert.equal(ended.code, 0, ended.out + ended.err);
      const named = /the disk is full; 1[67] MB are in the workspace (\S+\/workspaces\/agent-1\/tree) /;
      const folder = named.exec(ended.err)?.[1] ?? assert.fail(ended.out + ended.err);
      const run = runOf(ended.out);
      const again = await skein("resume", run);
      assert.equal(again.code, 3, again.out + again.err);
      assert.match(again.err, named);
      await rm(path.join(folder, "ballast"));
      const resumed = await skein("resume", run);
      assert.equal(resumed.code, 0, resumed.out + resumed.err);
      assert.ok(!existsSync(path.join(folder, "..", "..")), "its workspaces are gone");
      const { git } = place.repository;
      const landed = await git("show", `skein/${run}/target:work.txt`);
      const kept = landed === "by 1" ? landed : await git("show", `refs/skein/salvage/${run}/t.1:work.txt`);
      assert.equal(kept, "by 1");
    },
  );
});

describe("a disk that fills up in the middle of a run", () => {
  it(
    "stops the run with a clear message, loses nothing, and the run goes on once there is room",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const disk = path.join(place.folder, "disk");
      await mkdir(disk);
      await using held = await smallDisk(disk, 16_000);
      const ballast = path.join(disk, "ballast");
      const { skein, start } = place.with({ env: { SKEIN_STATE_DIR: path.join(disk, "state") } });
      const fill = held
        ? `head -c 64000000 /dev/zero > '${ballast}' 2>/dev/null`
        : // Without a mounted disk, a limit lets no file of the engine grow from now on.
          `prlimit --fsize=0 --pid $(cat '${ballast}')`;
      const agent = await agentOf(
        place,
        "fill.sh",
        `echo "by $SKEIN_ATTEMPT" > work.txt\n[ -e '${place.folder}/once' ] || { : > '${place.folder}/once'; ${fill}; }\n${COMPLETE}`,
      );
      const live = start("run", "x", "--agent", agent, ...ALONE);
      if (!held) await writeFile(ballast, String(live.pid));
      const ended = await live.ended;
      assert.equal(ended.code, 1, ended.out + ended.err);
      assert.match(ended.err, /cannot be written: (?:the disk is full|a file may not grow|the disk reports)/);
      assert.match(ended.err, /try: .*skein resume/);
      await rm(ballast);
      const run = runOf(ended.out);
      const resumed = await skein("resume", run);
      assert.equal(resumed.code, 0, resumed.out + resumed.err);
      assert.match(resumed.out, new RegExp(`Run ${run} is done: 1 of 1 task done`));
      // Only the workspace, which was on that disk, had the attempt's work: the work has landed, or it was kept.
      const { git } = place.repository;
      const landed = await git("show", `skein/${run}/target:work.txt`);
      const kept = landed === "by 1" ? landed : await git("show", `refs/skein/salvage/${run}/t.1:work.txt`);
      assert.equal(kept, "by 1");
    },
  );
});

describe("a disk that turns read-only in the middle of a run", () => {
  it(
    "stops the run with exit code 3 and what to try, and the run goes on once it can be written",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const state = path.join(place.folder, "disk");
      await mkdir(state);
      if (!isMountable(state)) return; // Only root may mount.
      const { skein, start } = place.with({ env: { SKEIN_STATE_DIR: state } });
      const once = path.join(place.folder, "once");
      const pid = path.join(place.folder, "pid");
      // Open files can still be written after the remount, so a limit lets no file of the engine grow either.
      const turn = `mount --bind '${state}' '${state}'; mount -o remount,bind,ro '${state}'; prlimit --fsize=0 --pid $(cat '${pid}')`;
      const script = `echo work > work.txt\n[ -e '${once}' ] || { : > '${once}'; ${turn}; }\n${COMPLETE}`;
      const agent = await agentOf(place, "turn.sh", script);
      const live = start("run", "x", "--agent", agent, ...ALONE);
      await writeFile(pid, String(live.pid));
      const ended = await live.ended;
      assert.equal(spawnSync("umount", [state]).status, 0);
      assert.equal(ended.code, 3, ended.out + ended.err);
      assert.match(
        ended.err,
        /^skein: .*events\.db cannot be written: it may only be read .*\ntry: make its folder writable/,
      );
      assert.doesNotMatch(ended.err, /node:internal|^ {4}at /m);
      const resumed = await skein("resume", runOf(ended.out));
      assert.equal(resumed.code, 0, resumed.out + resumed.err);
    },
  );
});

const isMountable = (folder: string): boolean =>
  spawnSync("mount", ["--bind", folder, folder]).status === 0 && spawnSync("umount", [folder]).status === 0;
