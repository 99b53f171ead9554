/** Tests runs in folders: the contract, damaged folders, locks and full disks. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { FolderRuns } from "../../src/adapters/runs/folder-runs.ts";
import { isRunName, newRunName } from "../../src/adapters/runs/run-record.ts";
import { stateFolderFor } from "../../src/adapters/runs/state-folder.ts";
import { hasFailed } from "../../src/core/result.ts";
import { LogChild } from "../support/children.ts";
import { newFolder } from "../support/folders.ts";
import { record, refusal, runsContract, worked } from "./runs.ts";

runsContract("in folders", () => {
  const folder = newFolder();
  return () => new FolderRuns({ folder });
});

describe("a run in a folder", () => {
  const made = async () => {
    const folder = path.join(newFolder(), "state");
    const runs = new FolderRuns({ folder });
    const home = worked(await runs.create(record("r1")));
    return { folder, runs, home, file: path.join(home.folder, "run.json") };
  };

  it("is nobody else's to read, and leaves no drafts", async () => {
    const { folder, home } = await made();
    for (const place of [folder, path.join(folder, "runs"), home.folder])
      assert.equal(statSync(place).mode & 0o777, 0o700, place);
    assert.deepEqual(readdirSync(path.join(folder, "runs")), ["r1"]);
    assert.deepEqual(readdirSync(home.folder).sort(), ["events.db", "run.json"]);
  });

  const broken: readonly [string, (text: string) => string, RegExp][] = [
    ["cut off", (text) => text.slice(0, 30), /damaged.*run\.json: no JSON/],
    ["a list", () => "[]", /damaged.*no object/],
    ["without a goal", (text) => text.replace('"goal"', '"gaol"'), /damaged.*"goal" is missing/],
    [
      "without a time",
      (text) => text.replace('"createdAt": 1', '"createdAt": "1"'),
      /"createdAt" is missing/,
    ],
    ["without settings", (text) => text.replace('"settings"', '"settngs"'), /"settings" is missing/],
    ["without a format", (text) => text.replace('"format"', '"f"'), /no format number/],
    ["of another run", (text) => text.replace('"run": "r1"', '"run": "r2"'), /another run, "r2"/],
    [
      "of a newer Skein",
      (text) => text.replace('"format": 1', '"format": 2'),
      /created by a newer Skein.*format 2/,
    ],
  ];
  for (const [what, change, message] of broken)
    it(`whose record is ${what} is refused in words, and listed as a failure`, async () => {
      const { runs, file } = await made();
      worked(await runs.create(record("r2")));
      writeFileSync(file, change(readFileSync(file, "utf8")));
      assert.match(refusal(await runs.open("r1")).message, message);
      const [first, second] = await runs.list();
      assert.deepEqual(first, record("r2"));
      assert.match(refusal(second!).message, message);
    });

  it("whose record or log is gone says so, with the place", async () => {
    const { runs, home, file } = await made();
    rmSync(path.join(home.folder, "events.db"));
    assert.match(refusal(await runs.open("r1")).message, /the log of run r1 is gone: .*events\.db/);
    rmSync(file);
    assert.match(refusal(await runs.open("r1")).message, /record of run r1 cannot be read: .*run\.json/);
  });

  it("cannot be made where a file is in the way, and says so", async () => {
    const folder = path.join(newFolder(), "file");
    writeFileSync(folder, "");
    assert.match(
      refusalMessage(await new FolderRuns({ folder }).create(record("r1"))),
      /cannot be created in .*file/,
    );
    assert.equal((await new FolderRuns({ folder }).list()).filter(hasFailed).length, 1);
  });

  it("is owned by nobody although an owner was written who is gone", async () => {
    const { home } = await made();
    const lock = worked(await home.lock());
    const left = readFileSync(path.join(home.folder, "owner.json"), "utf8");
    await lock.release();
    writeFileSync(path.join(home.folder, "owner.json"), left);
    assert.equal(await home.owner(), undefined);
    await worked(await home.lock()).release();
  });
});

describe("the lock of a run", () => {
  it("keeps other processes out, names its holder, and is free right after that was killed", async () => {
    const folder = newFolder();
    const home = worked(await new FolderRuns({ folder }).create(record("r1")));
    for (let round = 0; round < 3; round += 1) {
      await using child = new LogChild(["lock", folder]);
      assert.equal(await child.next(), "locked");
      assert.equal((await home.owner())?.pid, child.process.pid);
      const { message } = refusal(await home.lock());
      assert.match(message, new RegExp(`process ${child.process.pid}, since `));
      await child.kill();
      assert.equal(await home.owner(), undefined);
      await worked(await home.lock()).release();
    }
  });

  it("is not given to a second process while this one has it", async () => {
    const folder = newFolder();
    const home = worked(await new FolderRuns({ folder }).create(record("r1")));
    const lock = worked(await home.lock());
    await home.owner(); // Asking must not free the lock: closing a file can drop the locks of a process.
    await using child = new LogChild(["lock", folder]);
    const { failure } = (await child.next()) as { failure: { message: string } };
    assert.match(failure.message, new RegExp(`process ${process.pid}, since `));
    await child.kill();
    await lock.release();
  });
});

describe("a run whose disk turns read-only", () => {
  it("is let go all the same, and can be locked again", async () => {
    const folder = newFolder();
    const home = worked(await new FolderRuns({ folder }).create(record("r1")));
    const lock = worked(await home.lock());
    const owner = path.join(home.folder, "owner.json");
    rmSync(owner);
    mkdirSync(owner); // A folder cannot be removed like a file, either.
    await lock.release();
    assert.equal(await home.owner(), undefined);
    rmSync(owner, { recursive: true });
    await worked(await home.lock()).release();
  });

  /** Makes its folder read-only, in a process that can mount for itself alone. Open files can still be written. */
  const SOURCE = `
    import { execFileSync } from "node:child_process";
    const { FolderRuns } = await import(${JSON.stringify(import.meta.resolve("../../src/adapters/runs/folder-runs.ts"))});
    const [folder, record] = process.argv.slice(1);
    const home = await new FolderRuns({ folder }).create(JSON.parse(record));
    const [released, discarded] = [await home.lock(), await (await new FolderRuns({ folder }).create({ ...JSON.parse(record), run: "r2" })).lock()];
    execFileSync("sh", ["-c", 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"', "sh", folder]);
    await released.release();
    await discarded.discard();
    const large = "x".repeat(500_000); // More than a file may hold here, which is an error of the disk, too.
    const written = await home.log.append(0, [{ type: "run.steered", message: large, at: 1 }]);
    console.log(JSON.stringify([await home.lock(), written].map((one) => one.failure?.message ?? one)));
  `;

  it("really: says so where it is locked or written next, and nowhere throws", async () => {
    const folder = newFolder();
    const bind = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"';
    if (spawnSync("unshare", ["-rm", "sh", "-c", bind, "sh", folder]).status !== 0) return; // Mounts are not allowed.
    const command = 'ulimit -f 400; exec unshare -rm "$@"';
    const node = [
      process.execPath,
      "--input-type=module",
      "-e",
      SOURCE,
      folder,
      JSON.stringify(record("r1")),
    ];
    const { stdout, stderr } = spawnSync("sh", ["-c", command, "sh", ...node], { encoding: "utf8" });
    assert.equal(stderr.replaceAll(/\(node:\d+\) ExperimentalWarning.*\n.*\n/g, ""), "");
    const [locked, written] = JSON.parse(stdout) as [string, string];
    assert.match(locked, /^run r1 cannot be locked: .*lock\.db: it may only be read/);
    assert.match(written, /events\.db cannot be written: it may only be read/);
  });
});

describe("the owner of a run", () => {
  it("is never a stranger: neither one with the number of somebody else, nor one who is not here", async () => {
    const folder = newFolder();
    const home = worked(await new FolderRuns({ folder }).create(record("r1")));
    await using child = new LogChild(["lock", folder]);
    assert.equal(await child.next(), "locked");
    const file = path.join(home.folder, "owner.json");
    const owner = JSON.parse(readFileSync(file, "utf8")) as { pid: number; since: number; started: string };
    const strangers = [
      { ...owner, pid: process.pid },
      { ...owner, started: "1" },
      { ...owner, pid: 2 ** 31 },
      { pid: 2 ** 31, since: owner.since },
    ];
    for (const stranger of strangers) {
      writeFileSync(file, JSON.stringify(stranger));
      assert.equal(await home.owner(), undefined);
      assert.match(refusal(await home.lock()).message, /another process, which cannot be seen from here/);
    }
    writeFileSync(file, JSON.stringify(owner));
    assert.equal((await home.owner())?.pid, child.process.pid);
    await child.kill();
  });
});

const refusalMessage = (result: object) => (hasFailed(result) ? result.failure.message : "it worked");

describe("the name of a new run", () => {
  it("is the day and four letters by chance, and fits", () => {
    const name = newRunName(new Date(2026, 0, 5, 12), () => 0.999_999);
    assert.match(name, /^0105-[a-z0-9]{4}$/);
    assert.ok(isRunName(name));
    assert.notEqual(
      name,
      newRunName(new Date(2026, 0, 5, 12), () => 0),
    );
    assert.ok(newRunName(new Date(2026, 0, 5), Math.random) < newRunName(new Date(2026, 10, 4), Math.random));
  });

  it("seldom comes twice", () => {
    const now = new Date(2026, 10, 15);
    const names = new Set(Array.from({ length: 50 }, () => newRunName(now, Math.random)));
    assert.ok(names.size >= 49, `${names.size} of 50`);
  });
});

describe("the state folder", () => {
  const repository = (name = "My Project") => {
    const root = newFolder();
    const git = path.join(root, name, ".git");
    mkdirSync(git, { recursive: true });
    return { root, git, tree: path.dirname(git) };
  };
  const folderOf = (...args: Parameters<typeof stateFolderFor>) => worked(stateFolderFor(...args)).folder;

  it("is below SKEIN_STATE_DIR, else XDG_STATE_HOME, else the home folder; an empty one counts as unset", () => {
    const { git } = repository();
    const env = { SKEIN_STATE_DIR: "/a", XDG_STATE_HOME: "/b", HOME: "/c" };
    assert.match(folderOf(git, env), /^\/a\/my-project-[0-9a-f]{12}$/);
    assert.match(folderOf(git, { ...env, SKEIN_STATE_DIR: "" }), /^\/b\/skein\/my-project-/);
    for (const xdg of ["", "relative", undefined])
      assert.match(
        folderOf(git, { HOME: "/c", XDG_STATE_HOME: xdg }),
        /^\/c\/\.local\/state\/skein\/my-project-/,
      );
  });

  it("is one per repository, whatever way leads to it", () => {
    const [one, other] = [repository(), repository()];
    const env = { SKEIN_STATE_DIR: "/a" };
    symlinkSync(one.tree, path.join(one.root, "link"));
    assert.equal(folderOf(one.git, env), folderOf(path.join(one.root, "link", ".git"), env));
    assert.notEqual(folderOf(one.git, env), folderOf(other.git, env));
  });

  it("may not be relative", () => {
    assert.match(
      refusal(stateFolderFor(repository().git, { SKEIN_STATE_DIR: "state" })).message,
      /not absolute: "state"/,
    );
  });

  it("may not be inside the repository, its git folder or the work tree that is used", () => {
    const { root, git, tree } = repository();
    const linked = path.join(root, "linked");
    mkdirSync(linked);
    symlinkSync(tree, path.join(root, "link"));
    for (const inside of [
      tree,
      path.join(tree, "a", "b"),
      path.join(git, "skein"),
      path.join(root, "link", "x"),
    ]) {
      const { message, next } = refusal(stateFolderFor(git, { SKEIN_STATE_DIR: inside }));
      assert.match(message, /is inside the repository/);
      assert.match(next, /SKEIN_STATE_DIR/);
    }
    const place = { SKEIN_STATE_DIR: path.join(linked, "state") };
    refusal(stateFolderFor(git, place, linked));
    worked(stateFolderFor(git, place));
    worked(stateFolderFor(git, { SKEIN_STATE_DIR: `${tree}-state` }));
  });
});
