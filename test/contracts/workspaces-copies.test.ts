/** For whom are ignored folders copied? */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import { LIMITS } from "./programs.ts";
import { inside, jobOf, MAX_FILE_BYTES, onStage, type Scene } from "./workspaces.ts";

type CloneWorkspacesOptions = ConstructorParameters<typeof CloneWorkspaces>[0];

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
});
