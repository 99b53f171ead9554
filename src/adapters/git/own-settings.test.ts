/** Tests which settings of a repository's own git configuration need the user's agreement. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { makeRepository } from "../../../test/support/repositories.ts";
import { hasFailed } from "../../core/result.ts";
import { ownGitAsks } from "./own-settings.ts";

const asksIn = async (folder: string): Promise<readonly string[]> => {
  const asks = await ownGitAsks(folder, AbortSignal.timeout(20_000));
  if (hasFailed(asks)) throw new Error(asks.failure.message);
  return asks.map(({ name }) => name);
};

describe("of a repository's own git settings", () => {
  it("those that start or reach something are asked for, also from an included file, and from a work tree's own", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    assert.deepEqual(await asksIn(at.folder), []);
    const included = path.join(newFolder(), "more");
    await writeFile(included, '[filter "deep"]\n\tprocess = evil-process\n');
    const settings = [
      ["filter.evil.clean", "touch x"],
      ["core.sshCommand", "evil-ssh"],
      ["credential.https://h.helper", "!evil"],
      ["url.https://evil/.insteadOf", "https://good/"],
      ["http.proxy", "http://evil"],
      ["http.https://h.delegation", "always"],
      ["fetch.bundleURI", "http://evil"],
      ["remote.origin.uploadpack", "evil-pack"],
      ["lfs.customtransfer.x.path", "evil"],
      ["lfs.extension.x.clean", "evil"],
      ["include.path", included],
    ] as const;
    for (const [key, value] of settings) await at.git("config", key, value);
    assert.deepEqual(
      [...(await asksIn(at.folder))].sort(),
      [
        ...[
          "filter.evil.clean",
          "core.sshcommand",
          "credential.https://h.helper",
          "url.https://evil/.insteadof",
        ],
        ...[
          "http.proxy",
          "http.https://h.delegation",
          "fetch.bundleuri",
          "remote.origin.uploadpack",
          "lfs.customtransfer.x.path",
          "lfs.extension.x.clean",
          "filter.deep.process",
        ],
      ].sort(),
    );
    await at.git("config", "extensions.worktreeConfig", "true");
    await at.git("config", "--worktree", "filter.own.smudge", "evil");
    assert.ok((await asksIn(at.folder)).includes("filter.own.smudge"));
  });

  it("those that Skein's git switches off, and harmless ones, are not", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    for (const [key, value] of [
      ["core.hooksPath", "hooks"],
      ["core.fsmonitor", "evil"],
      ["core.pager", "evil"],
      ["core.editor", "evil"],
      ["diff.external", "evil"],
      ["diff.x.textconv", "evil"],
      ["merge.x.driver", "evil"],
      ["gpg.program", "evil"],
      ["user.name", "me"],
      ["core.autocrlf", "true"],
      ["remote.origin.url", "https://example.invalid/x"],
      ["http.extraheader", "AUTHORIZATION: basic abc"],
      ["filter.empty.clean", ""],
      ["filter.lfs.clean", "git-lfs clean -- %f"],
      ["filter.lfs.process", "git-lfs filter-process"],
    ] as const)
      await at.git("config", key, value);
    assert.deepEqual(await asksIn(at.folder), []);
    await at.git("config", "filter.lfs.process", "git-lfs filter-process; evil");
    assert.deepEqual(await asksIn(at.folder), ["filter.lfs.process"]);
  });

  it("are shown to their end, or say that they are not", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    await at.git("config", "filter.evil.clean", `cat ${" ".repeat(400)}; evil`);
    const asks = await ownGitAsks(at.folder, AbortSignal.timeout(20_000));
    assert.ok(!hasFailed(asks));
    assert.match(asks[0]!.words, /… \(\d+ more characters: read the file\)/);
    await at.git("config", "filter.evil.clean", `cat ${" ".repeat(250)}; evil`);
    assert.match(JSON.stringify(await ownGitAsks(at.folder, AbortSignal.timeout(20_000))), /; evil/);
  });

  it("a work tree elsewhere is asked for, but not the repository's own", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    await at.git("config", "core.worktree", at.folder);
    assert.deepEqual(await asksIn(at.folder), []);
    await at.git("config", "core.worktree", newFolder());
    assert.deepEqual(await asksIn(at.folder), ["core.worktree"]);
  });
});
