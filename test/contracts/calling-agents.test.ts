/** Runs command and ACP agents against the contract of agents whose workers delegate and ask. */
import { after } from "node:test";
import { CommandAgent } from "../../src/adapters/agents/command.ts";
import { CallDesk } from "../../src/adapters/call-desk/desk.ts";
import { scriptedAcp } from "../support/acp-agent/agent.ts";
import type { AcpScript } from "../support/acp-agent/script.ts";
import { agentParts, hearing } from "../support/agent-parts.ts";
import { callingAgentContract, REQUEST } from "./calling-agent.ts";

const desk = new CallDesk();
after(() => desk.close());
const calls = { desk, skein: async () => "/skein" };

/** A program that calls for a subtask as `skein subtask spawn` does, and in a later turn repeats its prompt. */
const PROGRAM = `
  const { SKEIN_RESPONSE, SKEIN_CALL_URL, SKEIN_CALL_TOKEN } = process.env;
  const say = (value) => console.log(JSON.stringify(value));
  if (SKEIN_RESPONSE) say({ status: "complete", summary: require(SKEIN_RESPONSE).result.content });
  else if (SKEIN_CALL_URL) {
    const headers = { authorization: "Bearer " + SKEIN_CALL_TOKEN };
    const body = JSON.stringify({ tool: "spawn_subtask", input: ${JSON.stringify(REQUEST)} });
    fetch(SKEIN_CALL_URL + "/call", { method: "POST", headers, body }).then(() => say({ spent: { tokens: 7 } }));
  }`;

callingAgentContract(
  "that is a program",
  (folder) =>
    new CommandAgent({ ...agentParts(folder, hearing()), command: [process.execPath, "-e", PROGRAM], calls }),
);

const script: AcpScript = {
  connects: "by http",
  usage: { totalTokens: 7, inputTokens: 5, outputTokens: 2 },
  prompts: [[{ do: "tool", name: "spawn_subtask", input: REQUEST }]],
  when: ["Your subtask has ended", "Your subtask asks"].map((told) => ({
    told,
    prompts: [[{ do: "repeat" }]],
  })),
};

for (const [how, more] of [
  ["loads its session", { loads: "said before" }],
  ["begins another session", {}],
] as const)
  callingAgentContract(`that is talked with and ${how}`, (folder) =>
    scriptedAcp({ ...script, ...more }, folder, hearing(), { calls }),
  );
