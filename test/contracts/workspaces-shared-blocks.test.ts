/** Tests that a new workspace shares file blocks with a free one, on a disk that can, and none of its changes. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import { sharingDisk } from "../support/disks.ts";
import { LIMITS } from "./programs.ts";
import { FILES, inside, jobOf, MAX_FILE_BYTES, onStage, type Scene } from "./workspaces.ts";

const MEGABYTE = 1_000_000;
const COUNT = 24;
const random = () => randomBytes((MEGABYTE * 3) / 4).toString("base64");
const LARGE = Object.fromEntries(
  Array.from({ length: COUNT }, (_, i) => [`large/${i % 3}/part ${i}.txt`, random()]),
);

/** Makes workspaces on a disk that can share blocks, or on the usual disk if none can be mounted. */
async function stage(body: (scene: Scene, disk: string | undefined) => Promise<void>): Promise<void> {
  await using disk = await sharingDisk();
  const make = (repository: string, usual: string) => {
    const folder = disk?.path ?? usual;
    return new CloneWorkspaces({
      environment: process.env,
      programs: new LocalPrograms({ folder: join(folder, "programs") }),
      ...{ repository, folder, limits: LIMITS, maxFileBytes: MAX_FILE_BYTES },
    });
  };
  const attributes = { ".gitattributes": "* text=auto\n", "dir/link": { link: "b.txt" } };
  await onStage(make, (scene) => body(scene, disk?.path), { files: { ...FILES, ...LARGE, ...attributes } });
}

/** Prints each file with its mode and content, as a checkout makes it. */
const FILES_THERE =
  "find . -name .git -prune -o ! -type l -printf '%P %m %y\\n' | sort; find . -name .git -prune -o -type l -printf '%P %l\\n'; " +
  "find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; git status --porcelain --ignored";

const freeBytes = async (disk: string) => {
  execFileSync("sync", ["-f", disk]);
  const { bfree, bsize } = await statfs(disk);
  return bfree * bsize;
};

describe("the files of a new workspace", () => {
  it("take no room of their own while a free one has the same commit, and are changed alone", () =>
    stage(async ({ take, workspaces }, disk) => {
      const planner = await take({ use: "plan" });
      const wanted = await inside(planner, FILES_THERE);
      await workspaces.release(planner);
      const before = disk && (await freeBytes(disk));
      const workers = [await take({ job: jobOf(2) }), await take({ job: jobOf(3) })] as const;
      if (disk && before) {
        const taken = before - (await freeBytes(disk));
        assert.ok(taken < (COUNT / 2) * MEGABYTE, `two of ${COUNT} MB take ${taken} bytes`);
      }
      for (const worker of workers) assert.equal(await inside(worker, FILES_THERE), wanted);
      await inside(workers[0], "echo changed > a.txt");
      assert.equal(await inside(workers[1], "cat a.txt"), "a");
      assert.equal(await inside(await take({ use: "plan", job: jobOf(4) }), "cat a.txt"), "a");
    }));

  it("have nothing of what the holder of the other one left there", () =>
    stage(async ({ folder, take, workspaces }) => {
      const worker = await take();
      const wanted = await inside(worker, FILES_THERE);
      const outside = join(folder, "outside");
      const changes = [
        "cp -p a.txt old; printf 'b\\n' > a.txt; touch -r old a.txt; rm old",
        "printf 'b\\r\\n' > dir/b.txt; chmod 700 dir; ln -sf /etc/passwd dir/link",
        "chmod 600 run.sh; rm .gitignore; mkfifo .gitignore; mkdir ignored; echo x > ignored/x",
        "echo new > new.txt; mkfifo large/pipe; rm 'large/0/part 0.txt'; mkdir 'large/0/part 0.txt'; echo > 'large/0/part 0.txt/x'",
        `mkdir '${outside}'; for f in large/1/*; do echo mine > '${outside}'/"\${f##*/}"; done`,
        `rm -r large/1; ln -s '${outside}' large/1`,
      ];
      await inside(worker, changes.join("\n"));
      await workspaces.release(worker);
      for (const use of ["gate", "plan", "probe"] as const)
        assert.equal(await inside(await take({ use, job: jobOf(2) }), FILES_THERE), wanted, use);
    }));
});
