/** Tests landings: proofs before moves, kills, locks, concurrent moves, durability, and their later discovery. */
import assert from "node:assert/strict";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  failed,
  got,
  makeWorld,
  member,
  proofOf,
  quiet,
  RUN,
  TARGET,
} from "../../../test/contracts/repository.ts";
import { withScriptedGit } from "../../../test/support/repositories.ts";
import { recordSyncs } from "../../../test/support/syncs.ts";
import { startedGits } from "../git/git.ts";
import { GitRepository } from "./git.ts";

const open = (folder: string) => new GitRepository({ folder });

async function candidateWorld() {
  const world = await makeWorld(open);
  const work = member("t.1", "work");
  await world.at.branch("work", { "b.txt": "b\n" });
  const { commit } = await world.candidate([work]);
  const landing = { target: TARGET, from: world.base, to: commit!, proof: proofOf(work) };
  return { ...world, landing };
}

describe("a landing", () => {
  it("that was killed between proof and move is no landing, and lands the next time", async () => {
    await using world = await candidateWorld();
    const { landing, at, repository, base } = world;
    const note = JSON.stringify({ ...landing.proof, proof: "ungated", onto: base, target: TARGET });
    await at.git("notes", `--ref=skein/${RUN}`, "add", "-m", note, landing.to);
    assert.deepEqual(await repository.look(TARGET, base, quiet), { tip: base, landings: [] });
    assert.deepEqual(await repository.land(landing, quiet), { is: "landed" });
    const landings = [{ commit: landing.to, members: landing.proof.members }];
    assert.deepEqual(await repository.look(TARGET, base, quiet), { tip: landing.to, landings });
    assert.equal(JSON.parse(await at.git("notes", `--ref=skein/${RUN}`, "show", landing.to)).proof, "green");
  });

  it("moves the target alone, also where somebody made it stand for a branch of theirs", async () => {
    await using world = await candidateWorld();
    const { landing, at, repository, base } = world;
    await at.git("branch", "--force", "theirs", base);
    await at.git("symbolic-ref", `refs/heads/${TARGET}`, "refs/heads/theirs");
    assert.deepEqual(await repository.land(landing, quiet), { is: "landed" });
    assert.equal(await at.git("rev-parse", "theirs"), base);
    assert.equal(await at.git("rev-parse", TARGET), landing.to);
  });

  it("is on the disk before it is said: its objects before its refs, then the names of the refs", async () => {
    await using syncs = await recordSyncs();
    await using world = await candidateWorld();
    const { landing, at, repository } = world;
    const inGit = (name: string) => join(at.folder, ".git", name);
    const objectAt = (id: string) => syncs.at(inGit(`objects/${id.slice(0, 2)}/${id.slice(2)}`));
    assert.deepEqual(await repository.land(landing, quiet), { is: "landed" });
    const note = `refs/notes/skein/${RUN}`;
    const written = [landing.to, ...(await at.git("rev-parse", note, `${note}^{tree}`)).split("\n")];
    const objects = await Promise.all(written.map(objectAt));
    const folders = [inGit("refs/heads/skein/r1"), inGit("refs/notes/skein")];
    const names = await Promise.all(folders.map((folder) => syncs.at(folder)));
    assert.ok(Math.min(...objects) >= 0, JSON.stringify(objects));
    assert.ok(Math.min(...names) > Math.max(...objects), JSON.stringify({ objects, names }));
  });

  it("leaves the proof before it moves the target", async () => {
    await using world = await candidateWorld();
    const { landing, at, repository, base } = world;
    const locks = join(at.folder, ".git/refs/heads/skein/r1");
    await writeFile(join(locks, "target.lock"), "");
    assert.match(failed(await repository.land(landing, quiet)), /lock/);
    assert.equal(await at.git("rev-parse", TARGET), base);
    assert.equal(JSON.parse(await at.git("notes", `--ref=skein/${RUN}`, "show", landing.to)).onto, base);
    await rm(join(locks, "target.lock"));
    assert.deepEqual(await repository.land(landing, quiet), { is: "landed" });
  });

  it("does not move the target if the proof cannot be left", async () => {
    await using world = await candidateWorld();
    const { landing, at, repository, base } = world;
    await mkdir(join(at.folder, ".git/refs/notes"), { recursive: true });
    await writeFile(join(at.folder, ".git/refs/notes/skein"), `${base}\n`); // A ref where a folder must be.
    assert.ok(failed(await repository.land(landing, quiet)));
    assert.equal(await at.git("rev-parse", TARGET), base);
  });

  it("waits for a lock that is held for a moment", async () => {
    await using world = await candidateWorld();
    const lock = join(world.at.folder, ".git/refs/heads/skein/r1/target.lock");
    await writeFile(lock, "");
    const before = startedGits();
    const landed = world.repository.land(world.landing, quiet);
    const triedAgain = (async () => {
      while (startedGits() < before + 2) await new Promise(setImmediate);
    })();
    await Promise.race([landed, triedAgain]);
    await rm(lock);
    assert.deepEqual(await landed, { is: "landed" });
  });

  it("does not move a target that somebody moved in the last moment", async () => {
    await using world = await candidateWorld();
    const { landing, at, repository, base } = world;
    const other = await at.commit({ "c.txt": "c\n" });
    const overtake = `case "$*" in *update-ref*--stdin*) "$GIT" update-ref refs/heads/${TARGET} ${other};; esac`;
    repository.close(); // The process that moves refs is started anew, by the script.
    const answer = await withScriptedGit(`${overtake}\nexec "$GIT" "$@"`, () =>
      repository.land(landing, quiet),
    );
    assert.deepEqual(answer, { is: "moved", tip: other, landings: [] });
    assert.equal(await at.git("rev-parse", TARGET), other);
    assert.notEqual(other, base);
  });

  it("does not lose the proof of another that is left in the same moment", async () => {
    await using world = await candidateWorld();
    const { landing, at, repository, base } = world;
    const notes = `refs/notes/skein/${RUN}`;
    await at.git("notes", `--ref=${notes}`, "add", "-m", "first", base);
    await at.git("update-ref", "refs/kept/first", notes);
    await at.git("notes", `--ref=${notes}`, "add", "-m", "another's", await at.git("rev-parse", "work"));
    await at.git("update-ref", "refs/kept/second", notes);
    await at.git("update-ref", notes, "refs/kept/first");
    const once = `if mkdir "${at.folder}/../once" 2>&-; then "$GIT" update-ref ${notes} refs/kept/second; fi`;
    const overtake = `case "$*" in *update-ref*--stdin*) ${once};; esac`;
    repository.close(); // The process that moves refs is started anew, by the script.
    const answer = await withScriptedGit(`${overtake}\nexec "$GIT" "$@"`, () =>
      repository.land(landing, quiet),
    );
    assert.deepEqual(answer, { is: "landed" });
    assert.equal(await at.git("notes", `--ref=${notes}`, "show", "work"), "another's");
    assert.match(await at.git("notes", `--ref=${notes}`, "show", landing.to), /"proof":"green"/);
  });

  it("is a failure, and none, where objects cannot be written", async () => {
    await using world = await candidateWorld();
    const objects = join(world.at.folder, ".git/objects");
    await world.at.git("gc", "-q");
    await rm(objects, { recursive: true });
    await writeFile(objects, ""); // A file in the place of the folder stops root as well.
    const answer = failed(await world.repository.land(world.landing, quiet));
    assert.ok(answer.length > 0);
    await rm(objects);
    await mkdir(objects);
    await chmod(objects, 0o755);
  });

  it("is not begun when it was stopped before", async () => {
    await using world = await candidateWorld();
    assert.match(failed(await world.repository.land(world.landing, AbortSignal.abort())), /stopped/);
    assert.equal(await world.at.git("rev-parse", TARGET), world.base);
  });

  it("costs two processes", async () => {
    await using world = await makeWorld(open);
    for (const name of ["one", "two"]) await world.at.branch(name, { [`${name}.txt`]: "x\n" });
    await world.landOn([member("t.1", "one")]);
    const before = startedGits();
    await world.landOn([member("t.2", "two")]);
    assert.equal(startedGits() - before, 2);
  });

  it("keeps every proof of many, however git spreads them", async () => {
    await using world = await makeWorld(open);
    await world.at.git("branch", "work", world.base);
    const commits: string[] = [];
    for (let n = 1; n <= 12; n += 1) {
      commits.push(await world.landOn([member(`t.${n}`, "work")]));
      // Git's own rewriting puts few notes into one flat folder.
      if (n === 6)
        await world.at.git("notes", `--ref=skein/${RUN}`, "add", "-f", "-m", "another's", world.base);
    }
    const { landings } = got(await world.repository.look(TARGET, world.base, quiet));
    assert.deepEqual(
      landings.map(({ commit }) => commit),
      commits,
    );
    assert.deepEqual(
      landings.map(({ members }) => members[0]?.task),
      commits.map((_, i) => `t.${i + 1}`),
    );
    assert.equal(await world.at.git("rev-list", "--count", `refs/notes/skein/${RUN}`), "13");
    assert.equal(await world.at.git("fsck", "--strict", "--no-dangling"), "");
  });
});

describe("a look", () => {
  it("finds landings on the first parents only", async () => {
    await using world = await makeWorld(open);
    const work = await world.at.branch("work", { "b.txt": "b\n" });
    const note = JSON.stringify({ target: TARGET, members: [{ task: "t.1", attempt: 1 }] });
    await world.at.git("notes", `--ref=skein/${RUN}`, "add", "-m", note, work); // Killed before the target moved.
    const landed = await world.landOn([member("t.1", "work")]);
    const { landings } = got(await world.repository.look(TARGET, world.base, quiet));
    assert.deepEqual(
      landings.map(({ commit }) => commit),
      [landed],
    );
  });

  it("finds the landings of its own target only", async () => {
    await using world = await makeWorld(open);
    await world.at.git("branch", "skein/r2/target", world.base);
    await world.at.branch("work", { "b.txt": "b\n" });
    const landed = await world.landOn([member("t.1", "work")]);
    await world.at.git("update-ref", "refs/heads/skein/r2/target", landed);
    const { landings } = got(await world.repository.look("skein/r2/target", world.base, quiet));
    assert.deepEqual(landings, []);
  });

  it("finds the landings of a target that is not named after its run", async () => {
    await using world = await makeWorld(open);
    await world.at.git("branch", "feature", world.base);
    const work = member("t.1", "work");
    await world.at.branch("work", { "b.txt": "b\n" });
    const { commit } = await world.candidate([work]);
    const landing = { target: "feature", from: world.base, to: commit!, proof: proofOf(work) };
    assert.deepEqual(await world.repository.land(landing, quiet), { is: "landed" });
    const { landings } = got(await world.repository.look("feature", world.base, quiet));
    assert.deepEqual(landings, [{ commit, members: landing.proof.members }]);
  });

  it("takes no note for a proof that is none", async () => {
    await using world = await candidateWorld();
    const { landing, at, repository, base } = world;
    await repository.land(landing, quiet);
    for (const text of ["no JSON", "null", "[]", `{"target":"${TARGET}","members":[{"task":3}]}`]) {
      await at.git("notes", `--ref=skein/${RUN}`, "add", "-f", "-m", text, landing.to);
      assert.deepEqual(await repository.look(TARGET, base, quiet), { tip: landing.to, landings: [] });
    }
  });
});
