/** Tests that an ordinary gate passes in the sandbox, and what is said about a gate that cannot run there. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { tryGate } from "../../src/app/try-gate.ts";
import { partsOf } from "../../src/compose/parts.ts";
import { openWorld } from "../../src/compose/world.ts";
import { isGreen } from "../../src/core/gate.ts";
import type { JobId } from "../../src/core/job.ts";
import { hasFailed } from "../../src/core/result.ts";
import { createRun, makeSetting, type Setting } from "../support/live-runs.ts";
import { whyNoSandbox } from "../support/tool-places.ts";

const NEVER = new AbortController().signal;
const JOB = "check#1" as JobId;

/** Runs this configuration's gate on the base: as the user's commit, and as a commit that an agent may have written. */
async function gateOf(setting: Setting, flags: Readonly<Record<string, unknown>>) {
  const { project, env } = setting;
  const config = setting.config(flags);
  const base = project.located.head;
  const home = await createRun(project, { goal: "g", base, config });
  assert.ok(!hasFailed(home));
  const world = openWorld(project, env, home, { config });
  const tree = { job: JOB, commit: base, rules: base };
  const run = async (isBase: boolean) => {
    const ran = await world.jobs.gate.run(isBase ? { ...tree, isBase: true } : tree, NEVER);
    assert.ok(!hasFailed(ran), "failure" in ran ? ran.failure.message : "");
    return ran;
  };
  return { run, [Symbol.asyncDispose]: () => world.close() };
}

/** Defines a test only where there is a sandbox: elsewhere every gate runs as the user. */
const sandboxed = (name: string, run: () => Promise<void>): void => {
  if (missing === false) it(name, run);
};
const missing = await whyNoSandbox();

sandboxed(
  "a base that needs what the sandbox hides does not run in it; a candidate is red, and stays in it",
  async () => {
    await using setting = await makeSetting({ files: { "a.txt": "a\n" } });
    fs.writeFileSync(path.join(setting.folder, "needed"), "");
    const seen = path.join(setting.folder, "seen");
    const gate = [`echo needs it; test -f "$HOME/needed" && echo >> '${seen}'`];
    await using inside = await gateOf(setting, { gate });
    const candidate = await inside.run(false);
    assert.deepEqual(
      [isGreen(candidate.report), candidate.setup, fs.existsSync(seen)],
      [false, undefined, false],
    );
    const base = await inside.run(true);
    assert.match(base.setup?.message ?? "", /the gate does not run in the sandbox: .*needs it/s);
    assert.match(base.setup?.next ?? "", /`gateSandbox: off`/);
    assert.doesNotMatch(base.setup?.next ?? "", /network/, "it has the network");
    assert.equal(fs.readFileSync(seen, "utf8"), "\n", "run outside once");
    await inside.run(false);
    assert.equal(fs.readFileSync(seen, "utf8"), "\n");
    const { project, env } = setting;
    const tried = { config: setting.config({ gate }), commit: project.located.head };
    const trial = await tryGate(tried, partsOf(project, env), NEVER);
    assert.ok(!hasFailed(trial));
    assert.match(
      trial.run.setup?.message ?? "",
      /does not run in the sandbox/,
      "doctor --gate says the same",
    );
    await using off = await gateOf(setting, { gate, gateSandbox: "off" });
    assert.ok(isGreen((await off.run(false)).report));
  },
);

sandboxed("the same of a set-up command, which is run outside in a place of its own", async () => {
  await using setting = await makeSetting({ files: { "a.txt": "a\n" } });
  fs.writeFileSync(path.join(setting.folder, "needed"), "made by set-up\n");
  await using gate = await gateOf(setting, {
    gate: ["cat made"],
    "workspace.setup": 'cp "$HOME/needed" made',
  });
  const { setup } = await gate.run(true);
  assert.match(
    setup?.message ?? "",
    /does not run in the sandbox: on the untouched base, `workspace\.setup` fails/,
  );
});

sandboxed("a gate reads a folder that workspaces share with the checkout, and cannot change it", async () => {
  const files = { ".gitignore": "deps\n", "a.txt": "a\n" };
  await using setting = await makeSetting({ files });
  const deps = path.join(setting.repository.folder, "deps");
  fs.mkdirSync(deps);
  fs.writeFileSync(path.join(deps, "x"), "installed\n");
  const gate = ["grep installed deps/x", "! touch deps/y", "git log --format=%s | grep first"];
  await using shared = await gateOf(setting, { gate, "workspace.share": ["deps"], "workspace.copy": [] });
  const ran = await shared.run(false);
  assert.ok(isGreen(ran.report), ran.tail);
  assert.deepEqual(fs.readdirSync(deps), ["x"]);
});

it("a gate that is red anyway is red, in a sandbox or not", async () => {
  await using setting = await makeSetting({ files: { "a.txt": "a\n" } });
  await using gate = await gateOf(setting, { gate: ["false"] });
  const ran = await gate.run(true);
  assert.deepEqual([isGreen(ran.report), ran.setup], [false, undefined]);
});
