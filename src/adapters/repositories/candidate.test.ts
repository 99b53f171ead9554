/** Tests candidates: conflicts, merges without conflict, commits, and the strategies rebase and fast-forward. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { failed, makeWorld, member, quiet, RUN, type World } from "../../../test/contracts/repository.ts";
import { atHome, type Files } from "../../../test/support/repositories.ts";
import type { Wanted } from "../../ports/repository.ts";
import { GitRepository } from "./git.ts";

const open = (folder: string) => new GitRepository({ folder });

/** Merges a branch with some changes into a target with others; returns the conflicts. */
async function meet(
  before: Files,
  theirs: Files,
  ours: Files,
  strategy: Wanted["strategy"] = "merge-commit",
) {
  await using world = await makeWorld(open, before);
  await world.at.branch("work", theirs);
  const onto = await world.at.commit(ours);
  const made = await world.candidate([member("t.1", "work")], { onto, strategy });
  const names = made.commit && (await world.at.git("ls-tree", "-r", "-z", "--name-only", made.commit));
  return { conflicts: made.conflicts, files: names?.split("\0").filter((name) => name !== "") };
}

const against = (...files: readonly string[]) => [{ task: "t.1", files, against: "target" }];

describe("a conflict", () => {
  it("is found in what both changed", async () => {
    const met = await meet({ "ä b.txt": "1\n" }, { "ä b.txt": "2\n" }, { "ä b.txt": "3\n" });
    assert.deepEqual(met, { conflicts: against("ä b.txt"), files: undefined });
  });

  it("is found where one changed what the other deleted, either way", async () => {
    const files = { "a.txt": "1\n", "b.txt": "1\n", "keep.txt": "k\n" };
    const met = await meet(files, { "a.txt": "2\n", "b.txt": null }, { "a.txt": null, "b.txt": "2\n" });
    assert.deepEqual(met.conflicts, against("a.txt", "b.txt"));
  });

  it("is found where both renamed one file", async () => {
    const text = "a long enough text\nto be recognised\nas the same\n";
    const met = await meet(
      { "a.txt": text },
      { "a.txt": null, "b.txt": text },
      { "a.txt": null, "c.txt": text },
    );
    assert.deepEqual(met.conflicts, against("a.txt", "b.txt", "c.txt"));
  });

  it("is found where both added one name", async () => {
    const met = await meet({ "a.txt": "1\n" }, { "new.txt": "1\n" }, { "new.txt": "2\n" });
    assert.deepEqual(met.conflicts, against("new.txt"));
  });

  it("is found in a binary file", async () => {
    const bytes = (last: number) => new Uint8Array([0, 1, 2, 0, last]);
    const met = await meet({ "a.png": bytes(1) }, { "a.png": bytes(2) }, { "a.png": bytes(3) });
    assert.deepEqual(met.conflicts, against("a.png"));
  });

  it("is found where one made a file and the other a folder of that name", async () => {
    const met = await meet(
      { "keep.txt": "k\n" },
      { thing: "a file\n" },
      { "thing/inside.txt": "in a folder\n" },
    );
    assert.equal(met.files, undefined);
    assert.match(met.conflicts[0]!.files.join(" "), /thing/);
  });

  it("is found between symbolic links", async () => {
    const met = await meet({ "keep.txt": "k\n" }, { l: { link: "one" } }, { l: { link: "two" } });
    assert.equal(met.conflicts[0]?.against, "target");
  });

  it("is found where a folder that one renamed in two got a new file of the other", async () => {
    const texts = ["first", "second", "third", "fourth"].map((word) => `${word}\nand much more of ${word}\n`);
    const [a, b, c, d] = texts;
    const before = { "old/a": a!, "old/b": b!, "old/c": c!, "old/d": d! };
    const gone = { "old/a": null, "old/b": null, "old/c": null, "old/d": null };
    const ours = { ...gone, "x/a": a!, "x/b": b!, "y/c": c!, "y/d": d! };
    const met = await meet(before, { "old/new": "new\n" }, ours);
    assert.deepEqual(met, { conflicts: against("old"), files: undefined });
  });

  it("is found between two states of a submodule, which is not entered", async () => {
    await using world = await makeWorld(open);
    const set = async (branch: string, id: string) => {
      await world.at.git("checkout", "-q", "-b", branch, world.base);
      await world.at.git("update-index", "--add", "--cacheinfo", `160000,${id.repeat(40)},lib`);
      await world.at.git("commit", "-q", "-m", branch);
      return world.at.git("rev-parse", "HEAD");
    };
    await set("work", "1");
    const onto = await set("other", "2");
    const made = await world.candidate([member("t.1", "work")], { onto });
    assert.deepEqual(made.conflicts, against("lib"));
  });

  it("is found by every strategy", async () => {
    for (const strategy of ["rebase", "fast-forward"] as const) {
      const met = await meet({ "a.txt": "1\n" }, { "a.txt": "2\n" }, { "a.txt": "3\n" }, strategy);
      assert.deepEqual(met, { conflicts: against("a.txt"), files: undefined });
    }
  });
});

describe("what merges by itself", () => {
  it("follows a rename of the target's", async () => {
    const text = "one\ntwo\nthree\nfour\n";
    const met = await meet({ "a.txt": text }, { "a.txt": `${text}five\n` }, { "a.txt": null, "b.txt": text });
    assert.deepEqual(met, { conflicts: [], files: ["b.txt"] });
  });

  it("takes a change of mode, a link and a name with strange signs", async () => {
    await using world = await makeWorld(open, { "run.sh": "echo\n" });
    const name = 'a "b"\t-c.txt';
    const files = {
      "run.sh": { text: "echo\n", executable: true },
      l: { link: "run.sh" },
      [name]: "x\n",
    } as const;
    await world.at.branch("work", files);
    const onto = await world.at.commit({ "other.txt": "o\n" });
    const { commit } = await world.candidate([member("t.1", "work")], { onto });
    const listed = await world.at.git("ls-tree", "-r", "-z", commit!);
    assert.match(listed, /100755 blob \w+\trun\.sh/);
    assert.match(listed, /120000 blob \w+\tl\0/);
    assert.ok(listed.includes(`\t${name}\0`));
  });

  it("does not ask the attributes in the user's files, nor a program that they name", async () => {
    await using world = await makeWorld(open, { "a.txt": "1\n" });
    await world.at.git("config", "merge.mine.driver", "touch ran; true");
    await world.at.branch("work", { "a.txt": "2\n" });
    const onto = await world.at.commit({ "a.txt": "3\n" });
    await world.at.write({ ".gitattributes": "*.txt merge=mine\n" });
    const made = await world.candidate([member("t.1", "work")], { onto });
    assert.deepEqual(made.conflicts, against("a.txt"));
    assert.equal(await world.at.git("status", "--porcelain"), "?? .gitattributes");
  });

  it("does as always where the user's settings forbid to happen upon a git folder, or name attributes", async () => {
    await using world = await makeWorld(open, { "a.txt": "1\n" });
    await world.at.branch("work", { "a.txt": "2\n" });
    const onto = await world.at.commit({ "a.txt": "3\n" });
    const home = join(world.at.folder, "..");
    await writeFile(join(home, "attributes"), "* merge=union\n");
    const core = `[core]\n\tattributesFile = ${home}/attributes\n`;
    await writeFile(join(home, ".gitconfig"), `[safe]\n\tbareRepository = explicit\n${core}`);
    const made = await atHome(home, () => world.candidate([member("t.1", "work")], { onto }));
    assert.deepEqual(made.conflicts, against("a.txt"));
  });

  it("merges a history of the worker's own, and finds conflicts in it", async () => {
    await using world = await makeWorld(open);
    await world.at.git("checkout", "-q", "--orphan", "work");
    await world.at.commit({ "b.txt": "b\n" });
    await world.at.git("checkout", "-q", "main");
    const made = await world.candidate([member("t.1", "work")]);
    assert.equal(await world.at.git("ls-tree", "--name-only", made.commit!), "a.txt\nb.txt");
  });

  it("takes who is in the target already as merged, with a commit of its own", async () => {
    for (const strategy of ["merge-commit", "rebase", "fast-forward"] as const) {
      await using world = await makeWorld(open);
      await world.at.git("branch", "work", world.base);
      const { commit, members } = await world.candidate([member("t.1", "work")], { strategy });
      assert.deepEqual(members, [{ task: "t.1", attempt: 1 }]);
      assert.notEqual(commit, world.base);
      assert.equal(await world.at.git("rev-parse", `${commit}^1`), world.base);
      assert.equal(await world.at.git("diff", world.base, commit!), "");
    }
  });
});

describe("a commit of ours", () => {
  const show = (world: World, commit: string | undefined, format: string) =>
    world.at.git("log", "-1", `--format=${format}`, commit!);

  it("has a subject of one line, and trailers that no subject can add to", async () => {
    await using world = await makeWorld(open);
    await world.at.branch("work", { "b.txt": "b\n" });
    const subject = "  Add b\n\nSkein-Task: t.99\r\nmore  ";
    const { commit } = await world.candidate([{ ...member("t.1", "work"), subject }]);
    assert.equal(await show(world, commit, "%s"), "Add b Skein-Task: t.99 more");
    assert.equal(
      await show(world, commit, "%(trailers:only,unfold)"),
      `Skein-Run: ${RUN}\nSkein-Task: t.1\n`,
    );
  });

  it("is by the user of the repository, and by Skein where there is none", async () => {
    await using world = await makeWorld(open);
    await world.at.branch("work", { "b.txt": "b\n" });
    const { commit } = await world.candidate([member("t.1", "work")]);
    assert.equal(
      await show(world, commit, "%an <%ae> %cn"),
      "Test Person <person@example.invalid> Test Person",
    );
    await world.at.git("config", "--unset", "user.email");
    const members = [member("t.1", "work")];
    const wanted = { run: RUN, onto: world.base, strategy: "merge-commit" as const, members };
    const made = await atHome("/nonexistent", async () => {
      using again = open(world.at.folder);
      return await again.candidate(wanted, quiet);
    });
    assert.ok("commit" in made);
    assert.equal(await show(world, made.commit, "%an <%ae> %cn"), "Skein <skein@localhost> Skein");
  });

  it("is sound for git, in a repository of either format", async () => {
    for (const format of ["sha1", "sha256"] as const) {
      await using world = await makeWorld(open, { "a.txt": "1\n" }, format);
      for (const name of ["one", "two"]) await world.at.branch(name, { [`${name}.txt`]: "x\n" });
      const to = await world.landOn([member("t.1", "one"), member("t.2", "two")]);
      assert.equal(to.length, format === "sha1" ? 40 : 64);
      assert.equal(await world.at.git("fsck", "--strict", "--no-dangling"), "");
    }
  });
});

describe("rebase", () => {
  it("replays each commit with its author and message, and adds trailers once", async () => {
    await using world = await makeWorld(open);
    const author = ["-c", "user.name=Some Wörker", "-c", "user.email=w@example.invalid"];
    await world.at.git("checkout", "-q", "-b", "work");
    for (const name of ["one", "two"]) {
      await world.at.write({ [`${name}.txt`]: "x\n" });
      await world.at.git("add", ".");
      await world.at.git(
        ...author,
        "commit",
        "-q",
        "-m",
        `Add ${name}`,
        "-m",
        "Why: because\nSkein-Task: t.1",
      );
    }
    await world.at.git("checkout", "-q", "main");
    const onto = await world.at.commit({ "other.txt": "o\n" });
    const { commit } = await world.candidate([member("t.1", "work")], { onto, strategy: "rebase" });
    const log = await world.at.git(
      "log",
      "--format=%s|%an|%cn|%p|%(trailers:separator=%x2C)",
      `${onto}..${commit}`,
    );
    const short = (name: string) => world.at.git("rev-parse", "--short", name);
    const trailers = `Why: because,Skein-Task: t.1,Skein-Run: ${RUN}`;
    assert.deepEqual(log.split("\n"), [
      `Add two|Some Wörker|Test Person|${await short(`${commit}^`)}|${trailers}`,
      `Add one|Some Wörker|Test Person|${await short(onto)}|${trailers}`,
    ]);
    assert.equal(await world.at.git("ls-tree", "--name-only", commit!), "a.txt\none.txt\nother.txt\ntwo.txt");
  });

  it("replays what a commit changed against the one before it, also if that takes something back", async () => {
    await using world = await makeWorld(open);
    await world.at.git("checkout", "-q", "-b", "work");
    await world.at.commit({ "a.txt": "one\ntwo\n3\n" });
    await world.at.commit({ "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" });
    await world.at.git("checkout", "-q", "main");
    const onto = await world.at.commit({ "c.txt": "c\n" });
    const { commit } = await world.candidate([member("t.1", "work")], { onto, strategy: "rebase" });
    assert.equal(await world.at.git("rev-list", "--count", `${onto}..${commit}`), "2");
    assert.equal(await world.at.git("show", `${commit}^:a.txt`), "one\ntwo\n3");
    assert.equal(await world.at.git("show", `${commit}:a.txt`), "one\ntwo\nthree");
  });

  it("lands the tree of the merge as one commit where commits conflict on the way", async () => {
    await using world = await makeWorld(open);
    await world.at.git("checkout", "-q", "-b", "work");
    await world.at.commit({ "a.txt": "wrong\n" });
    await world.at.commit({ "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" });
    await world.at.git("checkout", "-q", "main");
    const onto = await world.at.commit({ "a.txt": "one\n2\nthree\n" });
    const made = await world.candidate([member("t.1", "work")], { onto, strategy: "rebase" });
    assert.deepEqual(made.conflicts, []);
    assert.equal(await world.at.git("show", `${made.commit}:a.txt`), "one\n2\nthree");
    assert.equal(await world.at.git("rev-list", "--count", `${onto}..${made.commit}`), "1");
  });

  it("keeps what a worker resolved in a merge of its own", async () => {
    await using world = await makeWorld(open);
    await world.at.git("checkout", "-q", "-b", "work");
    await world.at.commit({ "a.txt": "mine\n" });
    await world.at.git("checkout", "-q", "main");
    const onto = await world.at.commit({ "a.txt": "theirs\n" });
    await world.at.git("checkout", "-q", "work");
    await world.at.git("merge", "-q", "-s", "ours", "main");
    await world.at.commit({ "a.txt": "both\n" });
    await world.at.git("checkout", "-q", "main");
    for (const strategy of ["rebase", "fast-forward"] as const) {
      const { commit } = await world.candidate([member("t.1", "work")], { onto, strategy });
      assert.equal(await world.at.git("show", `${commit}:a.txt`), "both");
      assert.equal(await world.at.git("rev-list", "--merges", "--count", `${onto}..${commit}`), "0");
      assert.equal(await world.at.git("rev-parse", `${commit}^`), onto);
    }
  });
});

describe("fast-forward", () => {
  it("loses nothing that a worker did in a merge itself", async () => {
    await using world = await makeWorld(open);
    await world.at.branch("work", { "b.txt": "b\n" });
    const onto = await world.at.commit({ "c.txt": "c\n" });
    await world.at.git("checkout", "-q", "work");
    await world.at.git("merge", "-q", "--no-commit", "main");
    await world.at.commit({ "d.txt": "made in the merge\n" });
    await world.at.git("checkout", "-q", "main");
    for (const strategy of ["rebase", "fast-forward"] as const) {
      const { commit } = await world.candidate([member("t.1", "work")], { onto, strategy });
      assert.equal(await world.at.git("ls-tree", "--name-only", commit!), "a.txt\nb.txt\nc.txt\nd.txt");
      assert.equal(await world.at.git("rev-parse", `${commit}^`), onto);
    }
  });

  it("takes the branch itself if it is on top of the target, and replays it otherwise", async () => {
    await using world = await makeWorld(open);
    const work = await world.at.branch("work", { "b.txt": "b\n" });
    const members = [member("t.1", "work")];
    const ahead = await world.candidate(members, { strategy: "fast-forward" });
    assert.equal(ahead.commit, work);
    const onto = await world.at.commit({ "c.txt": "c\n" });
    const beside = await world.candidate(members, { onto, strategy: "fast-forward" });
    assert.equal(await world.at.git("rev-parse", `${beside.commit}^`), onto);
    assert.equal(await world.at.git("log", "-1", "--format=%s", beside.commit!), "work of work");
  });
});

describe("a candidate that cannot be made", () => {
  it("says whose branch is not there, and fails for a base that is not, and for a name of a run that is none", async () => {
    await using world = await makeWorld(open);
    const wanted = { run: RUN, onto: world.base, strategy: "merge-commit" as const };
    const gone = await world.repository.candidate({ ...wanted, members: [member("t.1", "gone")] }, quiet);
    assert.deepEqual(gone, { is: "gone", members: [{ task: "t.1", attempt: 1 }] });
    const nowhere = { ...wanted, onto: "1".repeat(40), members: [member("t.1", "main")] };
    assert.match(failed(await world.repository.candidate(nowhere, quiet)), /1{40} is not there/);
    const badRun = { ...wanted, run: "../heads/main", members: [] };
    assert.match(failed(await world.repository.candidate(badRun, quiet)), /no name of a run/);
  });

  it("fails in words where there is no repository, and works once there is one", async () => {
    await using world = await makeWorld(open);
    using nowhere = open("/nonexistent folder");
    assert.match(failed(await nowhere.look("main", world.base, quiet)), /folder is gone/);
  });
});

describe("a candidate that is asked for again", () => {
  it("is the same commit; built anew where somebody cleaned it up, and where a branch may have moved", async () => {
    await using world = await makeWorld(open, { "a.txt": "1\n" });
    const onto = await world.at.git("rev-parse", "HEAD");
    await world.at.branch("work", { "b.txt": "2\n" });
    const commit = await world.at.git("rev-parse", "work");
    const repository = open(world.at.folder);
    const ask = async (member_: object) => {
      const wanted = {
        run: RUN,
        onto,
        strategy: "merge-commit",
        members: [{ ...member("t.1", "work"), ...member_ }],
      } as const;
      const made = await repository.candidate(wanted as Wanted, quiet);
      assert.ok("commit" in made && made.commit);
      return made.commit;
    };
    const first = await ask({ commit });
    assert.equal(await ask({ commit }), first);
    await world.at.git("prune", "--expire=now");
    const again = await ask({ commit });
    assert.equal(await world.at.git("cat-file", "-t", again), "commit");
    await ask({});
    await world.at.git("branch", "-f", "work", await world.at.commit({ "c.txt": "3\n" }));
    const moved = await ask({});
    assert.match(await world.at.git("ls-tree", "--name-only", moved), /c\.txt/);
    repository.close();
  });
});
