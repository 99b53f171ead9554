/** Tests that a workspace whose preparation was stopped or killed is complete for its next holder. */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { bootId } from "../../src/adapters/programs/process-table.ts";
import { CloneWorkspaces } from "../../src/adapters/workspaces/clones.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { Program, ProgramEnd, Programs } from "../../src/ports/programs.ts";
import { recordSyncs } from "../support/syncs.ts";
import { LIMITS } from "./programs.ts";
import { good, inside, jobOf, MAX_FILE_BYTES, onStage, type Scene } from "./workspaces.ts";

type CutShort = (program: Program) => Promise<ProgramEnd>;

/** The first copy is stopped when half of it is there; every later one is completed. */
function make(repository: string, folder: string, cutShort?: CutShort): CloneWorkspaces {
  const real = new LocalPrograms({ folder: join(folder, "programs") });
  let cut = cutShort;
  const programs: Programs = {
    endLeftovers: (job) => real.endLeftovers(job),
    run: async (program, signal) => {
      const tree = program.command.at(-1) ?? "";
      if (program.command[0] !== "cp" || !cut) return real.run(program, signal);
      const end = cut;
      cut = undefined;
      await mkdir(join(tree, "node_modules"));
      await writeFile(join(tree, "node_modules/one"), "1");
      return end(program);
    },
  };
  const copy = ["node_modules"];
  const limits = { limits: LIMITS, maxFileBytes: MAX_FILE_BYTES };
  return new CloneWorkspaces({ environment: process.env, repository, folder, programs, copy, ...limits });
}

const wholeIn = async ({ commit }: Scene, workspaces: CloneWorkspaces) =>
  inside(
    good(await workspaces.take({ job: jobOf(2), commit, use: "gate" }, new AbortController().signal)),
    "cat node_modules/*",
  );

const isLinux = process.platform === "linux"; // Other systems copy a folder with another command.

describe("a copy that was cut short", { skip: !isLinux }, () => {
  it("by a stop is a failure, and is made anew for the next, who would find half of it", async () => {
    const stop = new AbortController();
    const cutShort: CutShort = async () => {
      stop.abort();
      return { is: "stopped", output: "", errors: "", tail: "" };
    };
    let workspaces: CloneWorkspaces | undefined;
    const open = (repository: string, folder: string) => {
      workspaces = make(repository, folder, cutShort);
      return workspaces;
    };
    await onStage(open, async (scene) => {
      await scene.repository.write({ "node_modules/one": "1", "node_modules/two": "2" });
      const { commit } = scene;
      assert.ok(hasFailed(await workspaces!.take({ job: jobOf(1), commit, use: "gate" }, stop.signal)));
      assert.equal(await wholeIn(scene, workspaces!), "12");
    });
  });

  it("by the end of its engine is made anew by the next one", async () => {
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    const cutShort: CutShort = () => {
      resolve();
      return new Promise(() => {}); // The engine was killed, so this call never returns.
    };
    await onStage(
      (repository, folder) => make(repository, folder, cutShort),
      async (scene) => {
        const { repository, folder, workspaces, commit } = scene;
        await repository.write({ "node_modules/one": "1", "node_modules/two": "2" });
        void workspaces.take({ job: jobOf(1), commit, use: "gate" }, new AbortController().signal);
        await reached;
        assert.equal(await wholeIn(scene, make(repository.folder, folder)), "12");
      },
    );
  });
});

it("a workspace of before the machine was started is made anew: of what was ignored in it, files may be empty", async () => {
  await onStage(
    (repository, folder) => make(repository, folder),
    async ({ repository, folder, workspaces, commit }) => {
      const want = { job: jobOf(1), commit, use: "gate" } as const;
      const { signal } = new AbortController();
      const held = good(await workspaces.take(want, signal));
      await inside(held, "mkdir ignored; echo made > ignored/x");
      await workspaces.release(held);
      const kept = good(await workspaces.take(want, signal));
      assert.equal(await inside(kept, "ls ignored"), "x", "a gate keeps what is ignored");
      await workspaces.release(kept);
      const made = join(held.folder, "../slot.json");
      await writeFile(made, (await readFile(made, "utf8")).replace(bootId(), "another"));
      const next = good(await make(repository.folder, folder).take(want, signal));
      assert.equal(await inside(next, "ls"), "a.txt\ndir\nrun.sh");
    },
  );
});

it("work is kept whose engine was killed while it wrote where HEAD is", async () => {
  await onStage(
    (repository, folder) => make(repository, folder),
    async ({ repository, workspaces, take }) => {
      const held = await take();
      await inside(held, "echo made > made.txt");
      await writeFile(join(held.folder, "../git/HEAD"), "");
      const as = { ref: "refs/skein/salvage/r/t.1.1", message: "what there was" };
      await using syncs = await recordSyncs();
      const kept = good(await workspaces.keep(held, as, new AbortController().signal));
      assert.equal(await repository.git("show", `${kept.commit}:made.txt`), "made");
      const folders = ["refs/skein/salvage/r", "refs/skein/salvage", "refs/skein"];
      for (const folder of folders)
        assert.ok((await syncs.at(join(repository.folder, ".git", folder))) >= 0, `${folder} is synced`);
    },
  );
});
