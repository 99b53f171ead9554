/** Tests what a run cannot start from: each refusal is clear, has its exit code, and changes nothing. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { type Elsewhere, type Ended, makePlace, type Place } from "./cli-place.ts";
import { ALONE, agentOf, bytesOf, COMPLETE, readOnly, smallDisk } from "./odd-place.ts";

const LIMIT = { timeout: 90_000 };

/** Afterwards every byte is the same, also in .git, and no file was added beside it, such as a state folder. */
async function refused(
  place: Place,
  command: (place: Place) => Promise<Ended>,
  expected: { readonly code: number; readonly says: RegExp; readonly tries?: RegExp },
): Promise<Ended> {
  const look = async () => [await bytesOf(place.repository.folder), await bytesOf(place.folder)];
  const before = await look();
  const ended = await command(place);
  assert.equal(ended.code, expected.code, ended.out + ended.err);
  assert.match(ended.err, expected.says);
  if (expected.tries) assert.match(ended.err, expected.tries);
  assert.doesNotMatch(ended.out + ended.err, /^ {4}at |node:internal|Error:/m, "a stack trace");
  assert.deepEqual(await look(), before);
  return ended;
}

const start = (place: Place, more: readonly string[] = [], elsewhere: Elsewhere = {}) =>
  place.with(elsewhere).skein("run", "x", "--agent", place.agent, ...ALONE, ...more);

describe("a run is refused, and nothing is changed", { concurrency: 2 }, () => {
  it("where there is no repository, no commit, or no folder", LIMIT, async () => {
    await using place = await makePlace();
    const [outside, empty] = ["outside", "empty"].map((name) => path.join(place.folder, name));
    await mkdir(outside!);
    await place.repository.git("init", "-q", empty!);
    const none = await bytesOf(empty!);
    const at = (folder: string) => (it: Place) => start(it, ["--repo", folder]);
    await refused(place, at(outside!), {
      code: 3,
      says: /outside is not in a git repository\ntry: .*git init/,
    });
    await refused(place, at(empty!), { code: 3, says: /empty has no commit\ntry: commit something first/ });
    await refused(place, at(path.join(place.folder, "nowhere")), {
      code: 3,
      says: /there is no folder .*nowhere/,
    });
    assert.deepEqual(await bytesOf(empty!), none);
    assert.deepEqual([...(await bytesOf(outside!))], []);
    assert.ok(!existsSync(place.state));
  });

  it("where git is missing, too old, or no git at all", LIMIT, async () => {
    await using place = await makePlace();
    const bins = await Promise.all(
      ["none", "old", "odd"].map(async (name) => {
        const folder = path.join(place.folder, `bin-${name}`);
        await mkdir(folder);
        return folder;
      }),
    );
    const [none, old, odd] = bins as [string, string, string];
    await agentOf({ folder: old }, "git", "echo git version 2.30.2");
    await agentOf({ folder: odd }, "git", "echo welcome to the machine");
    // A process of its own, because git is looked up on the PATH of the whole process.
    const by = (folder: string) => (it: Place) =>
      it.with({ env: { PATH: folder } }).start("run", "x", "--agent", it.agent, ...ALONE).ended;
    await refused(place, by(none), {
      code: 3,
      says: /git is not on the PATH/,
      tries: /try: install git 2\.38 or newer/,
    });
    await refused(place, by(old), {
      code: 3,
      says: /git 2\.30 is too old/,
      tries: /try: install git 2\.38 or newer/,
    });
    await refused(place, by(odd), { code: 3, says: /does not say its version: welcome/, tries: /2\.38/ });
  });

  it("where the state folder may only be read, or cannot be made", LIMIT, async () => {
    await using place = await makePlace();
    const locked = path.join(place.folder, "locked");
    await mkdir(locked);
    const file = path.join(place.folder, "file");
    await writeFile(file, "");
    const by = (state: string) => (it: Place) => start(it, [], { env: { SKEIN_STATE_DIR: state } });
    await refused(place, by(path.join(file, "state")), {
      code: 3,
      says: /a file is where a folder should be/,
      tries: /SKEIN_STATE_DIR/,
    });
    await refused(place, by("/proc/none"), {
      code: 3,
      says: /cannot be created in \/proc\/none/,
      tries: /SKEIN_STATE_DIR/,
    });
    await using held = await readOnly(locked);
    // For root in a container without mounts no folder is read-only. The two cases above are refused the same way.
    if (held)
      await refused(place, by(locked), {
        code: 3,
        says: /it may only be read/,
        tries: /make its folder writable, or set SKEIN_STATE_DIR/,
      });
    assert.deepEqual([...(await bytesOf(locked))], []);
  });

  it("where the repository may only be read, and no half of a run stays", LIMIT, async () => {
    await using place = await makePlace();
    await using held = await readOnly(place.repository.folder);
    // Without mounts, a branch of the user blocks the folder of Skein's branches, so that no ref can be made either.
    if (!held) await place.repository.git("branch", "skein");
    const [says, tries] = held
      ? [
          /the branch skein\/\S+\/target cannot be created: .*(?:unable to create|denied|[Rr]ead-only)/,
          /may be written/,
        ]
      : [/the branch skein is in the way/, /rename it/];
    await refused(place, (it) => start(it), { code: 3, says, tries });
    assert.deepEqual(JSON.parse((await place.skein("status", "--json")).out).runs, []);
  });

  it("where a branch of the user's is in the way of Skein's own", LIMIT, async () => {
    await using place = await makePlace();
    await place.repository.git("branch", "skein");
    await refused(place, (it) => start(it), {
      code: 3,
      says: /the branch skein prevents skein\/\S+\/target/,
      tries: /try: .*branchPrefix/,
    });
    const ran = await start(place, ["--set", "branchPrefix=mine/"]);
    assert.equal(ran.code, 0, ran.out + ran.err);
  });

  it("where the disk of the state folder is full", LIMIT, async () => {
    await using place = await makePlace();
    const disk = path.join(place.folder, "disk");
    await using held = await smallDisk(disk, 24);
    if (held) {
      const by = (it: Place) => start(it, [], { env: { SKEIN_STATE_DIR: path.join(disk, "state") } });
      await refused(place, by, {
        code: 3,
        says: /the disk is full/,
        tries: /try: free some space, then start it again$/m,
      });
      return;
    }
    // Without a disk of its own, a limit lets no file grow, which fails the same calls.
    const limited = await agentOf(place, "limited.sh", `ulimit -f 1; exec "$@"`);
    const skein = path.resolve(import.meta.dirname, "../../bin/skein");
    const args = [process.execPath, skein, "run", "x", "--agent", place.agent, ...ALONE];
    const env = { ...process.env, SKEIN_STATE_DIR: place.state };
    const by = () =>
      promisify(execFile)(limited, args, { cwd: place.repository.folder, env, timeout: 60_000 }).then(
        ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
        ({ code, stdout, stderr }) => ({ code: Number(code), out: String(stdout), err: String(stderr) }),
      );
    await refused(place, by, {
      code: 3,
      says: /may not grow further|disk/,
      tries: /, then start it again$/m,
    });
  });

  it("by a configuration with a mistake, whose line and key are named", LIMIT, async () => {
    await using place = await makePlace();
    const { write } = place.repository;
    const wrong = [
      ["# ours\n\nworkers: many\n", /skein\.yaml:3:\d+: workers must be/],
      ["timeout:\n  work: 1m\n  wrok: 3\n", /skein\.yaml:3:3: timeout\.wrok is not a key.*timeout\.work/],
      ["gate: [npm test\nworkers: 2\n", /skein\.yaml:\d+:\d+: is not valid YAML/],
      ["- a\n", /skein\.yaml:1:1: must contain keys/],
      ["timeout: {work: 0s}\n", /skein\.yaml:1:\d+: timeout\.work must be .* more than 0/],
      ["branchPrefix: '../x'\n", /skein\.yaml:1:\d+: branchPrefix .*cannot begin the name of a branch/],
    ] as const;
    for (const [text, says] of wrong) {
      await write({ "skein.yaml": text });
      await refused(place, (it) => start(it), { code: 3, says });
    }
    await write({ "skein.yaml": "workers: 2\n", "skein.yml": "workers: 2\n" });
    await refused(place, (it) => start(it), {
      code: 3,
      says: /there are both skein\.yaml and skein\.yml/,
      tries: /keep one/,
    });
    await write({ "skein.yaml": { link: "/nowhere" }, "skein.yml": null });
    await symlink("/dev/zero", path.join(place.repository.folder, "skein.yml"));
    await refused(place, (it) => start(it), { code: 3, says: /skein\.y/ });
    assert.ok(!existsSync(place.state));
  });

  it("without an agent that could be started, and it says what to do", LIMIT, async () => {
    await using place = await makePlace();
    const { skein } = place;
    const broken = await agentOf(place, "broken.sh", COMPLETE);
    await writeFile(broken, "#!/no/such/shell\n");
    const plain = path.join(place.folder, "plain.txt");
    await writeFile(plain, "text\n");
    const by = (agent: string) => () => skein("run", "x", "--agent", agent);
    await refused(place, () => skein("run", "x"), {
      code: 4,
      says: /no agent is configured/,
      tries: /try: name a program .*--agent .* or try skein demo/,
    });
    await refused(place, by("no-such-program"), {
      code: 4,
      says: /no-such-program was not found on the PATH/,
      tries: /try: /,
    });
    await refused(place, by("./nope.sh"), { code: 4, says: /nope\.sh was not found/ });
    await refused(place, by(broken), { code: 4, says: /the program in its first line is missing/ });
    await refused(place, by(plain), { code: 4, says: /plain\.txt is not executable\ntry: chmod \+x/ });
    await refused(place, () => skein("run", "x", "--agent", place.agent, "--planner", "none-such"), {
      code: 4,
      says: /none-such/,
    });
  });

  it("with a state folder inside the repository, or a relative one", LIMIT, async () => {
    await using place = await makePlace();
    const link = path.join(place.folder, "link");
    await symlink(place.repository.folder, link);
    const by = (state: string) => (it: Place) => start(it, [], { env: { SKEIN_STATE_DIR: state } });
    const says = /state folder .* is inside the repository/;
    await refused(place, by(path.join(place.repository.folder, "state")), {
      code: 3,
      says,
      tries: /set SKEIN_STATE_DIR/,
    });
    await refused(place, by(path.join(place.repository.folder, ".git", "skein")), { code: 3, says });
    await refused(place, by(path.join(link, "state")), { code: 3, says });
    await refused(place, by("state"), { code: 3, says: /SKEIN_STATE_DIR is not absolute/ });
  });

  it("from a base that does not exist, or that would be an option", LIMIT, async () => {
    await using place = await makePlace();
    const by = (base: string) => (it: Place) => start(it, ["--base", base]);
    await refused(place, by("nowhere"), {
      code: 3,
      says: /there is no commit "nowhere"/,
      tries: /git branch/,
    });
    await refused(place, by("HEAD^{tree}"), { code: 3, says: /there is no commit/ });
    await refused(place, (it) => start(it, ["--base=--help"]), {
      code: 3,
      says: /base must be the name of a branch/,
    });
  });

  it("with a goal that is empty, missing, too long, or no text", LIMIT, async () => {
    await using place = await makePlace();
    const { folder } = place;
    const goals = {
      "empty.md": " \n",
      "long.md": "x".repeat(1_000_001),
      "image.md": Buffer.from([0x89, 0x50, 0, 1, 2, 0xff]),
    };
    for (const [name, bytes] of Object.entries(goals)) await writeFile(path.join(folder, name), bytes);
    const by = (goal: string) => (it: Place) => it.skein("run", goal, "--agent", it.agent);
    await refused(place, by("  "), { code: 2, says: /the goal is empty/, tries: /say what should be done/ });
    await refused(place, by("missing.md"), { code: 2, says: /there is no file missing\.md/ });
    await refused(place, by(path.join(folder, "empty.md")), { code: 2, says: /empty\.md is empty/ });
    await refused(place, by(path.join(folder, "long.md")), { code: 2, says: /longer than 1 MB/ });
    await refused(place, by(path.join(folder, "image.md")), { code: 2, says: /image\.md is not text/ });
    await refused(place, by("/dev/zero"), { code: 2, says: /\/dev\/zero/ });
    await refused(place, by(folder), { code: 2, says: /is a folder, not a goal/ });
    assert.equal((await readFile(path.join(folder, "long.md"))).length, 1_000_001);
  });
});
