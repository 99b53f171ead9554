/** Tests that gate workspaces report the ignored files that earlier holders left, and are made anew on request. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import type { Workspace } from "../../src/ports/workspaces.ts";
import { makeRepository } from "../support/repositories.ts";
import { LIMITS, NEVER, temporaryFolder } from "./programs.ts";
import { good, inside, jobOf, MAX_FILE_BYTES } from "./workspaces.ts";

/** The set-up fails if the file `spoilt` exists. */
const SETUP = `mkdir -p out && echo made > out/set-up && ! test -e out/spoilt`;

async function onGate(body: (gate: Gate) => Promise<void>) {
  const files = { ".gitignore": "out/\nempty/\n", a: "a", "package.json": "{}" };
  await using repository = await makeRepository({ files });
  await using folder = await temporaryFolder();
  const workspaces = new CloneWorkspaces({
    ...{ environment: process.env, repository: repository.folder, folder: folder.path },
    ...{ programs: new LocalPrograms({ folder: `${folder.path}/programs` }), limits: LIMITS, setup: SETUP },
    maxFileBytes: MAX_FILE_BYTES,
  });
  const first = await repository.git("rev-parse", "HEAD");
  const second = await repository.commit({ "package.json": "{ }" });
  const take = async (number: number, more: { readonly commit?: string; readonly isFresh?: true } = {}) => {
    const want = { job: jobOf(number), commit: first, use: "gate", ...more } as const;
    return good(await workspaces.take(want, NEVER));
  };
  const leftovers = async (workspace: Workspace) => {
    const { left, removed } = good(await workspaces.leftovers(workspace, NEVER));
    return [...left, ...removed.map((file) => `${file} (removed)`)].sort();
  };
  await body({ workspaces, second, take, leftovers });
}

type Gate = {
  readonly workspaces: CloneWorkspaces;
  /** A commit with another manifest, for which set-up runs again. */
  readonly second: string;
  readonly take: (
    number: number,
    more?: { readonly commit?: string; readonly isFresh?: true },
  ) => Promise<Workspace>;
  readonly leftovers: (workspace: Workspace) => Promise<readonly string[]>;
};

describe("a workspace of the gate", () => {
  it("says what earlier holders left or rewrote there, and not what set-up, git or its own holder made", () =>
    onGate(async ({ workspaces, take, leftovers }) => {
      const first = await take(1);
      await inside(first, "ln -s nowhere out/link; echo 1 > out/cache; mkdir empty; echo x > new");
      assert.deepEqual(await leftovers(first), [], "it was made for this holder");
      await workspaces.release(first);
      const second = await take(2);
      await inside(second, "echo 2 > out/cache; echo 2 > out/own; echo b > a");
      assert.deepEqual(await leftovers(second), ["empty", "out/cache", "out/link"]);
    }));

  it("says what earlier holders removed of what set-up had made there", () =>
    onGate(async ({ workspaces, take, leftovers }) => {
      const first = await take(1);
      await inside(first, "rm out/set-up; echo 1 > out/passing; rm out/passing");
      await workspaces.release(first);
      assert.deepEqual(await leftovers(await take(2)), ["out", "out/set-up (removed)"]);
    }));

  it("is made anew, set-up included, for who asks for it, and is used by the next", () =>
    onGate(async ({ workspaces, take, leftovers }) => {
      const first = await take(1);
      await inside(first, "echo 1 > out/cache");
      await workspaces.release(first);
      const fresh = await take(2, { isFresh: true });
      assert.equal(await inside(fresh, "ls out"), "set-up");
      assert.deepEqual(await leftovers(fresh), []);
      await inside(fresh, "echo 1 > out/other");
      await workspaces.release(fresh);
      assert.deepEqual(await leftovers(await take(3)), ["out/other"]);
    }));

  it("is removed if it is given back as spoilt, and one that is made anew takes its place", () =>
    onGate(async ({ workspaces, take }) => {
      const [spoilt, good] = [await take(1), await take(2)];
      await inside(good, "touch out/cache");
      await workspaces.release(good);
      await workspaces.release(spoilt, true);
      const fresh = await take(3, { isFresh: true });
      assert.equal(fresh.folder, spoilt.folder);
      assert.equal(await inside(await take(4), "ls out"), "cache\nset-up");
    }));

  it("is made anew where its set-up fails over what was left there", () =>
    onGate(async ({ workspaces, second, take }) => {
      const first = await take(1);
      await inside(first, "touch out/spoilt");
      await workspaces.release(first);
      assert.equal(await inside(await take(2, { commit: second }), "ls out"), "set-up");
    }));
});
