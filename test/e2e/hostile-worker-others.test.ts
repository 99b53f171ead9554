/** Tests what is not confined: command agents, and a gate without a sandbox, run as the user, but without keys. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { CommandAgent } from "../../src/adapters/agents/command.ts";
import { CommandGate } from "../../src/adapters/gates/command.ts";
import { gateRules } from "../../src/adapters/gates/rules.ts";
import type { JobId } from "../../src/core/job.ts";
import { hasFailed } from "../../src/core/result.ts";
import { textOf, workAsk } from "../contracts/agent.ts";
import { agentParts, hearing } from "../support/agent-parts.ts";
import { newFolder } from "../support/folders.ts";
import { workspacePlace } from "../support/tool-places.ts";

const KEY = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz";
const NEVER = new AbortController().signal;

function homeWithKey() {
  const home = newFolder();
  fs.mkdirSync(path.join(home, ".ssh"));
  fs.writeFileSync(path.join(home, ".ssh", "id_ed25519"), "the user's private key\n");
  return { home, environment: { HOME: home, ANTHROPIC_API_KEY: KEY } };
}

it("a program as an agent reads and writes what the user can, and is handed no key", async () => {
  const { home, environment } = homeWithKey();
  await using at = await workspacePlace({ environment });
  const shell = 'env > "$HOME/env"; cat ~/.ssh/id_ed25519';
  const parts = agentParts(path.join(newFolder(), "jobs"), hearing());
  const agent = new CommandAgent({ ...parts, command: ["sh", "-c", shell] });
  const ask = { ...workAsk(at.place.folder), environment: at.place.environment };
  assert.match(textOf(await agent.turn(ask, NEVER)), /the user's private key/);
  assert.doesNotMatch(fs.readFileSync(path.join(home, "env"), "utf8"), /sk-ant|API_KEY/);
});

it("the gate runs what agents wrote, as the user, and hands it no key", async () => {
  const { home, environment } = homeWithKey();
  const files = { "check.sh": 'env > "$HOME/env"; cat ~/.ssh/id_ed25519 > "$HOME/taken"\n' };
  await using at = await workspacePlace({ environment, files });
  const gate = new CommandGate({
    repository: at.repository.folder,
    rules: gateRules([{ name: "test", run: "sh check.sh" }], ""),
    conflicts: { in: async () => [] },
    workspaces: at.workspaces,
    programs: at.place.programs,
    transcripts: hearing().transcripts,
    limits: { maxMs: 60_000, maxOutputBytes: 100_000, maxFileBytes: 1_000_000 },
    redact: (text) => text,
    maxAtOnce: 1,
  });
  const { commit } = at.workspace;
  const run = await gate.run({ job: "check:1" as JobId, commit, rules: commit }, NEVER);
  assert.ok(!hasFailed(run));
  assert.equal(fs.readFileSync(path.join(home, "taken"), "utf8"), "the user's private key\n");
  assert.doesNotMatch(fs.readFileSync(path.join(home, "env"), "utf8"), /sk-ant|API_KEY/);
});
