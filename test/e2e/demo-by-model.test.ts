/** Tests that the demo's project, played by a model over real HTTP, ends with the same tree as by scripted agents. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import { nothingSeen, see } from "../../src/core/view/view.ts";
import { demoGoal, demoProject } from "../../src/surfaces/demo/project.ts";
import { CACHE_VARIABLE, demoScript, demoSettings } from "../../src/surfaces/demo/script.ts";
import { byRecords, playsScript } from "../support/model-server/plays-script.ts";
import { makePlace, type Place } from "./cli-place.ts";
import { holds, KEY, makeModelPlace } from "./model-place.ts";

/** Faults last for a whole turn here. Calls that are repeated within the turn wait less. */
const SETTINGS = { ...demoSettings, "retry.first": "50ms" };

const sets = Object.entries(SETTINGS).flatMap(([key, value]) => [
  "--set",
  `${key}=${typeof value === "object" ? JSON.stringify(value) : value}`,
]);

type End = { readonly tree: string; readonly tasks: readonly string[]; readonly tokens: number };

async function playDemo(place: Place): Promise<End> {
  const { skein } = place.with({ env: { [CACHE_VARIABLE]: place.folder } });
  const { code, out, err } = await skein("run", demoGoal, ...sets);
  assert.equal(code, 0, out + err);
  const [, run = ""] = /^run +(\S+)$/m.exec(out) ?? [];
  const { out: log } = await skein("logs", run, "--json");
  const seen = nothingSeen();
  const lines = log.trimEnd().split("\n");
  for (const line of lines) see(seen, JSON.parse(line) as Event);
  const { tasks, spent } = seen.state;
  return {
    tree: await place.repository.git("rev-parse", `skein/${run}/target^{tree}`),
    // Ids are left out: whether the fix or the plan gets the first one depends on timing.
    tasks: [...tasks.values()].map(({ spec, state }) => `${spec.key} ${state.is}`).sort(),
    tokens: spent.tokens,
  };
}

describe("the demo's project", () => {
  it("comes to the same end through the built-in agent over HTTP as with scripted agents", async () => {
    let jobs = "";
    const until = byRecords(() => {
      [jobs = jobs] = globSync(path.join(place.state, "*/runs/*/jobs"));
      return jobs;
    });
    await using place = await makeModelPlace({
      wire: "openai-chat",
      files: demoProject(),
      answer: playsScript(demoScript(), { until }),
    });
    const end = await playDemo(place);
    const scripted = await scriptedEnd();
    assert.equal(end.tree, scripted.tree, "the target holds the same, byte for byte");
    assert.deepEqual(end.tasks, scripted.tasks);
    const counted = place.server.tokens();
    assert.equal(end.tokens, counted.input + counted.output, "to the token");
    assert.deepEqual(await holds(place.state, KEY), [], "the key is in no file");
  });
});

/** The demo's outcome with scripted agents. */
async function scriptedEnd(): Promise<End> {
  await using place = await makePlace({ files: demoProject() });
  const script = path.join(place.folder, "script.json");
  await writeFile(script, JSON.stringify(demoScript()));
  const agent = JSON.stringify({ kind: "scripted", script });
  return await playDemo({
    ...place,
    with: ({ env = {} }) => place.with({ env: { SKEIN_AGENT: agent, ...env } }),
  });
}
