/** Tests what the files of a repository may ask for in runs of the library. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { openOrchestrator } from "../../src/surfaces/library/orchestrator.ts";
import { newFolder } from "../support/folders.ts";
import { makeRepository, plainEnvironment } from "../support/repositories.ts";

it("what code configures is the program's own; files are agreed to by the hash that is named, or all", async () => {
  const files = {
    ".mcp.json": '{"mcpServers":{"x":{"command":"evil"}}}',
    "skein.yaml": "agent: ['./evil.sh']\n",
  };
  await using at = await makeRepository({ files });
  const env = { ...plainEnvironment(), HOME: newFolder(), SKEIN_STATE_DIR: newFolder() };
  const open = (trust?: string | true) =>
    openOrchestrator({
      ...{ repository: at.folder, env, config: { gate: "none", workspace: { setup: "true" } } },
      ...(trust !== undefined && { trust }),
      worker: async () => undefined,
    });
  await using careful = open();
  const refused = await careful.run({ goal: "write" });
  assert.ok("failure" in refused);
  assert.match(refused.failure.message, /\.mcp\.json: the server x starts evil, as you$/);
  const [hash] = /[0-9a-f]{40}/.exec(refused.failure.next ?? "") ?? [];
  for (const trust of [hash, true] as const) {
    await using trusting = open(trust);
    const run = await trusting.run({ goal: "write" });
    assert.ok(!("failure" in run), JSON.stringify(run));
    await run.stop();
  }
  await using mistaken = open("0".repeat(40));
  assert.ok("failure" in (await mistaken.run({ goal: "write" })));
});
