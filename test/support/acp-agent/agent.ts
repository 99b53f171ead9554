/** Makes the ACP adapter for tests, with the scripted agent as its program. */
import { fileURLToPath } from "node:url";
import { AcpAgent } from "../../../src/adapters/agents/acp/acp-agent.ts";
import { agentParts, type Heard } from "../agent-parts.ts";
import type { AcpScript } from "./script.ts";

export const ACP_COMMAND = [process.execPath, fileURLToPath(new URL("./main.ts", import.meta.url))] as const;

export const PROMPTS = {
  "root-planner": "You plan all of it.",
  subplanner: "You plan a part.",
  worker: "You work.",
  "execution-planner": "You plan before anything runs.",
  subtask: "You do one task.",
} as const;

export const scriptedAcp = (
  script: AcpScript,
  folder: string,
  heard: Heard,
  more: Partial<ConstructorParameters<typeof AcpAgent>[0]> = {},
): AcpAgent =>
  new AcpAgent({
    ...agentParts(folder, heard),
    command: ACP_COMMAND,
    name: "the ACP agent",
    account: "acp",
    environment: { ACP_SCRIPT: JSON.stringify(script) },
    prompts: PROMPTS,
    mcpServers: [],
    permissions: "deny-outside",
    ...more,
  });
