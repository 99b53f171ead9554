/** Tests that the object backup puts back objects that were removed from a repository. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import { looseFile } from "./objects.ts";
import { Shelf } from "./shelf.ts";

describe("a shelf", () => {
  it("puts back what was removed, also its folder, and leaves the rest alone", async () => {
    await using at = await makeRepository({ files: { "a.txt": "a\n", "b.txt": "b\n" } });
    const objects = join(at.folder, ".git/objects");
    const ids = await Promise.all(
      ["HEAD", "HEAD^{tree}", "HEAD:a.txt", "HEAD:b.txt"].map((name) => at.git("rev-parse", name)),
    );
    const shelf = new Shelf(objects, join(at.folder, "..", "shelf"));
    await shelf.keep([...ids, "1".repeat(40)]);
    for (const id of ids.slice(0, 3)) await rm(looseFile(objects, id));
    await rm(join(objects, ids[3]!.slice(0, 2)), { recursive: true });
    await shelf.putBack();
    assert.equal(await at.git("fsck", "--no-dangling"), "");
    await at.git("gc", "-q");
    await shelf.putBack();
    assert.equal(await at.git("fsck", "--no-dangling"), "", "a second copy beside a pack does no harm");
  });
});
