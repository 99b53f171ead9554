/** Tests when a tree that passed the gate is not gated again by another run. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import type { JobId } from "../../core/job.ts";
import { hasFailed } from "../../core/result.ts";
import type { Gate, GatedTree } from "../../ports/gate.ts";
import { rememberingGate } from "./gated-trees.ts";
import { gateRules } from "./rules.ts";

const NEVER = new AbortController().signal;
const DAY = 24 * 60 * 60_000;

/** Makes a gate that passes or fails as told, over a repository with one commit. */
async function place(command = "npm test") {
  const repository = await makeRepository({ files: { "a.txt": "a\n" } });
  const stateFolder = mkdtempSync(path.join(tmpdir(), "skein-gated-"));
  const at = { now: 1_000, isGreen: true, ran: 0 };
  const plain = {
    run: async () => {
      at.ran += 1;
      const report = {
        commands: [{ name: command, green: at.isGreen, failures: [], tests: 7, names: ["a"] }],
      };
      return { report, problems: [], tail: "" };
    },
  } as unknown as Gate;
  const gateOf = (surroundings = "", line = command) =>
    rememberingGate(plain, {
      ...{ repository: repository.folder, stateFolder, surroundings, now: () => at.now },
      rules: gateRules([{ name: command, run: line }], repository.folder),
    });
  const commit = await repository.git("rev-parse", "HEAD");
  const look = async (gate: Gate, more: Partial<GatedTree> = {}) => {
    const run = await gate.run(
      { job: "check#1" as JobId, commit, rules: commit, mayReuse: true, ...more },
      NEVER,
    );
    assert.ok(!hasFailed(run));
    return run.passedAt;
  };
  const gone = async () => {
    await repository[Symbol.asyncDispose]();
    rmSync(stateFolder, { recursive: true });
  };
  return { repository, commit, at, gateOf, look, [Symbol.asyncDispose]: gone };
}

describe("a tree that passed the gate", () => {
  it("is not gated again by another run, also in another commit, for a day", async () => {
    await using here = await place();
    const { at, gateOf, look, repository } = here;
    assert.equal(await look(gateOf()), undefined);
    assert.equal(await look(gateOf()), 1_000);
    const twin = await repository.commit({}, "the same tree");
    assert.equal(await look(gateOf(), { commit: twin }), 1_000);
    at.now += DAY + 1;
    assert.equal(await look(gateOf()), undefined);
    assert.equal(at.ran, 2);
  });

  it("is gated again with other commands, another set-up, another tree, and where a look does not ask for it", async () => {
    await using here = await place();
    const { gateOf, look, repository, commit } = here;
    await look(gateOf());
    assert.equal(await look(gateOf("", "npm run other")), undefined);
    assert.equal(await look(gateOf("a set-up")), undefined);
    const other = await repository.commit({ "a.txt": "b\n" });
    assert.equal(await look(gateOf(), { commit: other }), undefined);
    const candidate = await gateOf().run({ job: "land#1" as JobId, commit, rules: commit }, NEVER);
    assert.ok(!hasFailed(candidate) && candidate.passedAt === undefined);
  });

  it("is remembered with the number of its tests, which a landing is compared with", async () => {
    await using here = await place();
    const { commit, gateOf, look } = here;
    await look(gateOf());
    const known = await gateOf().run(
      { job: "check#1" as JobId, commit, rules: commit, mayReuse: true },
      NEVER,
    );
    assert.ok(!hasFailed(known) && known.passedAt !== undefined);
    assert.deepEqual(known.report.commands, [{ name: "npm test", green: true, failures: [], tests: 7 }]);
  });

  it("is remembered only if it passed", async () => {
    await using here = await place();
    here.at.isGreen = false;
    for (let i = 0; i < 2; i += 1) assert.equal(await here.look(here.gateOf()), undefined);
    assert.equal(here.at.ran, 2);
  });
});
