/** Tests workspaces in a repository that is pruned meanwhile: their commits and what was kept must stay. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import { withScriptedGit } from "../support/repositories.ts";
import { LIMITS } from "./programs.ts";
import { inside, jobOf, MAX_FILE_BYTES, onStage, REF, type Scene } from "./workspaces.ts";

const HELD = "refs/skein/held/r1";

const make = (repository: string, folder: string) =>
  new CloneWorkspaces({
    environment: process.env,
    repository,
    folder,
    programs: new LocalPrograms({ folder: join(folder, "programs") }),
    limits: LIMITS,
    maxFileBytes: MAX_FILE_BYTES,
    holds: HELD,
  });

const heldIn = async ({ repository }: Scene) =>
  (await repository.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/skein/")).split("\n");

/** Runs `what` in the user's repository each time before git is called with arguments that match `when`. */
const meddling = ({ repository }: Scene, when: string, what: string) =>
  `case "$*" in ${when}) (unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY; ` +
  `cd '${repository.folder}' && ${what});; esac\nexec "$GIT" "$@"`;

describe("in a repository that is pruned meanwhile, a workspace", () => {
  it("keeps its files again, if they were removed before a ref held them", () =>
    onStage(make, async (scene) => {
      const workspace = await scene.take();
      await inside(workspace, "echo new > dir/new.txt");
      const prunes = meddling(scene, "*commit*--quiet*", '"$GIT" prune --expire=now');
      const kept = await withScriptedGit(prunes, () => scene.keep(workspace));
      const { git } = scene.repository;
      assert.equal(await git("rev-parse", REF), kept.commit);
      assert.equal(await git("show", `${REF}:dir/new.txt`), "new");
      assert.equal(await git("fsck", "--no-dangling"), "");
    }));

  it("says so, keeps what it has and leaves no broken ref, if they do not stay", () =>
    onStage(make, async (scene) => {
      const workspace = await scene.take();
      await inside(workspace, "echo new > dir/new.txt");
      const removes = meddling(
        scene,
        "*log*--raw*",
        'rm -f ".git/objects/3e/757656cf36eca53338e520d134963a44f793f8"',
      );
      await assert.rejects(
        withScriptedGit(removes, () => scene.keep(workspace)),
        /does not stay in the repository/,
      );
      assert.deepEqual(await heldIn(scene), [`${HELD}/agent-1 ${scene.commit}`]);
      assert.equal(await inside(workspace, "cat dir/new.txt"), "new");
      assert.equal((await scene.keep(workspace)).commit?.length, 40);
    }));

  it("holds what it is on and what was kept as a branch, and lets its own go when it is given back for good", () =>
    onStage(make, async (scene) => {
      const { repository, workspaces, commit } = scene;
      const other = await repository.branch("other", { "other.txt": "x\n" });
      const first = await scene.take({ commit: other });
      await repository.git("branch", "-D", "other");
      await inside(first, "echo new > new.txt; git add new.txt; git commit -qm own; echo more > more.txt");
      const { commit: kept } = await scene.keep(first);
      const { commit: aside } = await scene.keep(first, "refs/skein/salvage/r1/t.1");
      await repository.git("update-ref", "-d", REF);
      await repository.git("gc", "-q", "--prune=now");
      assert.equal(await repository.git("show", `${kept}:more.txt`), "more");
      await workspaces.release(first);
      await scene.take({ job: jobOf(2), commit });
      assert.deepEqual(await heldIn(scene), [
        `${HELD}/agent-1 ${commit}`,
        `${HELD}/kept/1.1-a ${kept}`,
        `refs/skein/salvage/r1/t.1 ${aside}`,
      ]);
      await workspaces.release((await workspaces.heldBy(jobOf(2)))!);
      await (workspaces as CloneWorkspaces).close();
      assert.equal((await heldIn(scene)).length, 2);
    }));
});
