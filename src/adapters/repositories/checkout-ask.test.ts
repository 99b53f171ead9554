/** Tests which folders must ask before they count as a checkout of a repository. */
import assert from "node:assert/strict";
import { cp, mkdir, rename, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { makeRepository, openRepository, type TestRepository } from "../../../test/support/repositories.ts";
import { hasFailed } from "../../core/result.ts";
import { locate } from "./locate.ts";

const asksIn = async (folder: string): Promise<readonly string[]> => {
  const found = await locate(folder, AbortSignal.timeout(20_000));
  if (hasFailed(found)) throw new Error(found.failure.message);
  return found.gitAsks.map(({ name }) => name);
};

/** A folder beside the repository, with the file that a checkout of it would be read from. */
async function stranger(at: TestRepository): Promise<string> {
  const folder = path.join(at.folder, "../stranger");
  await mkdir(folder);
  await writeFile(path.join(folder, "skein.yaml"), "agent: ['./agent.sh']\n");
  return folder;
}

describe("a folder whose .git leads to another repository asks to count as its checkout", () => {
  const DOORS: readonly (readonly [string, (folder: string, at: TestRepository) => Promise<unknown>])[] = [
    [
      "by a file",
      (folder, at) => writeFile(path.join(folder, ".git"), `gitdir: ${path.join(at.folder, ".git")}\n`),
    ],
    ["by a link", (folder, at) => symlink(path.join(at.folder, ".git"), path.join(folder, ".git"))],
    [
      "by a commondir",
      async (folder, at) => {
        await mkdir(path.join(folder, ".git"));
        await writeFile(path.join(folder, ".git/HEAD"), "ref: refs/heads/main\n");
        await writeFile(path.join(folder, ".git/commondir"), `${path.join(at.folder, ".git")}\n`);
      },
    ],
    [
      "by a commondir and a work tree of its own",
      async (folder, at) => {
        await at.git("config", "extensions.worktreeConfig", "true");
        await mkdir(path.join(folder, ".git"));
        await writeFile(path.join(folder, ".git/HEAD"), "ref: refs/heads/main\n");
        await writeFile(path.join(folder, ".git/commondir"), `${path.join(at.folder, ".git")}\n`);
        await writeFile(
          path.join(folder, ".git/config.worktree"),
          `[core]\n\tworktree = ${path.join(folder, "sub")}\n`,
        );
        await mkdir(path.join(folder, "sub"));
      },
    ],
    [
      "by the place of a work tree that is elsewhere",
      async (folder, at) => {
        await at.git("worktree", "add", "-q", "../tree");
        await writeFile(
          path.join(folder, ".git"),
          `gitdir: ${path.join(at.folder, ".git/worktrees/tree")}\n`,
        );
      },
    ],
  ];
  for (const [how, open] of DOORS)
    it(how, async () => {
      await using at = await makeRepository({ files: { "a.txt": "a\n" } });
      const folder = await stranger(at);
      await open(folder, at);
      assert.deepEqual(await asksIn(folder), ["checkout"]);
      assert.deepEqual(await asksIn(at.folder), []);
    });
});

describe("asks for nothing", () => {
  it("as a checkout, from a folder in it, by a link to it, or as a bare repository", async () => {
    await using at = await makeRepository({ files: { "sub/a.txt": "a\n" } });
    const link = path.join(at.folder, "../link");
    await symlink(at.folder, link);
    await at.git("clone", "-q", "--bare", at.folder, "../bare.git");
    for (const folder of [at.folder, path.join(at.folder, "sub"), link, path.join(at.folder, "../bare.git")])
      assert.deepEqual(await asksIn(folder), []);
  });

  it("as a work tree, also of a bare repository, until it is moved and not repaired", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const tree = path.join(at.folder, "../tree");
    await at.git("worktree", "add", "-q", tree);
    assert.deepEqual(await asksIn(tree), []);
    const bare = path.join(at.folder, "../bare.git");
    await at.git("clone", "-q", "--bare", at.folder, bare);
    await openRepository(bare).git("worktree", "add", "-q", "../other", "HEAD");
    assert.deepEqual(await asksIn(path.join(at.folder, "../other")), []);
    const moved = path.join(at.folder, "../moved");
    await rename(tree, moved);
    assert.deepEqual(await asksIn(moved), ["checkout"]);
    await at.git("worktree", "repair", moved);
    assert.deepEqual(await asksIn(moved), []);
  });

  it("as a submodule; a copy of it asks", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    await using part = await makeRepository({ files: { "b.txt": "b\n" } });
    await at.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", part.folder, "part");
    assert.deepEqual(await asksIn(path.join(at.folder, "part")), []);
    const copy = path.join(at.folder, "copy");
    await cp(path.join(at.folder, "part"), copy, { recursive: true });
    assert.deepEqual(await asksIn(copy), []); // Its settings lead git to the submodule itself.
  });
});
