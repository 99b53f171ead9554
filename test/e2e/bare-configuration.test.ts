/** Tests which skein.yaml counts in a bare repository: the one that is committed at the run's base. */
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { makeRepository } from "../support/repositories.ts";
import { agree, makePlace } from "./cli-place.ts";

test("in a bare repository the committed skein.yaml counts, as it is at the base", async () => {
  await using place = await makePlace({ files: { "README.md": "# here\n", "skein.yaml": "workers: 3\n" } });
  const { git } = place.repository;
  await git("checkout", "-q", "-b", "other");
  await place.repository.commit(
    { "skein.yaml": "workers: 5\ngate: ['test -f README.md']\n" },
    "other workers",
  );
  await git("checkout", "-q", "main");
  const bare = path.join(place.folder, "bare.git");
  await git("clone", "-q", "--bare", place.repository.folder, bare);

  await agree(place, "--repo", bare, "--base", "other");
  const workers = async (...more: readonly string[]) => {
    const ran = await place.skein("doctor", "--repo", bare, "--agent", place.agent, "--json", ...more);
    const { settings } = JSON.parse(ran.out);
    const { value, origin } = settings.find(({ key }: { readonly key: string }) => key === "workers");
    return [value, origin];
  };
  assert.deepEqual(await workers(), [3, "HEAD:skein.yaml:1"]);
  assert.deepEqual(await workers("--base", "other"), [5, "other:skein.yaml:1"]);
  assert.deepEqual(await workers("--set", "base=other", "--set", "workers=2"), [2, "--set"]);

  const ran = await place.skein(
    ...["run", "write two files", "--repo", bare, "--agent", place.agent, "--base", "other"],
  );
  assert.equal(ran.code, 0, ran.err + ran.out);
  assert.match(ran.out, /^gate {4}configured: test -f README.md$/m);
});

test("a mistake in a committed skein.yaml is named with its place, and two such files are refused", async () => {
  await using place = await makePlace({ files: { "skein.yaml": "workers: many\n" } });
  const { git, folder } = place.repository;
  await using both = await makeRepository({ files: { "skein.yaml": "", "skein.yml": "" } });
  for (const [from, words] of [
    [folder, /HEAD:skein\.yaml:1:1: workers must be/],
    [both.folder, /there are both skein\.yaml and skein\.yml in HEAD\ntry: keep one of them/],
  ] as const) {
    const bare = path.join(place.folder, `${path.basename(path.dirname(from))}.git`);
    await git("clone", "-q", "--bare", from, bare);
    const ran = await place.skein("run", "write two files", "--repo", bare, "--agent", place.agent);
    assert.equal(ran.code, 3, ran.out);
    assert.match(ran.err, words);
  }
});
