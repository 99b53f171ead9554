/** Tests which jobs get copies of ignored folders, when a copy is kept, and when it does not fit the commit. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import { LIMITS } from "./programs.ts";
import { FILES, inside, jobOf, MAX_FILE_BYTES, onStage, type Scene } from "./workspaces.ts";

type CloneWorkspacesOptions = ConstructorParameters<typeof CloneWorkspaces>[0];

const programsIn = (folder: string) => new LocalPrograms({ folder: join(folder, "programs") });

const make = (repository: string, folder: string, more: Partial<CloneWorkspacesOptions>) =>
  new CloneWorkspaces({
    environment: process.env,
    repository,
    folder,
    programs: programsIn(folder),
    limits: LIMITS,
    maxFileBytes: MAX_FILE_BYTES,
    ...more,
  });

const stage = (more: Partial<CloneWorkspacesOptions>, body: (scene: Scene) => Promise<void>) =>
  onStage((repository, folder) => make(repository, folder, more), body);

describe("copies into a workspace", () => {
  it("copies nothing for a planner, who only reads, and sets nothing up", () => {
    const setup = "echo made > made.log";
    return stage({ copy: ["node_modules"], share: ["ignored"], setup }, async ({ repository, take }) => {
      await repository.write({
        "node_modules/m": "m",
        "ignored/x": "x",
        ".worktreeinclude": ".env\n",
        ".env": "e",
      });
      assert.equal(
        await inside(await take({ use: "plan" }), "cat ignored/x .env; ls"),
        "xea.txt\ndir\nignored\nrun.sh",
      );
      const worker = await take({ job: jobOf(2) });
      assert.equal(await inside(worker, "cat node_modules/m made.log"), "mmade");
    });
  });

  it("copies for a planner that is started from what is installed, and sets up", () => {
    const more = { copy: ["node_modules"], setup: "echo made > made.log", plansAreFull: true };
    return stage(more, async ({ repository, take }) => {
      await repository.write({ "node_modules/m": "m" });
      assert.equal(await inside(await take({ use: "plan" }), "cat node_modules/m made.log"), "mmade");
    });
  });

  /** A copy that is kept has the same inodes, unchanged: a number alone may be given to another file. */
  const inodes = "stat -c %i@%.9Z node_modules/*/index.js | tr '\\n' ' '";

  it("keeps what a worker left as it was copied, and makes the rest again", () =>
    stage({ copy: ["node_modules"] }, async ({ repository, take, workspaces }) => {
      const packages = ["left", "right", "gone", "linked"];
      await repository.write(
        Object.fromEntries(packages.map((name) => [`node_modules/${name}/index.js`, name])),
      );
      const first = await take();
      const before = (await inside(first, inodes)).split(" ");
      const elsewhere = join(repository.folder, "..", `${repository.folder.split("/").at(-1)}.kept`);
      await inside(
        first,
        `echo changed > node_modules/right/index.js; touch -d @0 node_modules/right/index.js; rm -r node_modules/gone
        mkdir node_modules/.cache; echo c > node_modules/.cache/c; mkdir -p '${elsewhere}'; echo keep > '${elsewhere}/index.js'
        rm -r node_modules/linked; ln -s '${elsewhere}' node_modules/linked`,
      );
      await workspaces.release(first);
      const second = await take({ job: jobOf(2) });
      assert.equal(second.folder, first.folder);
      assert.equal(
        await inside(second, "cat node_modules/*/index.js; ls -A node_modules"),
        "goneleftlinkedrightgone\nleft\nlinked\nright",
      );
      const after = (await inside(second, inodes)).split(" ");
      // In the order of the names gone, left, linked, right: only one folder was left as it had been copied.
      assert.deepEqual(
        after.map((inode) => before.includes(inode)),
        process.platform === "linux" ? [false, true, false, false] : [false, false, false, false],
      );
      assert.equal(await inside(second, `cat '${elsewhere}/index.js'; rm -r '${elsewhere}'`), "keep");
      assert.equal(await inside(second, `cat '${repository.folder}'/node_modules/right/index.js`), "right");
    }));

  it("takes over what the user has installed since", () =>
    stage({ copy: ["node_modules"] }, async ({ repository, take, workspaces }) => {
      await repository.write({ "node_modules/a/index.js": "1", "node_modules/@s/b/index.js": "1" });
      await workspaces.release(await take());
      await repository.write({ "node_modules/@s/b/index.js": "2", "node_modules/c/index.js": "3" });
      const second = await take({ job: jobOf(2) });
      assert.equal(
        await inside(
          second,
          "cat node_modules/a/index.js node_modules/@s/b/index.js node_modules/c/index.js",
        ),
        "123",
      );
      await workspaces.release(second);
      await inside(second, `rm -r '${repository.folder}/node_modules'`);
      assert.equal(
        await inside(await take({ job: jobOf(3) }), "ls -A node_modules 2>&1 || true").then(
          (said) => /No such/.test(said) || said === "",
        ),
        true,
      );
    }));

  it("follows no link that a worker left in the place of the folder, or on the way to a part of it", () =>
    stage({ copy: ["node_modules"] }, async ({ repository, take, workspaces, folder }) => {
      await repository.write({ "node_modules/a/index.js": "1", "node_modules/@s/b/index.js": "1" });
      const out = join(folder, "outside");
      for (const script of [
        `rm -r node_modules; ln -s '${out}' node_modules`,
        `rm -r node_modules/@s; ln -s '${out}' node_modules/@s`,
      ]) {
        const worker = await take();
        await inside(worker, `mkdir -p '${out}/a' '${out}/b'; echo mine > '${out}/b/index.js'; ${script}`);
        await workspaces.release(worker);
        const next = await take({ job: jobOf(2) });
        assert.equal(await inside(next, "cat node_modules/a/index.js node_modules/@s/b/index.js"), "11");
        assert.equal(await inside(next, `cat '${out}/b/index.js'; test ! -e '${out}/index.js'`), "mine");
        await workspaces.release(next);
      }
    }));
});

describe("what is installed for a tree that asks for something else", () => {
  const manifest = (version: string, scripts = {}) =>
    JSON.stringify({ name: "x", scripts, dependencies: { "content-type": version, other: "1" } });
  const files = { ...FILES, "package.json": manifest("1"), "sub/package.json": "{}", "pnpm-lock.yaml": "a" };

  it("is said with the line that sets workspaces up, for workers and for the gate; a script installs nothing", () =>
    onStage(
      (repository, folder) => make(repository, folder, { copy: ["node_modules"] }),
      async ({ repository, take }) => {
        await repository.write({ "node_modules/content-type/index.js": "1" });
        assert.equal((await take()).stale, undefined);
        const scripts = await repository.branch("scripts", { "package.json": manifest("1", { test: "x" }) });
        assert.equal((await take({ job: jobOf(2), commit: scripts })).stale, undefined);
        const raised = await repository.branch("raised", { "package.json": manifest("2") });
        for (const use of ["agent", "gate"] as const) {
          const { stale = "" } = await take({ job: jobOf(use === "gate" ? 3 : 4), commit: raised, use });
          assert.match(stale, /\(content-type\): it has your checkout's node_modules;/);
          assert.match(stale, /in skein\.yaml: workspace: \{setup: "pnpm install --frozen-lockfile"\}$/);
        }
        const locked = await repository.branch("locked", { "pnpm-lock.yaml": "b" });
        assert.match((await take({ job: jobOf(5), commit: locked })).stale ?? "", /\(pnpm-lock\.yaml\)/);
      },
      { files },
    ));

  it("of a package below the top is said with the command of its own lock file, or of the one above it", () =>
    onStage(
      (repository, folder) => make(repository, folder, { copy: ["node_modules"] }),
      async ({ repository, take }) => {
        await repository.write({ "node_modules/content-type/index.js": "1" });
        const below = { "sub/package.json": '{"dependencies":{"a":"2"}}' };
        const raised = await repository.branch("raised", below);
        assert.match(
          (await take({ commit: raised })).stale ?? "",
          /\{setup: "pnpm install --frozen-lockfile"\}$/,
        );
        const own = await repository.branch("own", { ...below, "sub/package-lock.json": "{}" });
        const { stale = "" } = await take({ job: jobOf(2), commit: own });
        assert.match(stale, /\{setup: "cd '?sub'? && npm ci"\}$/);
      },
      { files },
    ));

  it("is set up again where a set-up is configured, also for a package below the top", () =>
    onStage(
      (repository, folder) =>
        make(repository, folder, { copy: ["node_modules"], setup: "cat sub/package.json >> made.log" }),
      async ({ repository, take, workspaces }) => {
        await repository.write({ "node_modules/content-type/index.js": "1" });
        const first = await take({ use: "gate" });
        await workspaces.release(first);
        const raised = await repository.branch("raised", {
          "sub/package.json": '{"dependencies":{"a":"2"}}',
        });
        const second = await take({ use: "gate", commit: raised });
        assert.equal(second.folder, first.folder);
        assert.equal(await inside(second, "cat made.log"), '{}{"dependencies":{"a":"2"}}');
        assert.equal(second.stale, undefined);
      },
      { files },
    ));
});
