/** Tests workspaces that are shared clones: the contract, and what is particular to them. */
import assert from "node:assert/strict";
import { access, chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import { hasFailed } from "../../src/core/result.ts";
import { makeRepository, openRepository } from "../support/repositories.ts";
import { isRunning, LIMITS, NEVER, shell, temporaryFolder } from "./programs.ts";
import {
  good,
  inside,
  jobOf,
  MAX_FILE_BYTES,
  onStage,
  REF,
  type Scene,
  workspacesContract,
} from "./workspaces.ts";
import { keepingContract } from "./workspaces-keep.ts";

type Options = ConstructorParameters<typeof CloneWorkspaces>[0];

const programsIn = (folder: string) => new LocalPrograms({ folder: join(folder, "programs") });
const make = (repository: string, folder: string, more: Partial<Options> = {}) =>
  new CloneWorkspaces({
    environment: process.env,
    repository,
    folder,
    programs: programsIn(folder),
    limits: LIMITS,
    maxFileBytes: MAX_FILE_BYTES,
    ...more,
  });

workspacesContract("that are clones", make);
keepingContract("that are clones", make);

const stage = (more: Partial<Options>, body: (scene: Scene) => Promise<void>) =>
  onStage((repository, folder) => make(repository, folder, more), body);

describe("what a clone gets besides its commit", { concurrency: 4 }, () => {
  it("copies ignored folders by name, wherever they are, and puts them right for the next agent", () =>
    stage({ copy: ["node_modules"] }, async ({ repository, take, keep, workspaces }) => {
      await repository.write({
        "node_modules/m/index.js": "m",
        "node_modules/bin": { link: "m/index.js" },
        "dir/node_modules/n": "n",
        "ignored/x": "x",
      });
      const first = await take();
      assert.equal(
        await inside(first, "cat node_modules/bin dir/node_modules/n; ls"),
        "mna.txt\ndir\nnode_modules\nrun.sh",
      );
      await inside(first, "echo spoilt > node_modules/m/index.js; rm .gitignore");
      assert.equal(
        (await keep(first)).commit && (await repository.git("diff", "--name-only", "HEAD", REF)),
        ".gitignore",
      );
      await workspaces.release(first);
      assert.equal(await inside(await take({ job: jobOf(2) }), "cat node_modules/bin"), "m");
      assert.equal(await readFile(join(repository.folder, "node_modules/m/index.js"), "utf8"), "m");
    }));

  it("leaves what a gate made of its copy", () =>
    stage({ copy: ["node_modules"] }, async ({ repository, take, workspaces }) => {
      await repository.write({ "node_modules/m": "m" });
      const first = await take({ use: "gate" });
      await inside(first, "echo built > node_modules/m");
      await workspaces.release(first);
      assert.equal(await inside(await take({ job: jobOf(2), use: "gate" }), "cat node_modules/m"), "built");
    }));

  it("shares a folder as a link, says so, and never commits the link", () =>
    stage({ share: ["node_modules"] }, async ({ repository, take, keep, workspaces }) => {
      await repository.write({ "node_modules/m": "m" });
      for (const use of ["agent", "agent", "gate", "gate"] as const) {
        const workspace = await take({ use });
        assert.match(
          workspace.notices.join(),
          /node_modules is shared with your checkout: workers can change it/,
        );
        assert.equal(workspace.notices.length, 1);
        assert.equal(await inside(workspace, "cat node_modules/m; git status --porcelain"), "m");
        assert.equal((await keep(workspace)).commit, undefined);
        await workspaces.release(workspace);
      }
      assert.equal(await readFile(join(repository.folder, "node_modules/m"), "utf8"), "m");
    }));

  it("copies the ignored files that .worktreeinclude names, links as links, anew each time", () =>
    stage({}, async ({ repository, take, keep, workspaces }) => {
      await repository.write({
        ".worktreeinclude": ".env\n*.log\na.txt\nuntracked\n!no.log\n",
        ".env": "one\n",
        "dir/x.log": "log\n",
        "no.log": "",
        "link.log": { link: "/etc/hostname" },
        "a.txt": "dirty\n",
        untracked: "not ignored\n",
      });
      for (const use of ["agent", "gate", "gate"] as const) {
        const workspace = await take({ use });
        assert.equal(
          await inside(workspace, "cat .env dir/x.log a.txt; readlink link.log"),
          "one\nlog\na\n/etc/hostname",
        );
        await assert.rejects(access(join(workspace.folder, "no.log")));
        await assert.rejects(access(join(workspace.folder, "untracked")));
        await inside(workspace, "rm .gitignore; echo changed > .env");
        const { commit } = await keep(workspace);
        assert.equal(await repository.git("diff", "--name-only", "HEAD", `${commit}`), ".gitignore");
        await workspaces.release(workspace);
      }
    }));

  it("writes nothing through a link that a commit has where an ignored file would go", () =>
    stage({ copy: ["node_modules"] }, async ({ repository, folder, take }) => {
      await mkdir(join(folder, "outside"));
      const commit = await repository.branch("trap", {
        "dir/b.txt": null,
        dir: { link: join(folder, "outside") },
      });
      await repository.write({ ".worktreeinclude": ".env\n", "dir/.env": "e", "dir/node_modules/m": "m" });
      const { notices } = await take({ commit });
      assert.deepEqual(await readdir(join(folder, "outside")), []);
      assert.match(notices.join(), /dir\/.env was not copied.*dir\/node_modules was not copied/);
    }));

  it("sets up an agent's folder each time, a gate's when it is new or a lock file changed", () =>
    stage(
      { setup: 'mkdir -p ignored; echo "$GIVEN$TERM" >> ignored/times' },
      async ({ repository, take, workspaces }) => {
        const times = async (use: "agent" | "gate", commit?: string) => {
          const workspace = await take({ use, ...(commit && { commit }) });
          const text = await inside(workspace, "cat ignored/times");
          await workspaces.release(workspace);
          return text.split("\n").length;
        };
        assert.deepEqual([await times("agent"), await times("agent")], [1, 1]);
        assert.deepEqual([await times("gate"), await times("gate")], [1, 1]);
        const changed = await repository.branch("locked", { "package-lock.json": "{}" });
        assert.deepEqual(
          [await times("gate", changed), await times("gate", changed), await times("gate")],
          [2, 2, 3],
        );
      },
    ));

  it("fails with the set-up command's own words, and nobody holds the folder", () =>
    stage({ setup: "echo no network >&2; exit 7" }, async ({ workspaces, commit }) => {
      const result = await workspaces.take({ job: jobOf(1), commit, use: "agent" }, NEVER);
      assert.ok(hasFailed(result));
      assert.equal(result.failure.kind, "setup");
      assert.match(
        result.failure.message,
        /set-up command workspace\.setup \(echo.*\) ended with 7 in \S+: no network/,
      );
      assert.match(result.failure.next ?? "", /workspace\.setup in skein\.yaml/);
      assert.equal(await workspaces.heldBy(jobOf(1)), undefined);
    }));

  it("hands on variables that were named, secret or not", () =>
    stage({ pass: ["TEST_API_KEY"] }, async ({ take }) => {
      process.env["TEST_API_KEY"] = "wanted";
      try {
        assert.equal((await take()).environment["TEST_API_KEY"], "wanted");
      } finally {
        delete process.env["TEST_API_KEY"];
      }
    }));
});

describe("a pool of clones", { concurrency: 4 }, () => {
  it("ends what still runs for a job when its folder is given back", () =>
    stage({}, async ({ folder, take, workspaces }) => {
      const workspace = await take();
      const pid = Promise.withResolvers<number>();
      const program = { ...shell("echo $$; sleep 600", workspace.folder), job: workspace.job };
      const end = programsIn(folder).run(
        { ...program, onOutput: (text) => pid.resolve(Number(text)) },
        NEVER,
      );
      const number = await pid.promise;
      await workspaces.release(workspace);
      assert.ok(!isRunning(number));
      assert.equal((await end).is, "killed");
    }));

  it("keeps what is in a folder whose record is damaged, and makes the folder anew", () =>
    stage({}, async ({ repository, folder, take }) => {
      const workspace = await take();
      await inside(workspace, "echo x > a.txt; echo n > n");
      await writeFile(join(dirname(workspace.folder), "holder.json"), '{"job":');
      const next = make(repository.folder, folder);
      assert.equal(await next.heldBy(jobOf(1)), undefined);
      const ref = await repository.git("for-each-ref", "--format=%(refname)", "refs/skein/salvage/found");
      assert.equal(await repository.git("diff", "--name-only", "main", ref), "a.txt\nn");
      const again = good(await next.take({ ...workspace, job: jobOf(2), use: "agent" }, NEVER));
      assert.equal(await inside(again, "git status --porcelain; cat a.txt"), "a");
    }));

  it("remembers for a later engine what was kept for good", () =>
    stage({}, async ({ repository, folder, take, workspaces }) => {
      const workspace = await take();
      await inside(workspace, "echo x > a.txt; git init -q nested; touch nested/f");
      const as = { ref: REF, message: "m", isFinal: true };
      const first = good(await workspaces.keep(workspace, as, NEVER));
      assert.equal(first.left.length, 1);
      await inside(workspace, "rm -rf nested; echo later > a.txt");
      const next = make(repository.folder, folder);
      const held = await next.heldBy(jobOf(1));
      assert.ok(held);
      assert.deepEqual(good(await next.keep(held, as, NEVER)), first);
    }));

  it("keeps work although a killed engine left its locks behind", () =>
    stage({}, async ({ take, keep }) => {
      const workspace = await take();
      await inside(workspace, "echo x > a.txt");
      for (const name of ["index.lock", "index.keep.lock", "HEAD.lock"]) {
        await writeFile(join(dirname(workspace.folder), "git", name), "");
      }
      assert.ok((await keep(workspace)).commit);
    }));

  it("makes a folder anew that was not finished, or is spoilt beyond cleaning", () =>
    stage({}, async ({ take, workspaces }) => {
      const first = await take();
      const slot = dirname(first.folder);
      for (const spoil of [
        () => rm(join(slot, "slot.json")),
        () => rm(join(slot, "git"), { recursive: true }),
        () => writeFile(join(slot, "git", "index"), "broken"),
        () => rm(first.folder, { recursive: true }),
        () => rm(first.folder, { recursive: true }).then(() => symlink("/", first.folder)),
      ]) {
        await workspaces.release(first);
        await spoil();
        assert.equal(await inside(await take(), "git status --porcelain; cat a.txt"), "a");
      }
    }));

  it("deletes nothing behind a link that a worker put in the place of its folder", () =>
    stage({}, async ({ repository, take, workspaces }) => {
      const workspace = await take();
      const slot = dirname(workspace.folder);
      for (const folder of [workspace.folder, join(slot, "git"), join(slot, "tmp")]) {
        await rm(folder, { recursive: true });
        await symlink(repository.folder, folder);
      }
      assert.ok(hasFailed(await workspaces.keep(workspace, { ref: REF, message: "m" }, NEVER)));
      await workspaces.release(workspace);
      assert.equal(await inside(await take(), "cat a.txt; git status --porcelain"), "a");
      assert.equal(await repository.git("status", "--porcelain"), "");
    }));

  it("removes folders that were made read-only", () =>
    stage({}, async ({ take, workspaces }) => {
      const first = await take();
      await inside(first, 'mkdir -p new/deep "$TMPDIR/t"; touch new/deep/f; chmod -R a-w new "$TMPDIR/t"');
      await workspaces.release(first);
      assert.equal(await inside(await take(), 'git status --porcelain; ls -A "$TMPDIR"'), "");
    }));

  it("gives the disk back when it is closed, and can be used again", async () => {
    await using repository = await makeRepository({ files: { a: "a" } });
    await using folder = await temporaryFolder();
    const workspaces = make(repository.folder, folder.path);
    const commit = await repository.git("rev-parse", "HEAD");
    const want = { job: jobOf(1), commit, use: "agent" } as const;
    const workspace = good(await workspaces.take(want, NEVER));
    await inside(workspace, "mkdir d; touch d/f; chmod a-w d");
    await workspaces.release(workspace);
    await workspaces.close();
    assert.deepEqual(await readdir(folder.path), []);
    assert.deepEqual(await workspaces.holders(), []);
    good(await workspaces.take(want, NEVER));
  });

  it("says who holds what, and leaves that when it is closed", () =>
    stage({}, async ({ repository, folder, take }) => {
      const mine = await take();
      await take({ job: jobOf(2), use: "gate" });
      await inside(mine, "echo x > a.txt");
      const next = make(repository.folder, folder);
      const free = good(await next.take({ ...mine, job: jobOf(3), use: "agent" }, NEVER));
      await next.release(free);
      assert.deepEqual(await next.holders(), [
        { job: jobOf(1), use: "agent" },
        { job: jobOf(2), use: "gate" },
      ]);
      await next.close();
      await assert.rejects(access(free.folder));
      assert.equal(await inside(mine, "cat a.txt"), "x");
    }));

  it("deletes nothing when it is closed and could not see who holds what", () =>
    stage({}, async ({ repository, folder, take }) => {
      const mine = await take();
      await inside(mine, "echo x > a.txt");
      const away = `${repository.folder}-away`;
      await rename(repository.folder, away);
      const next = make(repository.folder, folder);
      assert.deepEqual(await next.holders(), []);
      await next.close();
      await rename(away, repository.folder);
      await next.close();
      assert.equal(await inside(mine, "cat a.txt"), "x");
    }));

  it("leaves what is in a folder whose record is damaged, while it cannot be kept", () =>
    stage({}, async ({ repository, folder, take }) => {
      const workspace = await take();
      await inside(workspace, "echo x > a.txt");
      await writeFile(join(dirname(workspace.folder), "holder.json"), "{");
      await repository.git("update-ref", "refs/skein/salvage/found", "HEAD"); // Blocks the names of salvage refs.
      const next = make(repository.folder, folder);
      const other = good(await next.take({ ...workspace, job: jobOf(2), use: "agent" }, NEVER));
      assert.notEqual(other.folder, workspace.folder);
      await next.release(other);
      await next.close();
      assert.equal(await inside(workspace, "cat a.txt"), "x");
      await repository.git("update-ref", "-d", "refs/skein/salvage/found");
      await make(repository.folder, folder).close();
      const ref = await repository.git("for-each-ref", "--format=%(refname)", "refs/skein/salvage/found");
      assert.equal(await repository.git("diff", "--name-only", "main", ref), "a.txt");
    }));

  it("works beside another one on the same repository", () =>
    stage({}, async ({ repository, take, keep }) => {
      await using folder = await temporaryFolder();
      const other = make(repository.folder, folder.path);
      const mine = await take();
      const theirs = good(await other.take({ ...mine, use: "agent" }, NEVER));
      await Promise.all([
        inside(mine, "echo m > a.txt; git commit -qam m"),
        inside(theirs, "echo t > a.txt; git commit -qam t"),
      ]);
      const [a, b] = await Promise.all([
        keep(mine),
        other.keep(theirs, { ref: `${REF}-other`, message: "m" }, NEVER),
      ]);
      assert.equal(await repository.git("show", `${a.commit}:a.txt`), "m");
      assert.equal(await repository.git("show", `${good(b).commit}:a.txt`), "t");
    }));

  it("fails with the folder's name and what to do where nothing can be written", () =>
    onStage(make, async ({ repository, folder, commit }) => {
      await writeFile(join(folder, "file"), "");
      const workspaces = make(repository.folder, join(folder, "file"), { programs: programsIn(folder) });
      const result = await workspaces.take({ job: jobOf(1), commit, use: "agent" }, NEVER);
      assert.ok(hasFailed(result));
      assert.match(result.failure.message, /workspace .*file\/workspaces\/agent-1: /);
      assert.ok(result.failure.next);
    }));

  it("fails with words where there is no repository", async () => {
    await using folder = await temporaryFolder();
    const workspaces = make(folder.path, folder.path);
    const commit = "0123456789012345678901234567890123456789";
    assert.ok(hasFailed(await workspaces.take({ job: jobOf(1), commit, use: "agent" }, NEVER)));
    assert.equal(await workspaces.heldBy(jobOf(1)), undefined);
  });
});

describe("the user's repository may be", () => {
  const works = async (repository: string, folder: string, commit: string) => {
    const workspaces = make(repository, folder);
    const workspace = good(await workspaces.take({ job: jobOf(1), commit, use: "agent" }, NEVER));
    assert.match(
      await inside(workspace, "git log --oneline | cat; git status --porcelain"),
      /^[0-9a-f]+ .*$/m,
    );
    await inside(workspace, "echo one > one; git add one; git commit -qm one; echo two > two");
    const { commit: made } = good(await workspaces.keep(workspace, { ref: REF, message: "kept" }, NEVER));
    assert.equal(await openRepository(repository).git("diff", "--name-only", commit, `${made}`), "one\ntwo");
    await openRepository(repository).git("fsck", "--no-dangling");
  };

  it("a shallow clone, a worktree, a bare repository, or one with submodules", () =>
    onStage(make, async ({ repository, folder, commit }) => {
      await repository.commit({ "a.txt": "second\n" });
      const at = (name: string) => join(folder, name);
      await repository.git("clone", "-q", "--depth=1", `file://${repository.folder}`, at("shallow"));
      await repository.git("worktree", "add", "-q", "--detach", at("tree"), commit);
      await repository.git("clone", "-q", "--bare", repository.folder, at("bare"));
      await repository.git("clone", "-q", repository.folder, at("super"));
      const outer = openRepository(at("super"));
      await outer.git("submodule", "add", "-q", repository.folder, "sub");
      await outer.git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "sub");
      for (const name of ["shallow", "tree", "bare", "super"]) {
        await mkdir(at(`${name}-run`));
        await chmod(at(`${name}-run`), 0o700);
        await works(at(name), at(`${name}-run`), await openRepository(at(name)).git("rev-parse", "HEAD"));
      }
    }));
});
