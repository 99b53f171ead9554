/** For whom are ignored folders copied, and does a person hear of a copy that takes long? */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import type { JobId } from "../../src/core/job.ts";
import type { Programs } from "../../src/ports/programs.ts";
import { LIMITS } from "./programs.ts";
import { inside, jobOf, MAX_FILE_BYTES, onStage, type Scene } from "./workspaces.ts";

type CloneWorkspacesOptions = ConstructorParameters<typeof CloneWorkspaces>[0];
type SlowCopy = Parameters<NonNullable<CloneWorkspacesOptions["onSlowCopy"]>>[0];

const programsIn = (folder: string) => new LocalPrograms({ folder: join(folder, "programs") });

const make = (repository: string, folder: string, more: Partial<CloneWorkspacesOptions>) =>
  new CloneWorkspaces({
    environment: process.env,
    repository,
    folder,
    programs: programsIn(folder),
    limits: LIMITS,
    maxFileBytes: MAX_FILE_BYTES,
    ...more,
  });

const stage = (more: Partial<CloneWorkspacesOptions>, body: (scene: Scene) => Promise<void>) =>
  onStage((repository, folder) => make(repository, folder, more), body);

describe("copies into a workspace", () => {
  it("copies nothing for a planner, who only reads, and sets nothing up", () => {
    const setup = "echo made > made.log";
    return stage({ copy: ["node_modules"], share: ["ignored"], setup }, async ({ repository, take }) => {
      await repository.write({
        "node_modules/m": "m",
        "ignored/x": "x",
        ".worktreeinclude": ".env\n",
        ".env": "e",
      });
      assert.equal(
        await inside(await take({ use: "plan" }), "cat ignored/x .env; ls"),
        "xea.txt\ndir\nignored\nrun.sh",
      );
      const worker = await take({ job: jobOf(2) });
      assert.equal(await inside(worker, "cat node_modules/m made.log"), "mmade");
    });
  });

  it("copies for a planner that is started from what is installed, and sets up", () => {
    const more = { copy: ["node_modules"], setup: "echo made > made.log", plansAreFull: true };
    return stage(more, async ({ repository, take }) => {
      await repository.write({ "node_modules/m": "m" });
      assert.equal(await inside(await take({ use: "plan" }), "cat node_modules/m made.log"), "mmade");
    });
  });

  it("says once that a copy takes long, of what and how much", async () => {
    const told: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const onSlowCopy = ({ job, ms, doing }: SlowCopy) => {
      told.push(`${job}: ${ms} ms ${doing}`);
      resolve();
    };
    /** Copies once that was said. */
    const open = (slowMs: number) => (repository: string, folder: string) => {
      const real = programsIn(folder);
      const run: Programs["run"] = async (program, signal) => {
        if (slowMs === 0) await promise;
        return real.run(program, signal);
      };
      const programs = { run, endLeftovers: (job: JobId) => real.endLeftovers(job) };
      return make(repository, folder, { copy: ["node_modules"], programs, onSlowCopy, slowMs });
    };
    for (const slowMs of [60_000, 0])
      await onStage(open(slowMs), async ({ repository, take }) => {
        await repository.write({ "node_modules/m": new Uint8Array(3_000_000), "dir/node_modules/n": "n" });
        for (const n of [1, 2]) await inside(await take({ job: jobOf(n) }), "test -e node_modules/m");
      });
    const doing = "copying dir/node_modules and 1 more (3 MB) into a workspace: workspace.share avoids this";
    assert.deepEqual(told, [`work:1#1: 1 ms ${doing}`, `work:1#1: 0 ms ${doing}`]);
  });
});
