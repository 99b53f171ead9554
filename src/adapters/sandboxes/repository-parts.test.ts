/** Tests which parts of the user's repository stay visible in the sandbox. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import { readableOf } from "./repository-parts.ts";

const NEVER = new AbortController().signal;

it("names the objects, those that it borrows from others, and no more of git's folder", async () => {
  await using lender = await makeRepository({ files: { a: "1" } });
  await using repository = await makeRepository({ files: { a: "1" } });
  const gitDir = path.join(repository.folder, ".git");
  const objects = path.join(lender.folder, ".git", "objects");
  writeFileSync(path.join(gitDir, "objects/info/alternates"), `# a remark\n${objects}\n../../lent\n`);
  writeFileSync(path.join(objects, "info/alternates"), `${objects}\n`); // Also tests that a cycle of them ends.
  assert.deepEqual(await readableOf({ top: repository.folder, gitDir }, NEVER), [
    path.join(gitDir, "objects"),
    objects,
    path.join(repository.folder, "lent"),
    path.join(gitDir, "lfs"),
  ]);
});

it("names the folders that workspaces share, wherever they are, and no other ignored one", async () => {
  await using repository = await makeRepository({
    files: { ".gitignore": "node_modules\n.secrets\n", a: "1" },
  });
  const top = repository.folder;
  for (const one of ["node_modules/x", "packages/b/node_modules/x", ".secrets/x"]) {
    mkdirSync(path.join(top, one), { recursive: true });
    writeFileSync(path.join(top, one, "file"), "");
  }
  writeFileSync(path.join(top, "packages/b/file"), "");
  await repository.commit({});
  const shown = await readableOf({ top, gitDir: path.join(top, ".git"), share: ["node_modules"] }, NEVER);
  const inTop = shown.map((one) => path.relative(top, one)).filter((one) => !one.startsWith(".git"));
  assert.deepEqual(inTop, ["node_modules", "packages/b/node_modules"]);
});
