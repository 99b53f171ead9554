/** Tests that a fleet of one coordinator and four workers ends the demo with the same result as one machine. */
import assert from "node:assert/strict";
import path from "node:path";
import { before, describe, it } from "node:test";
import { demoGoal, demoProject } from "../../src/surfaces/demo/project.ts";
import { CACHE_VARIABLE, demoScript, demoSettings } from "../../src/surfaces/demo/script.ts";
import { newFolder } from "../support/folders.ts";
import { closing, endings, makeSetting, runGoal } from "../support/live-runs.ts";
import { newDatabase } from "../support/postgres.ts";
import { openRepository } from "../support/repositories.ts";
import { DEMO_ARGS, markProgress, travellingDemo } from "./demo.ts";
import { type FoundRun, lookAt, makeFleetPlace } from "./fleet-place.ts";

const LIMIT = { timeout: 300_000 };

describe("a fleet of four workers", LIMIT, () => {
  let truth: Pick<FoundRun, "tree" | "endings">;

  before(async () => {
    truth = await onOneMachine();
  });

  for (const [how, args] of [
    ["that push", []],
    ["that hand back bundles only", ["--bundle"]],
  ] as const)
    it(`takes the demo to the same tree and the same ends of tasks, with workers ${how}`, async () => {
      const folder = newFolder();
      await using place = await makeFleetPlace({
        url: await newDatabase(),
        files: demoProject(),
        script: travellingDemo(folder),
        env: { [CACHE_VARIABLE]: folder },
      });
      const coordinator = await place.machine();
      const workers = [1, 2, 3, 4].map(() => place.worker("--capacity", "4", ...args));
      const script = path.join(coordinator.folder, "script.json");
      const run = coordinator.skein("run", demoGoal, "--script", script, ...DEMO_ARGS, "--json");
      await run.says("run.opened");
      await markProgress(await coordinator.home(), folder, AbortSignal.timeout(LIMIT.timeout));
      const ran = await run.ended;
      assert.equal(ran.code, 0, ran.err.slice(-2_000));
      const found = await lookAt(place, coordinator);
      assert.deepEqual(found.endings, truth.endings);
      assert.equal(found.tree, truth.tree);
      const left = await openRepository(place.remote).git(
        "for-each-ref",
        "--format=%(refname)",
        "refs/skein",
      );
      assert.equal(left, "");
      for (const { kill } of workers) kill("SIGTERM");
      const served = await Promise.all(workers.map(({ ended }) => ended));
      for (const { code, out, err } of served) {
        assert.equal(code, 0, err);
        assert.match(out, /: (?:worked|planned|gated) after/, "every worker did something");
      }
    });
});

/** The demo as `skein demo` runs it. */
async function onOneMachine(): Promise<Pick<FoundRun, "tree" | "endings">> {
  await using setting = await makeSetting({ files: demoProject(), script: demoScript() });
  const env = { ...setting.env, [CACHE_VARIABLE]: setting.folder };
  const config = setting.config(demoSettings);
  const { end, target } = await runGoal({ ...setting, env }, config, { goal: demoGoal });
  assert.equal(closing(end), "done");
  assert.ok(end.is === "closed");
  const tree = await setting.repository.git("rev-parse", `${target}^{tree}`);
  return { tree, endings: endings(end.state) };
}
