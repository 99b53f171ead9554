/** The contract suite of workspaces, with real git: clean folders, kept work, an untouched user's repository. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { JobId } from "../../src/core/job.ts";
import { type Failed, hasFailed } from "../../src/core/result.ts";
import type { Kept, Want, Workspace, Workspaces } from "../../src/ports/workspaces.ts";
import {
  type Files,
  makeRepository,
  type RepositoryOptions,
  type TestRepository,
} from "../support/repositories.ts";
import { NEVER, temporaryFolder } from "./programs.ts";

export const MAX_FILE_BYTES = 100_000;
export const REF = "refs/heads/skein/r1/task/1.1-a";
export const jobOf = (number: number): JobId => `work:${number}#1` as JobId;

export type Scene = {
  readonly repository: TestRepository;
  readonly folder: string;
  readonly workspaces: Workspaces;
  /** The commit that the user has checked out. */
  readonly commit: string;
  take(more?: Partial<Want>): Promise<Workspace>;
  keep(workspace: Workspace, ref?: string): Promise<Kept>;
};

export const FILES: Files = {
  "a.txt": "a\n",
  "dir/b.txt": "b\n",
  "run.sh": { text: "#!/bin/sh\n", executable: true },
  ".gitignore": "ignored/\n*.log\n.env\nnode_modules/\n",
};

export function good<T extends object>(result: T | Failed): T {
  if (hasFailed(result)) assert.fail(result.failure.message);
  return result;
}

export function inside(workspace: Workspace, script: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = {
    cwd: workspace.folder,
    env: { ...workspace.environment, GIT_CONFIG_GLOBAL: "/dev/null" },
  };
  execFile("/bin/sh", ["-ec", script], options, (error, out, err) =>
    error ? reject(new Error(`${script}: ${err || error.message}`)) : resolve(out.trim()),
  );
  return promise;
}

/** Every file below a folder with its content, but for paths that match `without`. */
export async function contents(folder: string, without: RegExp, at = ""): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const name of (await readdir(join(folder, at))).sort()) {
    const path = join(at, name);
    if (without.test(path)) continue;
    const stat = await lstat(join(folder, path));
    if (stat.isDirectory())
      for (const [inner, text] of await contents(folder, without, path)) found.set(inner, text);
    else if (stat.isSymbolicLink()) found.set(path, `link to ${await readlink(join(folder, path))}`);
    else found.set(path, `${stat.mode} ${stat.mtimeMs} ${await readFile(join(folder, path), "latin1")}`);
  }
  return found;
}

export type Make = (repository: string, folder: string) => Workspaces;

export async function openStage(
  make: Make,
  options: RepositoryOptions = {},
): Promise<Scene & AsyncDisposable> {
  const repository = await makeRepository({ files: FILES, ...options });
  const folder = await temporaryFolder();
  const workspaces = make(repository.folder, folder.path);
  const commit = await repository.git("rev-parse", "HEAD");
  return {
    repository,
    folder: folder.path,
    workspaces,
    commit,
    take: async (more = {}) =>
      good(await workspaces.take({ job: jobOf(1), commit, use: "agent", ...more }, NEVER)),
    keep: async (workspace, ref = REF) =>
      good(await workspaces.keep(workspace, { ref, message: "Kept\n" }, NEVER)),
    [Symbol.asyncDispose]: async () => {
      await folder[Symbol.asyncDispose]();
      await repository[Symbol.asyncDispose]();
    },
  };
}

export async function onStage(
  make: Make,
  body: (scene: Scene) => Promise<void>,
  options?: RepositoryOptions,
) {
  await using scene = await openStage(make, options);
  await body(scene);
}

export function workspacesContract(
  name: string,
  make: (repository: string, folder: string) => Workspaces,
): void {
  const stage = (body: (scene: Scene) => Promise<void>, options?: RepositoryOptions) =>
    onStage(make, body, options);

  describe(`workspaces ${name}: taking`, { concurrency: 4 }, () => {
    it("gives a folder of its own with the commit checked out, in which git works", () =>
      stage(async ({ repository, take, commit }) => {
        await repository.write({ "a.txt": "dirty\n", untracked: "" });
        const workspace = await take();
        assert.equal(await inside(workspace, "git rev-parse HEAD"), commit);
        assert.equal(await inside(workspace, "git status --porcelain"), "");
        assert.equal(await inside(workspace, "cat a.txt; ls -A"), "a\n.git\n.gitignore\na.txt\ndir\nrun.sh");
        assert.ok(!workspace.folder.startsWith(repository.folder));
        await inside(
          workspace,
          "test -x run.sh && git commit -q --allow-empty -m works && git log --oneline",
        );
      }));

    it("gives different folders to different jobs at the same time", () =>
      stage(async ({ take }) => {
        const all = await Promise.all([1, 2, 3, 4, 5].map((number) => take({ job: jobOf(number) })));
        assert.equal(new Set(all.map(({ folder }) => folder)).size, 5);
        for (const { job, folder } of all)
          assert.equal(await readFile(join(folder, "a.txt"), "utf8"), "a\n", job);
      }));

    it("reuses a folder, and leaves nothing of the last holder in it", () =>
      stage(async ({ take, workspaces }) => {
        const first = await take();
        await inside(
          first,
          `git config alias.x y; mkdir -p .git/hooks; echo exit 1 > .git/hooks/pre-commit; chmod +x .git/hooks/*
          echo '* text' > .git/info/attributes; git checkout -q -b mine; echo x > a.txt; git commit -qnam mine; git tag t
          echo y > a.txt; git stash -q; echo z > new; mkdir ignored; echo i > ignored/i; echo l > x.log
          rm -rf dir; echo file > dir; chmod -x run.sh; git init -q inner; touch inner/f; echo t > "$TMPDIR/t"; git gc -q`,
        );
        await workspaces.release(first);
        const second = await take({ job: jobOf(2) });
        assert.equal(second.folder, first.folder);
        assert.equal(
          await inside(second, "ls -AR . | grep -v '^$' | grep -c -e mine -e inner -e x.log || true"),
          "0",
        );
        assert.equal(await inside(second, "git status --porcelain --ignored; cat a.txt dir/b.txt"), "a\nb");
        assert.equal(
          await inside(second, "git for-each-ref; git stash list; git reflog; git config alias.x || true"),
          "",
        );
        assert.equal(
          await inside(
            second,
            "ls .git/hooks 2>/dev/null || true; cat .git/info/attributes 2>/dev/null || true",
          ),
          "",
        );
        assert.equal(
          await inside(second, 'ls -A "$TMPDIR"; git cat-file -e :a.txt && test -x run.sh && echo good'),
          "good",
        );
      }));

    it("keeps the ignored files of a gate's folder, and of no other", () =>
      stage(async ({ take, workspaces }) => {
        const dirty = "mkdir ignored; echo cache > ignored/c; echo x > new; echo y > a.txt";
        for (const use of ["gate", "agent"] as const) {
          const first = await take({ use });
          await inside(first, dirty);
          await workspaces.release(first);
          const again = await take({ job: jobOf(2), use });
          assert.equal(again.folder, first.folder);
          assert.equal(
            await inside(again, "cat a.txt; ls"),
            `a\na.txt\ndir${use === "gate" ? "\nignored" : ""}\nrun.sh`,
          );
          await workspaces.release(again);
        }
      }));

    it("removes the folder of a probe, also one of an earlier engine, and no gate gets it", () =>
      stage(async ({ repository, folder, take, workspaces }) => {
        const first = await take({ use: "probe" });
        await inside(first, "mkdir ignored; echo built > ignored/c; echo broken > a.txt");
        const beside = await take({ job: jobOf(2), use: "gate" });
        assert.notEqual(beside.folder, first.folder);
        await workspaces.release(first);
        await assert.rejects(lstat(first.folder));
        const again = await take({ use: "probe" });
        assert.equal(await inside(again, "echo left > new; mkdir ignored; cat a.txt"), "a");
        const later = make(repository.folder, folder);
        const held = await later.heldBy(jobOf(1));
        assert.equal(held?.folder, again.folder);
        await later.release(held!);
        await assert.rejects(lstat(again.folder));
      }));

    it("gives a gate the free folder that has its files already, if there is one", () =>
      stage(async ({ repository, take, workspaces }) => {
        const commit = await repository.branch("next", { "c.txt": "c\n" });
        const now = await take({ use: "gate" });
        const prepared = await take({ job: jobOf(2), use: "gate", commit });
        await workspaces.release(prepared);
        await workspaces.release(now);
        const next = await take({ job: jobOf(3), use: "gate", commit });
        assert.notEqual(prepared.folder, now.folder);
        assert.equal(next.folder, prepared.folder);
        assert.equal(await inside(next, "cat c.txt"), "c");
      }));

    it("gives a job that holds a folder the same one, clean", () =>
      stage(async ({ take }) => {
        const first = await take();
        await inside(first, "echo x > new");
        const again = await take();
        assert.equal(again.folder, first.folder);
        assert.equal(await inside(again, "git status --porcelain"), "");
      }));

    it("finds another commit's files without a remote", () =>
      stage(async ({ repository, take, workspaces }) => {
        await workspaces.release(await take());
        const commit = await repository.branch("other", { "a.txt": null, "c/d.txt": "d\n" });
        const workspace = await take({ job: jobOf(2), commit });
        assert.equal(
          await inside(workspace, "git remote; git status --porcelain; ls; cat c/d.txt"),
          "c\ndir\nrun.sh\nd",
        );
      }));

    it("fails with words for a commit that is not there, and for none at all", () =>
      stage(async ({ workspaces, take }) => {
        for (const commit of ["0123456789012345678901234567890123456789", "HEAD", "--all", ""]) {
          const result = await workspaces.take({ job: jobOf(1), commit, use: "agent" }, NEVER);
          assert.ok(hasFailed(result) && result.failure.kind === "repository", commit);
        }
        assert.equal(await inside(await take(), "cat a.txt"), "a");
      }));

    it("fails when it is told to stop, and the folder is as good as before", () =>
      stage(async ({ workspaces, take, commit }) => {
        const result = await workspaces.take({ job: jobOf(1), commit, use: "agent" }, AbortSignal.abort());
        assert.ok(hasFailed(result));
        assert.equal(await inside(await take(), "git status --porcelain; cat a.txt"), "a");
      }));

    it("hands on no secrets", () =>
      stage(async ({ take }) => {
        process.env["TEST_API_KEY"] = "secret";
        try {
          const { environment } = await take();
          assert.equal(environment["TEST_API_KEY"], undefined);
          assert.equal(environment["PATH"], process.env["PATH"]);
        } finally {
          delete process.env["TEST_API_KEY"];
        }
      }));
  });

  describe(`workspaces ${name}: the user's repository`, { concurrency: 4 }, () => {
    it("is not touched but for the refs and objects that were asked for", () =>
      stage(async ({ repository, take, keep, workspaces }) => {
        await repository.write({ "a.txt": "dirty\n", untracked: "u\n", "ignored/i": "i\n" });
        await repository.git("add", "untracked");
        const without = /^\.git\/(?:objects|refs\/heads\/skein|logs\/refs\/heads\/skein)(?:\/|$)/;
        const before = await contents(repository.folder, without);
        for (const [number, script] of [
          "echo x > n",
          "echo x > n; git add n; git commit -qm n",
          "rm -rf .git *",
        ].entries()) {
          const workspace = await take({ job: jobOf(number) });
          await inside(workspace, script);
          await keep(workspace, `${REF}${number}`);
          await workspaces.release(workspace);
        }
        assert.deepEqual(await contents(repository.folder, without), before);
        assert.match(
          await repository.git("for-each-ref", "--format=%(refname)"),
          /^refs\/heads\/main\n(?:.*1-a\d\n?){3}$/,
        );
      }));

    for (const [what, options] of [
      ["with the other hash", { format: "sha256" }],
      ["with spaces and quotes in its path", { name: `a 'b' "c" $d :e` }],
    ] as const) {
      it(`may be one ${what}`, () =>
        stage(async ({ take, keep, repository }) => {
          const workspace = await take();
          await inside(workspace, "echo x > a.txt; git commit -qam one; echo y > y");
          assert.equal(await repository.git("rev-parse", REF).catch(() => "none"), "none");
          assert.equal(
            await repository.git("rev-parse", `${(await keep(workspace)).commit}^{commit}`),
            await repository.git("rev-parse", REF),
          );
        }, options));
    }
  });

  describe(`workspaces ${name}: after a crash`, { concurrency: 4 }, () => {
    it("the holder is still known, and its work can be kept", () =>
      stage(async ({ repository, folder, take, workspaces }) => {
        const workspace = await take();
        await inside(workspace, "echo x > a.txt");
        const next = make(repository.folder, folder);
        assert.equal(await next.heldBy(jobOf(2)), undefined);
        const found = await next.heldBy(jobOf(1));
        assert.deepEqual(found, workspace);
        assert.ok(found && good(await next.keep(found, { ref: REF, message: "m" }, NEVER)).commit);
        assert.notEqual(
          good(await next.take({ ...workspace, job: jobOf(2), use: "agent" }, NEVER)).folder,
          workspace.folder,
        );
        await next.release(found);
        assert.equal(await make(repository.folder, folder).heldBy(jobOf(1)), undefined);
        await workspaces.release(workspace);
      }));
  });
}
