/** Tests whether all objects of a commit are there, and that a missing one is named. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeRepository, type TestRepository, withScriptedGit } from "../../../test/support/repositories.ts";
import { wholeness } from "./whole.ts";

const quiet = new AbortController().signal;

async function asked(at: TestRepository, from: string) {
  const tip = await at.git("rev-parse", "HEAD");
  return wholeness({ folder: join(at.folder, ".git"), commits: [tip], known: [from] }, quiet);
}

async function withChange() {
  const at = await makeRepository({ files: { "a.txt": "a\n" } });
  const from = await at.git("rev-parse", "HEAD");
  await at.commit({ "dir/b.txt": "b\n" });
  return { at, from };
}

describe("what a commit needs", () => {
  it("is there, whatever the user's settings say about logs and diffs", async () => {
    const { at, from } = await withChange();
    await using _ = at;
    await at.git("config", "diff.orderFile", "no/such.file");
    await at.git("config", "log.showSignature", "true");
    const found = await asked(at, from);
    assert.ok("is" in found && found.is === "whole", JSON.stringify(found));
  });

  it("is missing if a folder or a file of it is, and it is said which", async () => {
    const { at, from } = await withChange();
    await using _ = at;
    for (const name of ["HEAD:dir/b.txt", "HEAD:dir"]) {
      const id = await at.git("rev-parse", name);
      await at.write({ [`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`]: null });
      const found = await asked(at, from);
      assert.ok("is" in found && found.is === "missing" && found.what.includes(id), JSON.stringify(found));
    }
  });

  it("is not called missing where git fails for another reason", async () => {
    const { at, from } = await withChange();
    await using _ = at;
    const found = await withScriptedGit(
      'case "$*" in *log*) echo "fatal: out of memory" >&2; exit 128;; esac\nexec "$GIT" "$@"',
      () => wholeness({ folder: join(at.folder, ".git"), commits: ["HEAD"], known: [from] }, quiet),
    );
    assert.ok("failure" in found && /out of memory/.test(found.failure.message));
  });
});
