/** Tests that objects which a `git prune` removes too early are found missing, put back or made again. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  makeWorld,
  member,
  proofOf,
  quiet,
  RUN,
  TARGET,
  type World,
} from "../../../test/contracts/repository.ts";
import { newFolder } from "../../../test/support/folders.ts";
import { withScriptedGit } from "../../../test/support/repositories.ts";
import type { Moved } from "../../core/job.ts";
import { Shelf } from "../git/shelf.ts";
import { GitRepository } from "./git.ts";
import { letGo } from "./held.ts";

const open = (folder: string) => new GitRepository({ folder });

const pruned = ({ at }: World) => `"$GIT" -C '${at.folder}' prune --expire=now`;

async function remove({ at }: World, name: string): Promise<void> {
  const id = await at.git("rev-parse", name);
  await rm(join(at.folder, ".git/objects", id.slice(0, 2), id.slice(2)));
}

const landingOf = (world: World, to: string, ...members: readonly ReturnType<typeof member>[]) => ({
  target: TARGET,
  from: world.base,
  to,
  proof: proofOf(...members),
});

describe("what somebody prunes before a ref holds it", () => {
  it("is made again before the target moves: the folders of a candidate", async () => {
    await using world = await makeWorld(open);
    const work = { ...member("t.1", "work"), commit: await world.at.branch("work", { "x/b.txt": "b\n" }) };
    await world.at.branch("other", { "x/c.txt": "c\n" });
    const members = [work, member("t.2", "other")];
    const script = `case "$*" in *merge-tree*) "$GIT" "$@"; code=$?; ${pruned(world)}; exit $code;; esac`;
    const made = await withScriptedGit(`${script}\nexec "$GIT" "$@"`, () => world.candidate(members));
    await assert.rejects(world.at.git("fsck"), "a folder is missing");
    const landing = landingOf(world, made.commit!, ...members);
    assert.deepEqual(await world.repository.land(landing, quiet), { is: "landed" });
    assert.equal(await world.at.git("fsck", "--no-dangling"), "");
    assert.equal(await world.at.git("rev-parse", TARGET), made.commit);
    assert.equal(await world.at.git("ls-tree", "-r", "--name-only", TARGET), "a.txt\nx/b.txt\nx/c.txt");
  });

  it("is made again: a proof", async () => {
    await using world = await makeWorld(open);
    await world.at.branch("work", { "b.txt": "b\n" });
    const work = member("t.1", "work");
    const { commit } = await world.candidate([work]);
    world.repository.close(); // The process that moves refs is started anew, by the script.
    const once = `case "$*" in *update-ref*) mkdir "${world.at.folder}/../once" 2>&- && ${pruned(world)};; esac`;
    const landed = await withScriptedGit(`${once}\nexec "$GIT" "$@"`, () =>
      world.repository.land(landingOf(world, commit!, work), quiet),
    );
    assert.deepEqual(landed, { is: "landed" });
    assert.equal(await world.at.git("fsck", "--no-dangling"), "");
    assert.match(await world.at.git("notes", `--ref=skein/${RUN}`, "show", TARGET), /"proof":"green"/);
  });

  it("is nobody's to make again: what a member had handed in. It is named, and nothing moves", async () => {
    for (const part of ["work^{commit}", "work^{tree}", "work:x/b.txt"]) {
      await using world = await makeWorld(open);
      const [judged, other] = [
        await world.at.branch("work", { "x/b.txt": "b\n" }),
        await world.at.branch("other", { "c.txt": "c\n" }),
      ];
      const members = [
        { ...member("t.1", "work"), commit: judged },
        { ...member("t.2", "other"), commit: other },
      ];
      const wanted = { run: RUN, onto: world.base, strategy: "merge-commit" as const, members };
      const { commit } = await world.candidate(members);
      await remove(world, part);
      const gone = { is: "gone", members: [{ task: "t.1", attempt: 1 }] };
      const landing = landingOf(world, commit!, ...members);
      assert.deepEqual(await world.repository.land(landing, quiet), gone, part);
      assert.equal(await world.at.git("rev-parse", TARGET), world.base);
      // Other parts of a branch are written again by a merge, or not read at all.
      if (part !== "work^{commit}") continue;
      assert.deepEqual(await world.repository.candidate(wanted, quiet), gone);
    }
  });

  it("is seen to be gone also if it was in a pack that the reader had open", async () => {
    await using world = await makeWorld(open);
    const judged = await world.at.branch("work", { "b.txt": "b\n" });
    const work = { ...member("t.1", "work"), commit: judged };
    await world.at.git("gc", "-q");
    const { commit } = await world.candidate([work]);
    await world.repository.evidence(world.base, judged, quiet);
    for (const ref of ["refs/heads/work", `refs/skein/held/${RUN}/candidate-0`]) {
      await world.at.git("update-ref", "-d", ref);
    }
    await world.at.git("reflog", "expire", "--expire=now", "--all");
    await world.at.git("gc", "-q", "--prune=now");
    const answer = await world.repository.land(landingOf(world, commit!, work), quiet);
    assert.deepEqual(answer, { is: "gone", members: [{ task: "t.1", attempt: 1 }] });
  });
});

describe("a target that somebody pruned right after a landing", () => {
  it("gets back what is on the shelf, by a later process as well, and else is said to lack it", async () => {
    const folder = newFolder();
    const shelfFor = (top: string) => new Shelf(join(top, ".git/objects"), folder);
    await using world = await makeWorld((top) => new GitRepository({ folder: top, shelf: shelfFor(top) }));
    const { at, repository } = world;
    for (const name of ["one", "two"]) await at.branch(name, { [`x/${name}.txt`]: `${name}\n` });
    await world.landOn([member("t.1", "one")]);
    await world.landOn([member("t.2", "two")]);
    assert.equal(await repository.whole(TARGET, quiet), undefined);
    for (const name of [`${TARGET}:x`, TARGET, "one:x/one.txt", `refs/notes/skein/${RUN}`])
      await remove(world, name);
    assert.equal(await repository.whole(TARGET, quiet), undefined);
    assert.equal(await at.git("fsck", "--no-dangling"), "");
    await remove(world, `refs/notes/skein/${RUN}`);
    using later = new GitRepository({ folder: at.folder, shelf: shelfFor(at.folder) });
    const { landings } = (await later.look(TARGET, world.base, quiet)) as Moved;
    assert.equal(landings.length, 2, "a proof that was removed is found: else its landing is made twice");
    await shelfFor(at.folder).clear();
    await remove(world, "one:x/one.txt");
    using last = new GitRepository({ folder: at.folder });
    assert.equal(await last.whole(TARGET, quiet), undefined, "what others landed is looked at on resume");
    const torn = await repository.whole(TARGET, quiet);
    assert.match(torn!.failure.message, new RegExp(`parts of what landed on ${TARGET} are missing`));
  });
});

describe("what a run holds", () => {
  it("is at most a few candidates, and is let go at once, with nothing else", async () => {
    await using world = await makeWorld(open);
    const refs = await world.at.git("for-each-ref");
    for (let n = 1; n <= 6; n += 1) {
      const branch = `work-${n}`;
      await world.at.branch(branch, { [`${n}.txt`]: "x\n" });
      await world.candidate([member(`t.${n}`, branch)]);
      await world.at.git("branch", "-D", branch);
    }
    const held = await world.at.git("for-each-ref", "--format=%(refname)", "refs/skein/held");
    assert.deepEqual(
      held.split("\n"),
      [0, 1, 2, 3].map((n) => `refs/skein/held/${RUN}/candidate-${n}`),
    );
    assert.equal(await letGo(world.at.folder, RUN), undefined);
    assert.equal(await letGo(world.at.folder, RUN), undefined, "twice is once");
    assert.equal(await world.at.git("for-each-ref"), refs);
  });
});
