/** Tests what is said before a run if the built-in agent lacks its sandbox or prompts, or works unconfined. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { it } from "node:test";
import { whyNoSandbox } from "../support/tool-places.ts";
import { makePlace } from "./cli-place.ts";
import { failing } from "./faulty-runs.ts";
import { makeModelPlace } from "./model-place.ts";

const LIMIT = { timeout: 120_000 };
const PROGRAMS = ["git", "sh", "bash", "mkfifo", "cat", "cp", "rm", "ls", "mkdir", "env", "sed"];

/** Makes the whole PATH: the programs that Skein needs, and a bwrap that always fails, or none. */
async function bin(folder: string, bwrap: "none" | "refused"): Promise<string> {
  const at = path.join(folder, bwrap);
  await mkdir(at);
  for (const name of PROGRAMS)
    await symlink(
      execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(),
      path.join(at, name),
    );
  if (bwrap === "refused")
    await writeFile(path.join(at, "bwrap"), "#!/bin/sh\necho no permissions >&2; exit 1\n", { mode: 0o755 });
  return at;
}

it("a sandbox that is required and not there, or prompts that are not: no run is begun", LIMIT, async () => {
  await using place = await makeModelPlace({ answer: failing(() => undefined), sets: { gate: "none" } });
  const run = (env: Record<string, string>, ...more: readonly string[]) =>
    place.with({ env }).skein("run", "write some files", ...place.settings, ...more);
  const required = ["--set", "sandbox=required"];
  const none = await run({ PATH: await bin(place.folder, "none") }, ...required);
  assert.equal(none.code, 3, none.out + none.err);
  if (process.platform === "linux")
    assert.match(
      none.err,
      /^skein: a sandbox is required, and bwrap is not on the PATH\ntry: install bubblewrap/,
    );
  const refused = await run({ PATH: await bin(place.folder, "refused") }, ...required);
  assert.equal(refused.code, 3, refused.out + refused.err);
  const prompts = await run({}, "--set", "prompts=nowhere", "--set", "sandbox=off");
  assert.equal(prompts.code, 3, prompts.out + prompts.err);
  assert.match(prompts.err, /nowhere/);
  assert.equal(place.server.calls.length, 0);
  const runs = await readdir(place.state, { recursive: true }).catch(() => []);
  assert.deepEqual(
    runs.filter((name) => name.endsWith("events.db")),
    [],
  );
});

it("a sandbox that is required, and an agent or a gate outside of it: no run is begun", LIMIT, async () => {
  await using place = await makePlace();
  const run = (...more: readonly string[]) =>
    place.skein("run", "write it", "--gate", "none", "--set", "sandbox=required", ...more);
  const agent = await run("--agent", place.agent);
  assert.equal(agent.code, 3, agent.out + agent.err);
  const isThere = (await whyNoSandbox()) === false; // Without a sandbox on this machine, its absence is said first.
  if (isThere)
    assert.match(agent.err, /a sandbox is required, and Skein does not confine agents that are programs/);
  const gate = await run("--agent", place.agent, "--set", "gateSandbox=off");
  assert.equal(gate.code, 3, gate.out + gate.err);
  if (isThere)
    assert.match(
      gate.err,
      /a sandbox is required, and gateSandbox is off: tests that agents write would run/,
    );
  assert.deepEqual(await readdir(place.state, { recursive: true }).catch(() => []), []);
});

it("a sandbox that is only wished for: the run says that there is none, and goes on", LIMIT, async () => {
  await using place = await makeModelPlace({ answer: failing(() => undefined), sets: { gate: "none" } });
  const PATH = await bin(place.folder, "none");
  const { skein } = place.with({ env: { PATH } });
  const wished = await skein("run", "write some files", ...place.settings);
  assert.equal(wished.code, 0, wished.out + wished.err);
  assert.match(wished.out, /^notice: no sandbox: .*: commands run as you; /m);
  const off = await skein("run", "write them again", ...place.settings, "--set", "sandbox=off");
  assert.doesNotMatch(off.out + off.err, /no sandbox/);
});
