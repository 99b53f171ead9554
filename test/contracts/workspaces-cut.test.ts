/** Tests that a cut workspace has what its task needs, and that files outside of the cut are not lost. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import { LIMITS } from "./programs.ts";
import { FILES, inside, jobOf, MAX_FILE_BYTES, onStage, REF, type Scene } from "./workspaces.ts";
import { keepingContract } from "./workspaces-keep.ts";

type Options = ConstructorParameters<typeof CloneWorkspaces>[0];

const make = (repository: string, folder: string, more: Partial<Options> = {}) =>
  new CloneWorkspaces({
    environment: process.env,
    programs: new LocalPrograms({ folder: join(folder, "programs") }),
    ...{ repository, folder, limits: LIMITS, maxFileBytes: MAX_FILE_BYTES, isSparse: true },
    ...more,
  });

const TREE = {
  ...FILES,
  "src/one/a.ts": "a\n",
  "src/one/deep/b.ts": "b\n",
  "src/two/c.ts": "c\n",
  "src/two/d.ts": "d\n",
  "src/two/package.json": "{}\n",
  "src/two/.gitignore": "*.tmp\n",
  "docs/[1] page.md": "p\n",
  "docs/other.md": "o\n",
};

const stage = (body: (scene: Scene) => Promise<void>, more: Partial<Options> = {}) =>
  onStage((repository, folder) => make(repository, folder, more), body, { files: TREE });

const PATHS = ["src/one/", "docs/[1] page.md"];
const HERE = "find . -name .git -prune -o -type f -print | sort";
const WHOLE = Object.keys(TREE)
  .map((path) => `./${path}`)
  .sort();

/** No paths are asked for, so the workspace has the whole tree, as without the option. */
keepingContract("that could be cut", make);

describe("a cut workspace", () => {
  it("has its paths, files at the top, manifests, and what git reads; git sees no change", () =>
    stage(async ({ take }) => {
      const worker = await take({ paths: PATHS });
      assert.deepEqual((await inside(worker, HERE)).split("\n"), [
        ...["./.gitignore", "./a.txt", "./docs/[1] page.md", "./run.sh", "./src/one/a.ts"],
        ...["./src/one/deep/b.ts", "./src/two/.gitignore", "./src/two/package.json"],
      ]);
      assert.equal(await inside(worker, "git status --porcelain; git show HEAD:src/two/c.ts"), "c");
    }));

  it("keeps its changes alone: nothing that is not there counts as deleted", () =>
    stage(async ({ repository, take, keep, workspaces, commit }) => {
      const idle = await take({ paths: PATHS });
      assert.equal((await keep(idle)).commit, undefined);
      await workspaces.release(idle);
      const worker = await take({ paths: PATHS });
      await inside(worker, "echo x >> src/one/a.ts; rm src/one/deep/b.ts a.txt; echo n > src/one/new.ts");
      const kept = await keep(worker);
      assert.ok(kept.commit);
      assert.equal(
        await repository.git("diff", "--name-status", commit, REF),
        "D\ta.txt\nM\tsrc/one/a.ts\nD\tsrc/one/deep/b.ts\nA\tsrc/one/new.ts",
      );
    }));

  for (const [how, commits] of [
    ["left uncommitted", ":"],
    ["committed", "git add --sparse -A; git commit -qm own"],
  ] as const)
    it(`shows what its worker wrote outside of its paths, ${how}: over a file that is not there, and a new one`, () =>
      stage(async ({ repository, take, keep, commit }) => {
        const worker = await take({ paths: PATHS });
        const writes =
          "mkdir -p src/two dir new; echo over > src/two/c.ts; echo n > new/n.txt; echo z > src/two/z.ts";
        await inside(worker, `${writes}; ${commits}; echo late > dir/b.txt`);
        await keep(worker);
        assert.equal(
          await repository.git("diff", "--name-status", commit, REF),
          "M\tdir/b.txt\nA\tnew/n.txt\nM\tsrc/two/c.ts\nA\tsrc/two/z.ts",
        );
      }));

  it("keeps commits that change or move files which are not there, and what it deletes besides", () =>
    stage(async ({ repository, take, keep, commit }) => {
      const worker = await take({ paths: PATHS });
      await inside(
        worker,
        `id=$(echo plumbed | git hash-object -w --stdin)
        git update-index --cacheinfo 100644,$id,src/two/c.ts; git mv --sparse src/two/d.ts src/two/e.ts
        git commit -qm own; echo x > src/one/a.ts; rm src/two/package.json`,
      );
      await keep(worker);
      assert.equal(
        await repository.git("diff", "--name-status", commit, REF),
        "M\tsrc/one/a.ts\nM\tsrc/two/c.ts\nR100\tsrc/two/d.ts\tsrc/two/e.ts\nD\tsrc/two/package.json",
      );
      assert.equal(await repository.git("show", `${REF}:src/two/c.ts`), "plumbed");
    }));

  it("keeps what a worker changes after it has brought all files in", () =>
    stage(async ({ repository, take, keep, commit }) => {
      const worker = await take({ paths: PATHS });
      await inside(worker, "git sparse-checkout disable; test -e src/two/c.ts; echo x > src/two/d.ts");
      await keep(worker);
      assert.equal(await repository.git("diff", "--name-status", commit, REF), "M\tsrc/two/d.ts");
    }));

  it("is made for one holder: the next one, a gate and a probe have the whole tree", () =>
    stage(async ({ take, workspaces }) => {
      const first = await take({ paths: PATHS });
      await inside(first, "mkdir -p src/two; echo mine > src/two/c.ts; echo x > src/two/left.txt");
      await workspaces.release(first);
      for (const use of ["agent", "gate", "probe", "plan"] as const) {
        const next = await take({ use, job: jobOf(2), ...(use !== "agent" && { paths: PATHS }) });
        assert.deepEqual((await inside(next, HERE)).split("\n"), WHOLE, use);
        assert.equal(await inside(next, "git status --porcelain; cat src/two/c.ts"), "c");
        await workspaces.release(next);
      }
      const again = await take({ paths: ["src/two/"] });
      assert.equal(await inside(again, "cat src/two/c.ts; ls -A src; git status --porcelain"), "c\ntwo");
    }));

  it("is the whole tree for the whole repository, and where nothing is cut", () =>
    stage(async ({ take, workspaces }) => {
      for (const paths of [["./"], [], undefined]) {
        const worker = await take(paths ? { paths } : {});
        assert.deepEqual((await inside(worker, HERE)).split("\n"), WHOLE);
        await workspaces.release(worker);
      }
      const usual = await take({ job: jobOf(3) });
      assert.deepEqual((await inside(usual, HERE)).split("\n"), WHOLE);
    }).then(() =>
      stage(
        async ({ take }) => {
          assert.deepEqual((await inside(await take({ paths: PATHS }), HERE)).split("\n"), WHOLE);
        },
        { isSparse: false },
      ),
    ));

  it("is kept whole by a later engine, which finds it with its holder", () =>
    stage(async ({ repository, folder, take, commit }) => {
      await inside(
        await take({ paths: PATHS }),
        "echo x > src/one/a.ts; mkdir -p src/two; echo y > src/two/c.ts",
      );
      const later = make(repository.folder, folder);
      const held = await later.heldBy(jobOf(1));
      assert.ok(held);
      await later.keep(held, { ref: REF, message: "Kept\n" }, AbortSignal.timeout(60_000));
      assert.equal(
        await repository.git("diff", "--name-status", commit, REF),
        "M\tsrc/one/a.ts\nM\tsrc/two/c.ts",
      );
    }));
});
