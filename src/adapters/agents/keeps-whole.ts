/** Who plans when nobody is to? One who finds nothing worth splitting: the goal goes to one worker as it is. */
import type { Agent } from "../../ports/agent.ts";

export const keepsWhole: Agent = {
  turn: async () => ({ is: "said", text: '{"scratchpad": "", "tasks": []}' }),
  collect: async () => undefined,
};
