/** Tests that two processes make the same candidate commit if its date is given. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeWorld, member, quiet, RUN } from "../../../test/contracts/repository.ts";
import { GitRepository } from "./git.ts";

const open = (folder: string) => new GitRepository({ folder });

describe("a candidate with a date", () => {
  it("is the same commit whoever makes it, by every strategy, so that others can build on it before it lands", async () => {
    for (const strategy of ["merge-commit", "rebase", "fast-forward"] as const) {
      await using world = await makeWorld(open, { "a.txt": "1\n" });
      await world.at.branch("one", { "b.txt": "1\n" });
      await world.at.branch("two", { "c.txt": "1\n" });
      const onto = await world.at.commit({ "d.txt": "1\n" });
      using other = open(world.at.folder);
      const ids = [];
      for (const repository of [world.repository, other]) {
        const wanted = { run: RUN, strategy, madeAt: 1_700_000_000_000 };
        const one = await repository.candidate({ ...wanted, onto, members: [member("t.1", "one")] }, quiet);
        assert.ok("commit" in one && one.commit !== undefined);
        const two = await repository.candidate(
          { ...wanted, onto: one.commit, members: [member("t.2", "two")] },
          quiet,
        );
        assert.ok("commit" in two);
        ids.push([one.commit, two.commit]);
      }
      assert.deepEqual(ids[0], ids[1], strategy);
    }
  });
});
