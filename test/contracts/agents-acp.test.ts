/** Runs the agent of the Agent Client Protocol against the contract of agents. */

import { scriptedAcp } from "../support/acp-agent/agent.ts";
import type { AcpScript, Step } from "../support/acp-agent/script.ts";
import { hearing } from "../support/agent-parts.ts";
import { agentContract, type Behaviour } from "./agent.ts";

const HANDOFF = { status: "complete", summary: "made it" };
const ANSWER = {
  scratchpad: "",
  tasks: [{ id: "a", description: "Make a", acceptance: "it is there", scope: ["made.txt"] }],
};
const write: Step = { do: "write", path: "made.txt", text: "made\n", by: "itself" };
const say = (value: object): Step => ({ do: "say", text: JSON.stringify(value) });

const STEPS: Readonly<Record<Behaviour, readonly Step[]>> = {
  works: [write, say(HANDOFF)],
  plans: [{ do: "say", text: "I thought about it.\n" }, say(ANSWER)],
  silent: [],
  fails: [write, { do: "fail", code: -32603, message: "Internal error", data: { details: "oh no" } }],
  outage: [{ do: "fail", code: -32603, message: "Internal error", data: "fetch failed" }],
  dies: [write, { do: "die" }],
  hangs: [{ do: "say", text: "begun" }, { do: "hang" }],
};

agentContract("that speaks ACP", (behaviour, folder) => {
  const heard = hearing();
  const usage = { totalTokens: 7, inputTokens: 5, outputTokens: 2 };
  const script: AcpScript = { prompts: [STEPS[behaviour]], ...(behaviour === "works" && { usage }) };
  return { agent: scriptedAcp(script, folder, heard), begun: heard.begun };
});
