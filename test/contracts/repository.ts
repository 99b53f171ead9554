/** The contract suite of repositories, which each adapter passes, over a real git repository. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Failed, hasFailed } from "../../src/core/result.ts";
import type { TaskId } from "../../src/core/task.ts";
import type { Branch, Candidate, LandingProof, Repository, Wanted } from "../../src/ports/repository.ts";
import { type Files, makeRepository, type TestRepository } from "../support/repositories.ts";

export type OpenRepository = (folder: string) => Repository & { close(): void };

export const RUN = "r1";
export const TARGET = "skein/r1/target";
export const quiet = new AbortController().signal;

export const member = (task: string, branch: string, attempt = 1): Branch => ({
  task: task as TaskId,
  attempt,
  branch,
  subject: `Do ${task}`,
});

export const proofOf = (...members: readonly Branch[]): LandingProof => ({
  run: RUN,
  members: members.map(({ task, attempt }) => ({ task, attempt })),
  proof: "green",
  report: { commands: [{ name: "test", green: true, failures: [] }] },
  flags: [],
});

/** Gives the result; if it is a failure, the test fails with its message. */
export function got<Result extends object>(result: Result | Failed): Result {
  if (hasFailed(result)) assert.fail(result.failure.message);
  return result;
}

export const failed = (result: object): string => {
  assert.ok(hasFailed(result), `expected a failure, not ${JSON.stringify(result)}`);
  return result.failure.message;
};

export type World = AsyncDisposable & {
  readonly at: TestRepository;
  readonly repository: ReturnType<OpenRepository>;
  readonly base: string;
  candidate(members: readonly Branch[], more?: Partial<Wanted>): Promise<Candidate>;
  /** Builds a candidate on the target's tip, lands it, and gives its commit. */
  landOn(members: readonly Branch[], more?: Partial<Wanted>): Promise<string>;
};

/** Makes a repository with a target at its first commit. */
export async function makeWorld(
  open: OpenRepository,
  files: Files = { "a.txt": "one\ntwo\nthree\n" },
  format: "sha1" | "sha256" = "sha1",
): Promise<World> {
  const at = await makeRepository({ files, format });
  const base = await at.git("rev-parse", "HEAD");
  await at.git("branch", TARGET);
  const repository = open(at.folder);
  const candidate: World["candidate"] = async (members, more = {}) => {
    const wanted = { run: RUN, onto: base, strategy: "merge-commit" as const, members, ...more };
    const made = got(await repository.candidate(wanted, quiet));
    assert.ok(!("is" in made), "a member is gone");
    return made;
  };
  return {
    at,
    repository,
    base,
    candidate,
    async landOn(members, more = {}) {
      const from = await at.git("rev-parse", TARGET);
      const { commit: to } = await candidate(members, { onto: from, ...more });
      assert.ok(to !== undefined, "nobody could be merged");
      const landing = { target: TARGET, from, to, proof: proofOf(...members) };
      assert.deepEqual(await repository.land(landing, quiet), { is: "landed" });
      return to;
    },
    async [Symbol.asyncDispose]() {
      repository.close();
      await at[Symbol.asyncDispose]();
    },
  };
}

export function repositoryContract(name: string, open: OpenRepository): void {
  describe(`the repository ${name}`, () => {
    it("merges one branch as a commit on top of the target, and moves nothing but what holds it", async () => {
      await using world = await makeWorld(open);
      const work = await world.at.branch("skein/r1/task/t.1", { "b.txt": "b\n" });
      const refs = await world.at.git("for-each-ref");
      const made = await world.candidate([member("t.1", "skein/r1/task/t.1")]);
      assert.deepEqual(made.members, [{ task: "t.1", attempt: 1 }]);
      assert.deepEqual(made.conflicts, []);
      assert.equal(await world.at.git("rev-parse", `${made.commit}^1`), world.base);
      assert.equal(await world.at.git("rev-parse", `${made.commit}^2`), work);
      assert.equal(await world.at.git("show", `${made.commit}:b.txt`), "b");
      const held = `${made.commit} commit\trefs/skein/held/${RUN}/candidate-0`;
      assert.equal(await world.at.git("for-each-ref"), `${refs}\n${held}`);
      assert.equal(await world.at.git("status", "--porcelain"), "");
    });

    it("merges what was judged, though its branch points elsewhere by now, or is gone", async () => {
      await using world = await makeWorld(open);
      const judged = await world.at.branch("work", { "b.txt": "judged\n" });
      const other = await world.at.branch("other", { "b.txt": "not judged\n" });
      const work = { ...member("t.1", "work"), commit: judged };
      await world.at.git("update-ref", "refs/heads/work", other);
      for (const strategy of ["merge-commit", "rebase", "fast-forward"] as const) {
        const { commit } = await world.candidate([work], { strategy });
        assert.equal(await world.at.git("show", `${commit}:b.txt`), "judged", strategy);
      }
      await world.at.git("branch", "-D", "work");
      const { commit } = await world.candidate([work]);
      assert.equal(await world.at.git("rev-parse", `${commit}^2`), judged);
      const gone = "1".repeat(40);
      const wanted = { run: RUN, onto: world.base, strategy: "merge-commit" as const };
      const nothing = await world.repository.candidate(
        { ...wanted, members: [{ ...work, commit: gone }] },
        quiet,
      );
      assert.deepEqual(nothing, { is: "gone", members: [{ task: "t.1", attempt: 1 }] });
      const option = await world.repository.candidate(
        { ...wanted, members: [{ ...work, commit: "--all" }] },
        quiet,
      );
      assert.match(failed(option), /no commit/);
    });

    it("gives a batch one commit whose first parent is where it starts", async () => {
      await using world = await makeWorld(open);
      await world.at.branch("one", { "1.txt": "1\n" });
      await world.at.branch("two", { "2.txt": "2\n" });
      const { commit, members } = await world.candidate([member("t.1", "one"), member("t.2", "two")]);
      assert.deepEqual(
        members.map(({ task }) => task),
        ["t.1", "t.2"],
      );
      const firstParents = await world.at.git("rev-list", "--first-parent", `${world.base}..${commit}`);
      assert.equal(firstParents, commit);
      const inside = await world.at.git("rev-list", "--merges", "--count", `${world.base}..${commit}`);
      assert.equal(inside, "3");
      assert.equal(await world.at.git("ls-tree", "--name-only", commit!), "1.txt\n2.txt\na.txt");
      assert.equal(
        await world.at.git("log", "-1", "--format=%(trailers:key=Skein-Task,valueonly)", commit!),
        "t.1\nt.2\n",
      );
    });

    it("leaves out who conflicts with the target, and who conflicts only with the batch, and says which", async () => {
      await using world = await makeWorld(open);
      await world.at.branch("before", { "a.txt": "changed\n" });
      await world.at.branch("first", { "b.txt": "first\n" });
      await world.at.branch("second", { "b.txt": "second\n" });
      const onto = await world.at.commit({ "a.txt": "moved on\n" });
      const members = [member("t.1", "first"), member("t.2", "second"), member("t.3", "before")];
      const made = await world.candidate(members, { onto });
      assert.deepEqual(made.members, [{ task: "t.1", attempt: 1 }]);
      assert.deepEqual(made.conflicts, [
        { task: "t.2", files: ["b.txt"], against: "batch" },
        { task: "t.3", files: ["a.txt"], against: "target" },
      ]);
      assert.equal(await world.at.git("rev-parse", `${made.commit}^1`), onto);
    });

    it("has no candidate if nobody can be merged", async () => {
      await using world = await makeWorld(open);
      await world.at.branch("work", { "a.txt": "changed\n" });
      const onto = await world.at.commit({ "a.txt": "moved on\n" });
      const made = await world.candidate([member("t.1", "work")], { onto });
      assert.equal(made.commit, undefined);
      assert.deepEqual(made.members, []);
      assert.equal(made.conflicts.length, 1);
    });

    it("lands: the target moves, and the commit carries its proof", async () => {
      await using world = await makeWorld(open);
      await world.at.branch("work", { "b.txt": "b\n" });
      const landed = await world.landOn([member("t.1", "work", 2)]);
      assert.equal(await world.at.git("rev-parse", TARGET), landed);
      const note = JSON.parse(await world.at.git("notes", `--ref=skein/${RUN}`, "show", landed));
      assert.deepEqual(note.members, [{ task: "t.1", attempt: 2 }]);
      assert.equal(note.onto, world.base);
      assert.equal(note.proof, "green");
      assert.equal(await world.at.git("rev-parse", "main"), world.base);
      assert.equal(await world.at.git("status", "--porcelain"), "");
    });

    it("lands the same a second time without doing anything", async () => {
      await using world = await makeWorld(open);
      const work = member("t.1", "work");
      await world.at.branch("work", { "b.txt": "b\n" });
      const to = await world.landOn([work]);
      const refs = await world.at.git("for-each-ref");
      const landing = { target: TARGET, from: world.base, to, proof: proofOf(work) };
      assert.deepEqual(await world.repository.land(landing, quiet), { is: "landed" });
      assert.equal(await world.at.git("for-each-ref"), refs);
    });

    it("does not land when the target moved, and finds what landed meanwhile by its proofs", async () => {
      await using world = await makeWorld(open);
      for (const name of ["one", "two", "three"]) await world.at.branch(name, { [`${name}.txt`]: "x\n" });
      const late = await world.candidate([member("t.3", "three")]);
      const first = await world.landOn([member("t.1", "one")]);
      const second = await world.landOn([member("t.2", "two", 4)]);
      const landing = { target: TARGET, from: world.base, to: late.commit!, proof: proofOf() };
      const moved = {
        tip: second,
        landings: [
          { commit: first, members: [{ task: "t.1", attempt: 1 }] },
          { commit: second, members: [{ task: "t.2", attempt: 4 }] },
        ],
      };
      assert.deepEqual(await world.repository.land(landing, quiet), { is: "moved", ...moved });
      assert.equal(await world.at.git("rev-parse", TARGET), second);
      assert.deepEqual(await world.repository.look(TARGET, world.base, quiet), moved);
      assert.deepEqual(await world.repository.look(TARGET, first, quiet), {
        tip: second,
        landings: moved.landings.slice(1),
      });
      assert.deepEqual(await world.repository.look(TARGET, second, quiet), { tip: second, landings: [] });
    });

    it("tells what the target had and has no more, and finds it again when it is back", async () => {
      await using world = await makeWorld(open);
      for (const name of ["one", "two"]) await world.at.branch(name, { [`${name}.txt`]: "x\n" });
      const first = await world.landOn([member("t.1", "one")]);
      const second = await world.landOn([member("t.2", "two")]);
      const { git } = world.at;
      await git("update-ref", `refs/heads/${TARGET}`, world.base);
      const back = { tip: world.base, landings: [], lost: [first, second] };
      assert.deepEqual(await world.repository.look(TARGET, second, quiet), back);
      const landing = { target: TARGET, from: second, to: first, proof: proofOf() };
      assert.deepEqual(await world.repository.land(landing, quiet), { is: "moved", ...back });
      const beside = await git("commit-tree", "-p", first, "-m", "by hand", `${first}^{tree}`);
      await git("update-ref", `refs/heads/${TARGET}`, beside);
      const partly = { tip: beside, landings: [], lost: [second] };
      assert.deepEqual(await world.repository.look(TARGET, second, quiet), partly);
      await git("update-ref", `refs/heads/${TARGET}`, second);
      const again = [{ commit: second, members: [{ task: "t.2", attempt: 1 }] }];
      const found = { tip: second, landings: again, lost: [beside] };
      assert.deepEqual(await world.repository.look(TARGET, beside, quiet), found);
    });

    it("does not take for a landing what has no proof", async () => {
      await using world = await makeWorld(open);
      await world.at.branch("work", { "b.txt": "b\n" });
      const { commit } = await world.candidate([member("t.1", "work")]);
      await world.at.git("update-ref", `refs/heads/${TARGET}`, commit!);
      assert.deepEqual(await world.repository.look(TARGET, world.base, quiet), { tip: commit, landings: [] });
    });

    it("fails when the target is gone, and makes none", async () => {
      await using world = await makeWorld(open);
      const work = member("t.1", "work");
      await world.at.branch("work", { "b.txt": "b\n" });
      const { commit } = await world.candidate([work]);
      await world.at.git("branch", "-D", TARGET);
      const landing = { target: TARGET, from: world.base, to: commit!, proof: proofOf(work) };
      assert.match(failed(await world.repository.land(landing, quiet)), /not there/);
      assert.match(failed(await world.repository.look(TARGET, world.base, quiet)), /not there/);
      assert.equal(await world.at.git("branch", "--list", TARGET), "");
    });

    it("does not move a target that somebody has checked out, says where, and lands once they have left it", async () => {
      await using world = await makeWorld(open);
      const work = member("t.1", "work");
      await world.at.branch("work", { "b.txt": "b\n" });
      const { commit } = await world.candidate([work]);
      const landing = { target: TARGET, from: world.base, to: commit!, proof: proofOf(work) };
      const added = `${world.at.folder}-added`;
      await world.at.git("worktree", "add", "-q", "--detach", added);
      for (const place of [world.at.folder, added]) {
        await world.at.git("-C", place, "checkout", "-q", TARGET);
        const answer = await world.repository.land(landing, quiet);
        assert.match(failed(answer), /skein\/r1\/target is checked out in /);
        assert.ok(failed(answer).includes(place), failed(answer));
        assert.match((answer as Failed).failure.next ?? "", /git checkout --detach/);
        assert.equal(await world.at.git("rev-parse", TARGET), world.base);
        assert.equal(await world.at.git("-C", place, "status", "--porcelain"), "");
        await world.at.git("-C", place, "checkout", "-q", "--detach");
      }
      assert.deepEqual(await world.repository.land(landing, quiet), { is: "landed" });
    });

    it("lets one of two landings win that start from the same tip", async () => {
      await using world = await makeWorld(open);
      const members = [member("t.1", "one"), member("t.2", "two")];
      for (const { branch } of members) await world.at.branch(branch, { [branch]: "x\n" });
      const landings = [];
      for (const work of members) {
        const { commit } = await world.candidate([work]);
        landings.push({ target: TARGET, from: world.base, to: commit!, proof: proofOf(work) });
      }
      const answers = await Promise.all(landings.map((landing) => world.repository.land(landing, quiet)));
      const kinds = answers.map((answer) => got(answer).is);
      assert.deepEqual(kinds.toSorted(), ["landed", "moved"]);
      const winner = kinds.indexOf("landed");
      assert.equal(await world.at.git("rev-parse", TARGET), landings[winner]!.to);
      assert.deepEqual(got(await world.repository.look(TARGET, world.base, quiet)).landings, [
        { commit: landings[winner]!.to, members: landings[winner]!.proof.members },
      ]);
    });

    it("refuses names that could be read as something else", async () => {
      await using world = await makeWorld(open);
      for (const bad of [
        "--upload-pack=evil",
        "-x",
        "a..b",
        "HEAD",
        "a b",
        "",
        "x\ny",
        "@{-1}",
        world.base,
      ]) {
        const wanted = { run: RUN, onto: world.base, strategy: "merge-commit" as const };
        const members = [member("t.1", bad)];
        assert.match(
          failed(await world.repository.candidate({ ...wanted, members }, quiet)),
          /no name of a branch/,
        );
        assert.match(failed(await world.repository.look(bad, world.base, quiet)), /no name of a branch/);
      }
      for (const bad of ["HEAD", "main", "--all", "", "abc", `${world.base}^`, "A".repeat(40)]) {
        assert.match(failed(await world.repository.look(TARGET, bad, quiet)), /no commit/);
        assert.match(failed(await world.repository.evidence(bad, world.base, quiet)), /no commit/);
        assert.match(failed(await world.repository.evidence(world.base, bad, quiet)), /no commit/);
        const wanted = { run: RUN, onto: bad, strategy: "merge-commit" as const, members: [] };
        assert.match(failed(await world.repository.candidate(wanted, quiet)), /no commit/);
        const landing = { target: TARGET, from: bad, to: world.base, proof: proofOf() };
        assert.match(failed(await world.repository.land(landing, quiet)), /no commit/);
      }
    });

    it("shows what a branch changed", async () => {
      await using world = await makeWorld(open);
      const commit = await world.at.branch("work", {
        "a.txt": "one\n2\nthree\n",
        "src/new.ts": "export {};\n",
      });
      const shown = got(await world.repository.evidence(world.base, commit, quiet));
      assert.equal(shown.commit, commit);
      assert.deepEqual(shown.filesChanged, ["a.txt", "src/new.ts"]);
      assert.deepEqual([shown.linesAdded, shown.linesRemoved], [2, 1]);
      assert.deepEqual([shown.filesCreated, shown.filesModified], [1, 1]);
      assert.match(shown.diff, /^-two\n\+2$/m);
    });

    it("has no commit to land if nothing was changed", async () => {
      await using world = await makeWorld(open);
      const empty = await world.at.branch("work", {});
      for (const commit of [world.base, empty]) {
        const shown = got(await world.repository.evidence(world.base, commit, quiet));
        assert.equal(shown.commit, undefined);
        assert.deepEqual(shown.filesChanged, []);
      }
    });

    it("fails in words when it is stopped", async () => {
      await using world = await makeWorld(open);
      await world.at.branch("work", { "b.txt": "b\n" });
      const wanted = { run: RUN, onto: world.base, strategy: "merge-commit" as const };
      const members = [member("t.1", "work")];
      const stopped = AbortSignal.abort();
      assert.match(failed(await world.repository.candidate({ ...wanted, members }, stopped)), /stopped/);
    });
  });
}
