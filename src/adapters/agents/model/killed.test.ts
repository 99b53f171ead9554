/** Tests that what a model call cost, or may have cost, survives a kill of the engine during the call. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { JOB } from "../../../../test/contracts/agent.ts";
import { newFolder } from "../../../../test/support/folders.ts";
import { type Reply, startModelServer } from "../../../../test/support/model-server/model-server.ts";
import { modelTurns } from "../../../../test/support/model-turns.ts";

const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

/** The source of a program that runs a turn in its own process, on the files of `home`. */
const program = (home: string, url: string) => `
import { agentParts, hearing } from ${here("../../../../test/support/agent-parts.ts")};
import { workAsk } from ${here("../../../../test/contracts/agent.ts")};
import { RecordingGovernor } from ${here("../../../../test/support/model-turns.ts")};
import { openModel } from ${here("../../models/providers.ts")};
import { noSandbox } from ${here("../../sandboxes/sandbox.ts")};
import { ModelAgent } from ${here("./model-agent.ts")};
const home = ${JSON.stringify(home)};
const model = await openModel({ provider: "mine", model: "m", baseUrl: ${JSON.stringify(url)} }, {});
const agent = new ModelAgent({
  ...agentParts(home + "/turns", hearing()), limits: {}, models: async () => [model], governor: new RecordingGovernor(),
  prompts: { worker: "WORKER" }, sandbox: noSandbox("a test"), conversations: home + "/conversations",
});
await agent.turn(workAsk(home + "/workspace"), new AbortController().signal);
`;

describe("an engine that is killed in the middle of a call", () => {
  it("leaves to the next one what was spent, and what may have been", async () => {
    const home = newFolder();
    mkdirSync(path.join(home, "workspace"));
    const first: Reply = { tools: [{ name: "ls", input: {} }], usage: { input: 1_000, output: 10 } };
    await using server = await startModelServer({
      answer: ({ n }) => (n === 1 ? first : { fault: { is: "hang" } }),
    });
    const child = spawn(process.execPath, ["--input-type=module", "-e", program(home, server.url)], {
      stdio: "inherit",
    });
    await server.waitForCall(2);
    child.kill("SIGKILL");
    await once(child, "exit");
    await using turns = await modelTurns(() => ({ text: "" }), { folder: path.join(home, "turns") });
    const collected = await turns.agent.collect(JOB);
    assert.equal(collected?.is, "cut");
    const { tokens, turn, unaccounted } = collected?.spent ?? {};
    assert.deepEqual([tokens, turn?.calls, turn?.toolCalls, unaccounted?.calls], [1_010, 1, 1, 1]);
    assert.ok((unaccounted?.tokens ?? 0) > 8_192);
  });
});
