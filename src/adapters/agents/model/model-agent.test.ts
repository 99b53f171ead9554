import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { textOf, workAsk } from "../../../../test/contracts/agent.ts";
import { agentParts, hearing } from "../../../../test/support/agent-parts.ts";
import { startModelServer } from "../../../../test/support/model-server/model-server.ts";
import { noSandbox } from "../../sandboxes/sandbox.ts";
import { openModel } from "../../models/providers.ts";
import { ModelAgent } from "./model-agent.ts";
import { mkdtempSync } from "node:fs";

describe("thin", () => {
  it("works", async () => {
    const home = mkdtempSync("/tmp/thin-");
    const folder = path.join(home, "ws");
    mkdirSync(folder);
    await using server = await startModelServer({
      answer: (call) =>
        call.messages.some((m) => m.role === "tool")
          ? { tools: [{ name: "handoff", input: { status: "complete", summary: "made it" } }] }
          : { text: "I write.", tools: [{ name: "write", input: { path: "made.txt", content: "made" } }] },
    });
    const model = await openModel({ provider: "mine", model: "m", baseUrl: server.url }, {});
    if ("failure" in model) throw new Error(model.failure.message);
    const heard = hearing();
    const agent = new ModelAgent({
      ...agentParts(path.join(home, "turns"), heard),
      limits: {},
      models: async () => [model],
      prompts: { "root-planner": "root", subplanner: "sub", worker: "work", reconciler: "rec" },
      governor: { admit: async (call) => ({ account: call.accounts[0], id: 1 }), settle: (...x) => console.log(x), refuse() {} },
      sandbox: noSandbox("test"),
      conversations: path.join(home, "conversations"),
    });
    const said = await agent.turn(workAsk(folder), new AbortController().signal);
    console.log(JSON.stringify(said), server.tokens(), heard.texts);
    assert.equal(readFileSync(path.join(folder, "made.txt"), "utf8"), "made");
    assert.ok(textOf(said));
  });
});
