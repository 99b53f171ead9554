import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeRepository } from "../../../test/support/repositories.ts";
import { gateChanges } from "./gate-changes.ts";
import { configuredRules, detectedRules } from "./rules.ts";

const NEVER = new AbortController().signal;
const manifest = (test: string, version = "1.0.0") => JSON.stringify({ version, scripts: { test } });

describe("a change of the gate", () => {
  it("is a script, its hook, a file that it names, or a setting of its tool; nothing else", async () => {
    const files = { "package.json": manifest("node test/all.js"), "test/all.js": "1", "src/a.js": "1" };
    await using repository = await makeRepository({ files });
    const from = await repository.git("rev-parse", "HEAD");
    let count = 0;
    const after = async (change: Record<string, string>) => {
      count += 1;
      const to = await repository.branch(`b${count}`, change);
      return gateChanges(repository.folder, detectedRules(repository.folder), { from, to }, NEVER);
    };
    assert.deepEqual(await after({ "src/a.js": "2" }), []);
    assert.deepEqual(await after({ "package.json": manifest("node test/all.js", "2.0.0") }), []);
    assert.deepEqual(await after({ "package.json": manifest("true") }), ["package.json: the script test"]);
    assert.deepEqual(await after({ "test/all.js": "2" }), ["test/all.js"]);
    assert.deepEqual(await after({ ".npmrc": "script-shell=/bin/true\n" }), [".npmrc"]);
  });

  it("is seen for configured commands as well, and there is none where there is no gate", async () => {
    await using repository = await makeRepository({ files: { "check.sh": "true\n", "a.txt": "1" } });
    const from = await repository.git("rev-parse", "HEAD");
    const to = await repository.branch("b", { "check.sh": "exit 0\n" });
    const changes = (commands: Parameters<typeof configuredRules>[0]) =>
      gateChanges(repository.folder, configuredRules(commands), { from, to }, NEVER);
    assert.deepEqual(await changes([{ name: "check", run: "sh ./check.sh" }]), ["check.sh"]);
    assert.deepEqual(await changes([]), []);
  });
});
