/** Tests workspaces with traps in them: named pipes, endless devices, links to the outside, bottomless folders. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstat, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import { hasFailed } from "../../src/core/result.ts";
import { LIMITS } from "./programs.ts";
import { inside, jobOf, MAX_FILE_BYTES, onStage, type Scene } from "./workspaces.ts";

type CloneWorkspacesOptions = ConstructorParameters<typeof CloneWorkspaces>[0];

const make = (repository: string, folder: string, more: Partial<CloneWorkspacesOptions> = {}) =>
  new CloneWorkspaces({
    environment: process.env,
    repository,
    folder,
    programs: new LocalPrograms({ folder: join(folder, "programs") }),
    limits: LIMITS,
    maxFileBytes: MAX_FILE_BYTES,
    ...more,
  });

const stage = (body: (scene: Scene) => Promise<void>, more: Partial<CloneWorkspacesOptions> = {}) =>
  onStage((repository, folder) => make(repository, folder, more), body);

/** Far below the 120 s after which a git command is stopped. */
const SOON = { timeout: 30_000 };

describe("a worker that left a trap in its own git folder", { concurrency: 4 }, () => {
  const COMMIT = "echo x > a.txt; git checkout -q -b own; git commit -qam one";
  const traps: readonly (readonly [string, string])[] = [
    ["a pipe as its head", "rm .git/HEAD; mkfifo .git/HEAD"],
    ["a link to what has no end as its head", "rm .git/HEAD; ln -s /dev/zero .git/HEAD"],
    ["a pipe as its branch", "rm .git/refs/heads/own; mkfifo .git/refs/heads/own"],
    ["a link on the way to its branch", "mv .git/refs/heads .git/away; ln -s ../away .git/refs/heads"],
    ["a pipe as its packed refs", "rm .git/refs/heads/own; mkfifo .git/packed-refs"],
    ["a pipe as its alternates", "rm .git/objects/info/alternates; mkfifo .git/objects/info/alternates"],
    [
      "a link to what has no end as its alternates",
      "rm .git/objects/info/alternates; ln -s /dev/zero .git/objects/info/alternates",
    ],
    [
      "alternates that lead to a pipe",
      "mkdir -p e/info; mkfifo e/info/alternates; echo $PWD/e > .git/objects/info/alternates",
    ],
    ["a pipe among its packs", "mkfifo .git/objects/pack/pack-1.idx; touch .git/objects/pack/pack-1.pack"],
    ["a pipe as an object", "for o in .git/objects/??/*; do rm -f $o; mkfifo $o; done"],
  ];
  for (const [what, script] of traps) {
    it(`${what} is kept as files, soon`, SOON, () =>
      stage(async ({ repository, take, keep, commit }) => {
        const workspace = await take();
        await inside(workspace, `${COMMIT}; ${script}`);
        const { commit: made } = await keep(workspace);
        assert.equal(await repository.git("diff", "--name-only", commit, `${made}`), "a.txt");
        assert.equal(await repository.git("log", "--format=%s", `${commit}..${made}`), "Kept");
      }),
    );
  }
});

describe("a worker that left a trap among its files", { concurrency: 4 }, () => {
  const traps: readonly (readonly [string, string, RegExp])[] = [
    [
      "a pipe in the place of the ignore file",
      "rm .gitignore; mkfifo .gitignore",
      /"\.gitignore" is a pipe, a socket or a device/,
    ],
    [
      "a pipe as ignore file of a folder whose name is no text",
      `d="$(printf 'byte\\377')"; mkdir "$d"; mkfifo "$d/.gitignore"`,
      /\.gitignore" is a pipe/,
    ],
    ["a pipe as attributes", "mkfifo .gitattributes", /"\.gitattributes" is a pipe/],
    [
      "a pipe as head of an inner repository",
      "git init -q inner; rm inner/.git/HEAD; mkfifo inner/.git/HEAD",
      /"inner\/\.git\/HEAD" is a pipe/,
    ],
    ["a pipe in the place of a file", "rm dir/b.txt; mkfifo dir/b.txt", /"dir\/b\.txt" is a pipe/],
    ["a pipe beside its files", "mkdir -p new/deep; mkfifo new/deep/queue", /^$/],
    ["a link to what has no end", "ln -s /dev/zero endless", /^$/],
  ];
  for (const [what, script, said] of traps) {
    it(`${what} has the rest kept, soon, and what was left is said`, SOON, () =>
      stage(async ({ repository, take, keep, commit }) => {
        const workspace = await take();
        await inside(workspace, `${script}; echo x > a.txt`);
        const { commit: made, left } = await keep(workspace);
        const changes = await repository.git("diff", "--name-only", commit, `${made}`);
        assert.deepEqual(
          changes.split("\n").filter((path) => path !== "endless"),
          ["a.txt"],
        );
        assert.match(left.join("\n"), said);
      }),
    );
  }

  it("leaves it in no one's way: the next holder of the folder gets it soon, too", SOON, () =>
    stage(async ({ take, workspaces }) => {
      for (const use of ["agent", "gate"] as const) {
        const first = await take({ use });
        await inside(
          first,
          "mkfifo .gitattributes; mkdir new; mkfifo new/.gitignore; rm a.txt; mkfifo a.txt",
        );
        await workspaces.release(first);
        const next = await take({ use, job: jobOf(2) });
        assert.equal(next.folder, first.folder);
        assert.equal(await inside(next, "cat a.txt; git status --porcelain"), "a");
        await workspaces.release(next);
      }
    }),
  );
});

describe("what is beside a worker's files", { concurrency: 4 }, () => {
  it("is not waited for when the records of the pool are pipes", SOON, () =>
    stage(async ({ repository, folder, take }) => {
      const first = await take();
      for (const name of ["holder.json", "slot.json", "setup.txt"]) {
        await rm(join(dirname(first.folder), name), { force: true });
        execFileSync("mkfifo", [join(dirname(first.folder), name)]);
      }
      const next = make(repository.folder, folder);
      assert.equal(await next.heldBy(jobOf(1)), undefined);
    }),
  );

  it("is made anew when it is a pipe, and holds up neither a keep nor the next worker", SOON, () =>
    stage(
      async ({ take, workspaces }) => {
        const first = await take();
        for (const name of ["git/index", "setup.txt"]) {
          await rm(join(dirname(first.folder), name));
          execFileSync("mkfifo", [join(dirname(first.folder), name)]);
        }
        const stop = new AbortController().signal;
        const kept = await workspaces.keep(first, { ref: "refs/heads/kept", message: "Kept" }, stop);
        assert.ok(hasFailed(kept) && /index is no file any more/.test(kept.failure.message));
        await workspaces.release(first);
        const next = await take({ job: jobOf(2) });
        assert.equal(next.folder, first.folder);
        assert.equal(await inside(next, "git status --short; cat a.txt"), await inside(next, "cat a.txt"));
      },
      { setup: "true" },
    ),
  );

  it("is removed although its paths are longer than the system takes", SOON, () =>
    stage(async ({ folder, take, workspaces }) => {
      const first = await take();
      const down = "for i in $(seq 30); do n=$(printf '%0200d' $i); mkdir $n; cd -P ./$n; done; touch f";
      execFileSync("bash", ["-c", `${down} 2>/dev/null || true`], { cwd: first.folder });
      await workspaces.release(first);
      const next = await take({ job: jobOf(2) });
      assert.equal(await inside(next, "ls"), "a.txt\ndir\nrun.sh");
      await workspaces.release(next);
      await (workspaces as CloneWorkspaces).close();
      assert.ok(!(await readdir(folder)).includes("workspaces"));
    }),
  );
});

describe("a commit with a trap", { concurrency: 4 }, () => {
  it("as its lock file does not keep a workspace from being set up", SOON, () =>
    stage(
      async ({ repository, take }) => {
        const commit = await repository.branch("trap", { "package-lock.json": { link: "/dev/zero" } });
        const workspace = await take({ commit, use: "gate" });
        assert.ok((await lstat(join(workspace.folder, "package-lock.json"))).isSymbolicLink());
      },
      { setup: "true" },
    ),
  );
});

describe("a worker that committed a tree which nobody can unfold", { concurrency: 4 }, () => {
  /** `mktree` does not check whether its entries can be checked out. */
  const commitOf = (tree: string) =>
    `t=$(${tree}); c=$(git commit-tree -p HEAD -m bomb $t); git update-ref --no-deref HEAD $c; echo x > a.txt`;
  const levels = (count: number, width: number) =>
    `t=$(git hash-object -w a.txt | sed 's/^/100644 blob /;s/$/\\tf/' | git mktree); ` +
    `for i in $(seq ${count}); do t=$(for j in $(seq ${width}); do printf '040000 tree %s\\t%s\\n' $t $j; done | git mktree); done; echo $t`;
  const bombs: readonly (readonly [string, string, RegExp])[] = [
    ["ten thousand million files", levels(10, 10), /more than (?:1000000 files and folders|67108864 bytes)/],
    ["a thousand folders in each other", levels(1_000, 1), /more than 200 folders deep|has more than/],
    [
      "a name that no disk stores",
      `printf '100644 blob %s\\t%0300d\\n' $(git hash-object -w a.txt) 1 | git mktree`,
      /a name in its tree has more than 255 bytes/,
    ],
  ];
  for (const [what, tree, why] of bombs)
    it(`${what}: its files are kept, soon, and it is said why not its commits`, SOON, () =>
      stage(async ({ repository, take, keep, commit }) => {
        const workspace = await take();
        await inside(workspace, commitOf(tree));
        const { commit: made, left } = await keep(workspace);
        assert.match(left.join(), /its own commits, only their files: /);
        assert.match(left.join(), why);
        assert.equal(await repository.git("log", "--format=%s", `${commit}..${made}`), "Kept");
        assert.equal(await repository.git("show", `${made}:a.txt`), "x");
      }),
    );
});
