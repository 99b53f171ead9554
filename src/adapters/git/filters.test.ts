/** Tests which git filter programs are read from the user's settings, allowed, switched off or refused. */
import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import { hasFailed } from "../../core/result.ts";
import { FILTER_SETTINGS, filterSettings, filtersIn, forbiddenFilter } from "./filters.ts";
import { type GitSetting, readSettings } from "./settings.ts";

const quiet = new AbortController().signal;

const SETTINGS: readonly GitSetting[] = [
  ["filter.lfs.process", "git-lfs filter-process"],
  ["filter.lfs.required", "true"],
  ["filter.a.b.clean", "one"],
  ["filter.gone.clean", "two"],
  ["filter.gone.clean", ""],
  ["filter.odd.required", "true"],
  ["core.eol", "lf"],
];

describe("the filters of the user's settings", () => {
  it("are those that start a program, by the last that was said of each", () => {
    assert.deepEqual(filtersIn(SETTINGS), ["lfs", "a.b"]);
  });

  it("are handed on if they are allowed, git-lfs always, and else switched off", () => {
    const lfs = SETTINGS.slice(0, 2);
    const off = ["clean", "smudge", "process"].map((part) => [`filter.a.b.${part}`, ""]);
    assert.deepEqual(filterSettings(SETTINGS, []), [...lfs, ...off, ["filter.a.b.required", "false"]]);
    assert.deepEqual(filterSettings(SETTINGS, ["a.b"]), SETTINGS.slice(0, 3));
  });

  it("are read as git reads them, also a key without a value", async () => {
    await using at = await makeRepository({ files: {} });
    await appendFile(join(at.folder, ".git/config"), '[filter "X y"]\n\tclean = "a\\nb"\n\trequired\n');
    assert.deepEqual(await readSettings(at.folder, `^${FILTER_SETTINGS}$`), [
      ["filter.X y.clean", "a\nb"],
      ["filter.X y.required", "true"],
    ]);
  });
});

describe("a filter that is not allowed", () => {
  const wantedOf = (folder: string, commit: string, allowed: readonly string[] = []) => ({
    top: folder,
    gitDir: `${folder}/.git`,
    commit,
    allowed,
  });

  it("is named with its files and the line that allows it, only if the commit puts files through it", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n", "b.txt": "b\n", "c.md": "c\n" } });
    const without = await at.git("rev-parse", "HEAD");
    const commit = await at.commit({ ".gitattributes": "*.txt filter=x.y\n*.md filter=nowhere\n" });
    await at.write({ ".gitattributes": null });
    assert.equal(
      await forbiddenFilter(wantedOf(at.folder, commit), quiet),
      undefined,
      "nothing is configured",
    );
    await at.git("config", "filter.x.y.clean", "cat");
    assert.equal(await forbiddenFilter(wantedOf(at.folder, without), quiet), undefined);
    assert.equal(await forbiddenFilter(wantedOf(at.folder, commit, ["x.y"]), quiet), undefined);
    const { kind, message, next } = (await forbiddenFilter(wantedOf(at.folder, commit, ["lint"]), quiet))!;
    assert.equal(kind, "policy");
    assert.match(message, /^git puts a\.txt and 1 more through the filter x\.y:/);
    assert.match(next!, /skein\.yaml: workspace\.filters: \[lint, "x\.y"\]$/);
  });

  it("is found in a bare repository, and in attributes that are in no commit", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n" } });
    const commit = await at.git("rev-parse", "HEAD");
    await at.git("config", "filter.x.smudge", "cat");
    await at.git("config", "core.bare", "true");
    await at.write({ ".git/info/attributes": "a.txt filter=x\n" });
    const bare = { ...wantedOf(at.folder, commit), top: `${at.folder}/.git` };
    assert.match((await forbiddenFilter(bare, quiet))!.message, /^git puts a\.txt through the filter x:/);
  });

  it("that cannot be looked for is said", async () => {
    const read = await readSettings("/nowhere", "x");
    assert.ok(hasFailed(read));
    assert.equal((await forbiddenFilter(wantedOf("/nowhere", "x"), quiet))?.kind, "repository");
  });
});
