/** Tests that the recorded trials of third-party agents match the pinned versions and docs/agents.md. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { KNOWN_AGENTS } from "../../src/config/known-agents.ts";
import { ROOT } from "../../tools/source-files.ts";
import { RECIPES } from "./recipes.ts";
import { lastResults, resultsTable } from "./record.ts";

const docs = readFileSync(path.join(ROOT, "docs", "agents.md"), "utf8");
const unpinned = (name: string) => name.replace(/(?<=.)@[^@/]*$/, "");

describe("the trials of known agents", () => {
  for (const { name, npm, command, node, tried } of KNOWN_AGENTS)
    it(`install ${name} with what the documents say`, () => {
      const recipe = RECIPES.find((one) => one.name === name);
      assert.equal(
        recipe?.packages[0].split("@").at(-1),
        tried,
        "the version that refusals name is the one on record",
      );
      assert.equal(recipe?.packages.map(unpinned).join(" "), npm);
      const row = docs.split("\n").find((line) => line.includes(`\`npm install --global ${npm}\``)) ?? "";
      assert.ok(row.startsWith(`| \`${name}\` |`) && row.includes(`\`${command.join(" ")}\``), row);
      if (node !== undefined) assert.match(row, new RegExp(`\\| ${node} \\|$`));
    });

  it("are on record for each agent, with the versions that are pinned and three of three tasks landed", () => {
    const found = lastResults().map(({ agent, packages, exitCode, landed, tasks }) => ({
      ...{ agent, packages, exitCode, landed, tasks },
    }));
    const wanted = RECIPES.map(({ name, packages }) => ({
      ...{ agent: name, packages: packages.join(" "), exitCode: 0, landed: 3, tasks: 3 },
    }));
    assert.deepEqual(found, wanted);
  });

  it("are shown in the documents as they are on record, which says nothing of the machine", () => {
    const results = lastResults();
    assert.ok(docs.includes(resultsTable(results)), `docs/agents.md needs\n${resultsTable(results)}`);
    assert.doesNotMatch(JSON.stringify(results), /:\/\/|"\/|\/(?:tmp|home|root|work|Users)\//);
  });
});
