/** The contract suite of workspaces for keeping a worker's files, in whatever state the worker left them. */
import assert from "node:assert/strict";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { hasFailed } from "../../src/core/result.ts";
import { NEVER } from "./programs.ts";
import {
  good,
  inside,
  jobOf,
  MAX_FILE_BYTES,
  type Make,
  onStage,
  openStage,
  REF,
  type Scene,
} from "./workspaces.ts";

export function keepingContract(name: string, make: Make): void {
  const stage = (body: (scene: Scene) => Promise<void>) => onStage(make, body);

  describe(`workspaces ${name}: keeping`, { concurrency: 4 }, () => {
    let shared: Awaited<ReturnType<typeof openStage>>;
    let count = 0;
    before(async () => {
      shared = await openStage(make);
    });
    after(async () => {
      await shared.repository.git("fsck", "--strict", "--no-dangling");
      await shared[Symbol.asyncDispose]();
    });

    /** The difference between the start and the kept commit, as git prints it. */
    const kept = async (script: string) => {
      const { repository, take, keep, commit, workspaces } = shared;
      count += 1;
      const ref = `${REF}${count}`;
      const workspace = await take({ job: jobOf(count) });
      await inside(workspace, script);
      const { commit: made, left } = await keep(workspace, ref);
      await workspaces.release(workspace);
      if (made === undefined) return { changes: [], left, log: [] };
      assert.equal(await repository.git("rev-parse", ref), made);
      const listed = await repository.git("diff", "--no-renames", "--name-status", "-z", commit, made);
      const parts = listed.split("\0").slice(0, -1);
      const changes = parts.flatMap((part, at) => (at % 2 === 0 ? [`${part} ${parts[at + 1]}`] : []));
      const log = (await repository.git("log", "--format=%s", `${commit}..${made}`)).split("\n");
      assert.equal(await repository.git("merge-base", commit, made), commit);
      return { changes, left, log };
    };

    it("keeps what was changed, added and deleted, in one commit on the start", async () => {
      const { changes, left, log } = await kept(
        "echo x > a.txt; rm dir/b.txt; mkdir -p new/deep; echo n > new/deep/n; chmod -x run.sh; echo i > x.log",
      );
      assert.deepEqual(changes, ["M a.txt", "D dir/b.txt", "A new/deep/n", "M run.sh"]);
      assert.deepEqual([left, log], [[], ["Kept"]]);
    });

    it("keeps nothing where nothing differs, also after commits that cancel each other out", async () => {
      assert.deepEqual((await kept("true")).log, []);
      assert.deepEqual((await kept("touch a.txt; echo i > x.log")).log, []);
      assert.deepEqual(
        (
          await kept(
            "echo x > a.txt; git commit -qam 1; git revert --no-edit HEAD -q || git revert --no-edit HEAD",
          )
        ).log,
        [],
      );
    });

    it("keeps the worker's own commits, from its own branch, and what was left on top", async () => {
      const script =
        "git checkout -q -b own; echo x > a.txt; git commit -qam one; echo y > y; git add y; git commit -qm two";
      assert.deepEqual(await kept(script), { changes: ["M a.txt", "A y"], left: [], log: ["two", "one"] });
      const more = await kept(`${script}; rm y; echo z > z`);
      assert.deepEqual(more, { changes: ["M a.txt", "A z"], left: [], log: ["Kept", "two", "one"] });
      assert.deepEqual((await kept(`${script}; git pack-refs --all; git gc -q`)).log, ["two", "one"]);
    });

    it("keeps an ignored file that the worker committed on purpose", async () => {
      const { changes } = await kept(
        "echo l > x.log; git add -f x.log; git commit -qm forced; echo x > a.txt",
      );
      assert.deepEqual(changes, ["M a.txt", "A x.log"]);
    });

    const lost: readonly (readonly [string, string])[] = [
      ["amended the start commit", "echo x > a.txt; git commit -q --amend -am new"],
      [
        "began a history of its own",
        "git checkout -q --orphan o; echo x > a.txt; git add -A; git commit -qm o",
      ],
      [
        "made a repository of its own in its place",
        "rm -rf .git; git init -q; echo x > a.txt; git add -A; git commit -qm o",
      ],
      ["deleted the git folder", "rm -rf .git; echo x > a.txt"],
      ["made the git folder a file", "rm -rf .git; echo 'gitdir: /nowhere' > .git; echo x > a.txt"],
      ["made the git folder a link", "mv .git ../elsewhere-$$; ln -s ../elsewhere-$$ .git; echo x > a.txt"],
      ["lost its objects", "echo x > a.txt; git commit -qam lost; rm -rf .git/objects/??"],
      ["left a lock behind", "touch .git/index.lock .git/HEAD.lock; echo x > a.txt"],
      [
        "broke its index and settings",
        "echo broken > .git/index; echo '[broken' > .git/config; echo x > a.txt",
      ],
      ["points its head at nothing", "echo 'ref: refs/heads/../../x' > .git/HEAD; echo x > a.txt"],
    ];
    for (const [what, script] of lost) {
      it(`keeps the files of a worker that ${what}`, async () => {
        assert.deepEqual(await kept(script), { changes: ["M a.txt"], left: [], log: ["Kept"] });
      });
    }

    it("keeps the files of a worker that stopped in the middle of a merge", async () => {
      const merge =
        "git checkout -q -b l; echo l > a.txt; git commit -qam l; git checkout -q -b r HEAD^; echo r > a.txt";
      const { changes, log } = await kept(
        `${merge}; git commit -qam r; git merge l || true; test -f .git/MERGE_HEAD`,
      );
      assert.deepEqual([changes, log], [["M a.txt"], ["Kept", "r"]]);
    });

    it("keeps names of any kind, links as links, and what turned from a file into a folder", async () => {
      const script = `printf x > "$(printf 'new\\nline "quoted"')"; printf x > "$(printf 'byte\\377')"; printf x > ' -lead'
        ln -s /etc out; ln -s a.txt in; rm a.txt; mkdir a.txt; echo x > a.txt/inner; printf x > ':(top)'`;
      const { changes } = await kept(script);
      assert.deepEqual(
        changes.sort(),
        [
          "A  -lead",
          "A :(top)",
          "A a.txt/inner",
          "A byte\ufffd",
          "A in",
          'A new\nline "quoted"',
          "A out",
          "D a.txt",
        ].sort(),
      );
    });

    it("leaves out a file that is too large, and says so, also where the worker committed it", async () => {
      const large = `head -c ${MAX_FILE_BYTES + 1} /dev/zero > large; head -c ${MAX_FILE_BYTES} /dev/zero > fits`;
      const { changes, left } = await kept(large);
      assert.deepEqual(changes, ["A fits"]);
      assert.match(left.join(), /^"large" has 100001 bytes, more than 100000: not kept$/);
      const committed = await kept(`${large}; git add -A; git commit -qm large; rm fits; echo x > a.txt`);
      assert.deepEqual([committed.changes, committed.log], [["M a.txt"], ["Kept"]]);
      assert.match(committed.left.join(), /large/);
      assert.deepEqual((await kept(`head -c ${MAX_FILE_BYTES + 1} /dev/zero > large`)).changes, []);
    });

    it("keeps the files of a repository inside, and says that its history is not kept", async () => {
      const inner =
        "git init -q inner; echo i > inner/i; echo l > inner/x.log; echo '*.log' > inner/.gitignore";
      const { changes, left } = await kept(
        `${inner}; cd inner; git add i; git commit -qm i; cd ..; git init -q empty; echo x > a.txt`,
      );
      assert.deepEqual(changes, ["M a.txt", "A inner/.gitignore", "A inner/i"]);
      assert.match(
        left.join(),
        /"inner\/" is a repository of its own: its files are kept, its history is not/,
      );
    });

    it("runs none of the programs that a worker put into its settings, hooks or attributes", () =>
      stage(async ({ take, keep, folder, workspaces }) => {
        const workspace = await take();
        const trap = join(folder, "trapped");
        await inside(
          workspace,
          `mkdir -p .git/hooks; for h in pre-commit post-checkout post-index-change reference-transaction post-commit; do
           printf '#!/bin/sh\\ntouch "${trap}"\\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done
           git config core.fsmonitor 'touch "${trap}"'; git config filter.evil.clean 'touch "${trap}"; cat'
           git config filter.evil.smudge 'touch "${trap}"; cat'; git config core.hooksPath .git/hooks
           git config uploadpack.packObjectsHook 'touch "${trap}"; "$@"'; git config core.sshCommand 'touch "${trap}"'
           echo '* filter=evil' > .gitattributes; echo x > a.txt; git -c core.hooksPath=/dev/null commit -qnm one --allow-empty
           rm -f "${trap}"; echo y > y`,
        );
        assert.ok((await keep(workspace)).commit);
        await workspaces.release(workspace);
        await take();
        await assert.rejects(lstat(trap));
      }));

    it("keeps again what it kept before, under the same name and another", () =>
      stage(async ({ repository, take, keep }) => {
        const workspace = await take();
        await inside(workspace, "echo x > a.txt");
        const first = await keep(workspace, "refs/skein/salvage/r1/1.1");
        assert.equal((await keep(workspace)).commit === undefined, false);
        await inside(workspace, "git commit -qam later; echo y > a.txt");
        const last = await keep(workspace);
        assert.equal(await repository.git("show", `${last.commit}:a.txt`), "y");
        assert.equal(await repository.git("show", `${first.commit}:a.txt`), "x");
        assert.equal(
          await repository.git("rev-parse", "refs/skein/salvage/r1/1.1", REF),
          `${first.commit}\n${last.commit}`,
        );
      }));

    it("keeps for good what it is told to, and later changes only under another name", () =>
      stage(async ({ repository, take, keep, workspaces }) => {
        const as = { ref: REF, message: "m", isFinal: true };
        for (const [job, script] of [
          [1, "true"],
          [2, "echo x > a.txt"],
        ] as const) {
          const workspace = await take({ job: jobOf(job) });
          await inside(workspace, script);
          const first = good(await workspaces.keep(workspace, as, NEVER));
          await inside(workspace, "echo later > a.txt; git commit -qam later; echo n > n");
          assert.deepEqual(good(await workspaces.keep(workspace, as, NEVER)), first);
          const { commit } = await keep(workspace, "refs/skein/salvage/r1/1.1");
          assert.equal(await repository.git("show", `${commit}:a.txt`), "later");
          const other = { ...as, ref: `${REF}-again-${job}` };
          assert.deepEqual(good(await workspaces.keep(workspace, other, NEVER)), first);
          assert.equal(
            await repository.git("for-each-ref", "--format=%(objectname)", other.ref),
            first.commit ?? "",
          );
          await workspaces.release(workspace);
          const next = await take({ job: jobOf(job) });
          await inside(next, "echo next > a.txt");
          assert.notEqual(good(await workspaces.keep(next, as, NEVER)).commit, first.commit);
          await workspaces.release(next);
        }
      }));

    it("takes any message as it is", () =>
      stage(async ({ repository, take, workspaces }) => {
        const workspace = await take();
        await inside(workspace, "echo x > a.txt");
        const message = '# no comment\n\n--amend "quoted" ü\n\n\nSkein-Task: 1\n';
        const { commit } = good(await workspaces.keep(workspace, { ref: REF, message }, NEVER));
        assert.equal(await repository.git("log", "-1", "--format=%B%an", `${commit}`), `${message}Skein`);
        assert.ok(good(await workspaces.keep(workspace, { ref: REF, message: "" }, NEVER)).commit);
      }));

    it("refuses names that are not Skein's to move, and a branch that is checked out", () =>
      stage(async ({ repository, take, workspaces, commit }) => {
        const workspace = await take();
        await inside(workspace, "echo x > a.txt; git commit -qam one; echo y > y");
        for (const ref of [
          "refs/tags/x",
          "HEAD",
          "main",
          "refs/heads/",
          "refs/heads/a..b",
          "refs/heads/-x",
          "refs/heads/main",
          "--all",
        ]) {
          const result = await workspaces.keep(workspace, { ref, message: "m" }, NEVER);
          assert.ok(hasFailed(result), ref);
        }
        assert.equal(
          await repository.git("for-each-ref", "--format=%(refname) %(objectname)"),
          `refs/heads/main ${commit}`,
        );
      }));

    it("does not take a folder that is gone for one in which every file was deleted", () =>
      stage(async ({ take, workspaces, repository }) => {
        const workspace = await take();
        await inside(workspace, 'cd / && rm -rf "$OLDPWD"');
        const result = await workspaces.keep(workspace, { ref: REF, message: "m" }, NEVER);
        assert.ok(hasFailed(result));
        assert.equal(result.failure.kind, "agent-failed");
        assert.match(result.failure.message, /the worker removed the folder that it worked in/);
        assert.equal(await repository.git("for-each-ref", REF), "");
      }));

    it("does not keep for a job that no longer holds the folder", () =>
      stage(async ({ take, workspaces }) => {
        const first = await take();
        await workspaces.release(first);
        const second = await take({ job: jobOf(2) });
        await inside(second, "echo x > a.txt");
        assert.ok(hasFailed(await workspaces.keep(first, { ref: REF, message: "m" }, NEVER)));
        await workspaces.release(first);
        assert.equal(await inside(second, "cat a.txt"), "x");
      }));
  });
}
