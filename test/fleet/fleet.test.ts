/** Does a fleet come to the same as one machine? One coordinator, four workers, Postgres and a bare remote. */
import assert from "node:assert/strict";
import path from "node:path";
import { before, describe, it } from "node:test";
import { newDatabase } from "../support/postgres.ts";
import { openRepository } from "../support/repositories.ts";
import { type FoundRun, lookAt, makeFleetPlace } from "./fleet-place.ts";
import { onOneMachine } from "./mishaps.ts";
import { FILES, RUN_ARGS, scenario } from "./scenario.ts";

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
    it(`comes to the same tree and the same ends of tasks, with workers ${how}`, async () => {
      await using place = await makeFleetPlace({
        url: await newDatabase(),
        files: FILES,
        script: scenario(),
      });
      const coordinator = await place.machine();
      const workers = [1, 2, 3, 4].map(() => place.worker("--capacity", "2", ...args));
      const script = path.join(coordinator.folder, "script.json");
      const ran = await coordinator.skein("run", "be shared", "--script", script, ...RUN_ARGS, "--json")
        .ended;
      assert.equal(ran.code, 1, ran.err.slice(-2_000)); // A task is meant to fail.
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
