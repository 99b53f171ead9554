/** Tests that a fault while a worker's files are kept loses none: all are kept, or stay in the workspace. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { Workspace } from "../../src/ports/workspaces.ts";
import { LIMITS, NEVER } from "./programs.ts";
import { good, inside, MAX_FILE_BYTES, onStage, REF, type Scene } from "./workspaces.ts";

const AS = { ref: REF, message: "Kept\n" };

/** Puts something into the user's repository that makes git fail, also for root. */
type Obstacle = (scene: Scene, workspace: Workspace) => Promise<string>;

/** Puts a file where git has to make a folder of objects. */
async function noFolderFor(scene: Scene, workspace: Workspace, idBy: string): Promise<string> {
  for (let number = 0; ; number += 1) {
    const id = await inside(workspace, `echo ${number} > new.txt; ${idBy}`);
    const folder = join(scene.repository.folder, ".git/objects", id.slice(0, 2));
    if (!existsSync(folder)) return folder;
  }
}

const OBSTACLES: readonly (readonly [string, Obstacle])[] = [
  ["a file cannot be added", (scene, held) => noFolderFor(scene, held, "git hash-object new.txt")],
  ["a tree cannot be written", (scene, held) => noFolderFor(scene, held, "git add -A; git write-tree")],
  [
    "the branch is locked",
    async ({ repository }) => {
      await mkdir(dirname(join(repository.folder, ".git", REF)), { recursive: true });
      return join(repository.folder, ".git", `${REF}.lock`);
    },
  ],
];

/** `pause` is called instead of each wait between tries. */
const make = (repository: string, folder: string, pause: () => Promise<void>) =>
  new CloneWorkspaces({
    environment: process.env,
    repository,
    folder,
    programs: new LocalPrograms({ folder: join(folder, "programs") }),
    limits: LIMITS,
    maxFileBytes: MAX_FILE_BYTES,
    pause,
  });

for (const [what, place] of OBSTACLES) {
  describe(`where ${what}`, () => {
    const WORK = "echo x > a.txt; echo n > new.txt; rm dir/b.txt";
    for (const [how, more, last] of [
      ["files", "true", "true"],
      ["commits", "echo l > x.log; git add -f x.log", "git add -A; git commit -qm own"],
    ] as const) {
      it(`all of a worker's ${how} are kept by another try, once it is mended`, async () => {
        let waits = 0;
        let obstacle = "";
        const pause = async () => {
          waits += 1;
          if (waits === 2) await rm(obstacle);
        };
        await onStage(
          (repository, folder) => make(repository, folder, pause),
          async (scene) => {
            const held = await scene.take();
            await inside(held, `${WORK}; ${more}`);
            obstacle = await place(scene, held);
            await inside(held, last);
            await writeFile(obstacle, "");
            const { commit, left } = good(await scene.workspaces.keep(held, AS, NEVER));
            assert.deepEqual([waits, left], [2, []]);
            const changes = await scene.repository.git("diff", "--name-status", scene.commit, `${commit}`);
            const own = how === "commits" ? "\nA\tx.log" : "";
            assert.equal(changes, `M\ta.txt\nD\tdir/b.txt\nA\tnew.txt${own}`);
            assert.equal(await scene.repository.git("rev-parse", REF), commit);
          },
        );
      });
    }

    it("nothing of it is kept as if it were all, as long as it lasts; the work stays, and can be kept later", async () => {
      let waits = 0;
      const pause = async () => {
        waits += 1;
      };
      await onStage(
        (repository, folder) => make(repository, folder, pause),
        async (scene) => {
          const { workspaces, repository, commit } = scene;
          const held = await scene.take();
          await inside(held, WORK);
          const obstacle = await place(scene, held);
          await writeFile(obstacle, "");
          const kept = await workspaces.keep(held, AS, NEVER);
          assert.ok(hasFailed(kept));
          assert.deepEqual([kept.failure.kind, waits], ["repository", 3]);
          assert.ok(kept.failure.message.includes(dirname(held.folder)), kept.failure.message);
          assert.equal(await repository.git("for-each-ref", "refs/heads/skein"), "");
          assert.equal((await workspaces.heldBy(held.job))?.folder, held.folder);
          await rm(obstacle);
          const later = good(await workspaces.keep(held, AS, NEVER));
          const changes = await repository.git("diff", "--name-only", commit, `${later.commit}`);
          assert.equal(changes, "a.txt\ndir/b.txt\nnew.txt");
        },
      );
    });
  });
}

it("nothing is kept while git itself refuses one of the files: the rest must not pass for the whole", () =>
  onStage(
    (repository, folder) => make(repository, folder, async () => {}),
    async (scene) => {
      const held = await scene.take();
      await inside(
        held,
        "echo '*.txt working-tree-encoding=UTF-16' > .gitattributes; echo x > a.txt; rm run.sh",
      );
      const kept = await scene.workspaces.keep(held, AS, NEVER);
      assert.ok(hasFailed(kept));
      assert.match(kept.failure.message, /BOM is required in 'a\.txt'/);
      await inside(held, "rm .gitattributes");
      const { commit } = good(await scene.workspaces.keep(held, AS, NEVER));
      const changes = await scene.repository.git("diff", "--name-only", scene.commit, `${commit}`);
      assert.equal(changes, "a.txt\nrun.sh");
    },
  ));
