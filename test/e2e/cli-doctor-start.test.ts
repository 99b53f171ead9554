/** Tests that `skein doctor` and `skein run` agree on what keeps a run from starting. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { trialFrom } from "../../src/app/inspect/trial.ts";
import { makePlace } from "./cli-place.ts";

test("what a run refuses, doctor refuses with the same words; nothing is written", async () => {
  await using place = await makePlace();
  const { agent, repository, state } = place;
  const refs = await repository.git("for-each-ref");
  for (const [args, words] of [
    [["--agent", agent, "--deliver"], "main is checked out in"],
    [["--agent", agent, "--base", "HEAD~0", "--deliver"], "would not start from a branch"],
    [["--agent", agent, "--base", "no-such"], 'there is no commit "no-such"'],
    [["--agent", agent, "--set", "gate=auto", "--set", "sandbox=required"], "a sandbox is required"],
    [["--agent", "./no-agent.sh"], "no-agent.sh was not found"],
  ] as const) {
    const asked = JSON.parse((await place.skein("doctor", ...args, "--json")).out);
    const bad = asked.findings.filter(({ level }: { readonly level: string }) => level === "bad");
    assert.equal(asked.canRun, false, words);
    assert.ok(
      bad.some(({ text }: { readonly text: string }) => text.includes(words)),
      JSON.stringify(bad),
    );
    const run = await place.skein("run", "write two files", ...args);
    assert.notEqual(run.code, 0);
    assert.ok(run.err.includes(words), run.err);
  }
  const may = await place.skein("doctor", "--agent", agent, "--deliver", "--into-checkout", "--json");
  assert.equal(JSON.parse(may.out).canRun, true);
  assert.equal(await repository.git("for-each-ref"), refs);
  assert.equal(existsSync(state), false);
});

test("a gate whose program is missing keeps a run from starting, unless a set-up may bring it", async () => {
  await using place = await makePlace();
  const args = ["doctor", "--agent", place.agent, "--set", 'gate=["no-such-runner --all"]', "--json"];
  const asked = JSON.parse((await place.skein(...args)).out);
  assert.equal(asked.canRun, false);
  const setUp = JSON.parse((await place.skein(...args, "--set", "workspace.setup=make tools")).out);
  assert.equal(setUp.canRun, true);
  assert.ok(
    setUp.findings.some(({ text }: { readonly text: string }) =>
      text.includes("unless workspace.setup installs it"),
    ),
  );
});

test("doctor --gate says of a failing base what a run would do with it", async () => {
  await using place = await makePlace();
  const tried = async (...more: readonly string[]) => {
    const args = ["doctor", "--agent", place.agent, "--gate", "--gate", "false", "--json", ...more];
    const { canRun, findings } = JSON.parse((await place.skein(...args)).out);
    const found = findings.find(({ name }: { readonly name: string }) => name === "gate, run");
    return { canRun, said: `${found.text}\n${found.next}` };
  };
  const stops = await tried("--set", "onRedBase=stop");
  assert.equal(stops.canRun, false);
  assert.match(stops.said, /a run would stop here/);
  const goesOn = await tried("--set", "onRedBase=continue");
  assert.equal(goesOn.canRun, true);
  assert.match(goesOn.said, /agents would work beside it/);
  const repairs = await tried("--set", "onRedBase=repair");
  assert.match(repairs.said, /\na run would start with tasks that repair it$/);
});

test("where nothing ran that could be judged, doctor says that a run would stop", () => {
  const run = { report: { commands: [{ name: "build", green: false, failures: ["build"] }] }, problems: [] };
  const look = { class: "unjudged", commands: [], failures: ["build"], count: 1 } as const;
  const trial = (onRedBase?: "repair") =>
    trialFrom({ run, tookMs: 1, look } as never, onRedBase).findings[0]!;
  assert.deepEqual([trial().level, /a run would stop here/.test(trial().text)], ["bad", true]);
  assert.equal(trial("repair").level, "warn");
});
