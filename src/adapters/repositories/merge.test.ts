/** Tests that merges use only git's own merge, even if the user's settings name another program. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { got, makeWorld, member, quiet, RUN } from "../../../test/contracts/repository.ts";
import { atHome } from "../../../test/support/repositories.ts";
import { GitRepository } from "./git.ts";

const open = (folder: string) => new GitRepository({ folder });
const against = (...files: readonly string[]) => [{ task: "t.1", files, against: "target" }];

it("merges by git alone where the user's settings name a program for it, in the repository or for all", async () => {
  const lines = (...numbers: readonly number[]) => numbers.map((number) => `${number}\n`).join("");
  const files = { "a.txt": lines(1, 2, 3, 4, 5), "b.txt": "1\n", "c.bin": "1\0" };
  await using world = await makeWorld(open, files);
  const { at } = world;
  const ran = join(at.folder, "..", "ran");
  await at.git("config", "merge.own.driver", `touch '${ran}'`);
  const home = await mkdtemp(join(at.folder, "..", "home-"));
  await writeFile(join(home, ".gitconfig"), `[merge "global"]\n\tdriver = "touch '${ran}'"\n`);
  await mkdir(join(at.folder, ".git/info"), { recursive: true });
  await writeFile(
    join(at.folder, ".git/info/attributes"),
    "a.txt merge=own\nb.txt merge=global\n*.bin merge=own\n",
  );
  await at.branch("work", { "a.txt": lines(0, 2, 3, 4, 5) });
  await at.branch("clash", { "b.txt": "2\n", "c.bin": "2\0" });
  const onto = await at.commit({ "a.txt": lines(1, 2, 3, 4, 6), "b.txt": "3\n", "c.bin": "3\0" });
  await atHome(home, async () => {
    using again = open(at.folder);
    const wanted = { run: RUN, onto, strategy: "merge-commit", members: [member("t.1", "work")] } as const;
    const made = got(await again.candidate(wanted, quiet));
    assert.ok("commit" in made);
    assert.equal(await at.git("show", `${made.commit}:a.txt`), "0\n2\n3\n4\n6");
    const met = got(await again.candidate({ ...wanted, members: [member("t.1", "clash")] }, quiet));
    assert.ok("conflicts" in met);
    assert.deepEqual(met.conflicts, against("b.txt", "c.bin"));
  });
  assert.ok(!existsSync(ran));
});
