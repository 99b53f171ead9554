/** How do programs hear of the scratchpad? By two variables; one of them has the name that other tools know. */
import type { Scratchpad } from "../../ports/agent.ts";

export const scratchpadVariables = (
  scratchpad: Scratchpad | undefined,
): Readonly<Record<string, string>> => ({
  ...(scratchpad && { CLAUDE_SCRATCHPAD_DIR: scratchpad.folder }),
  ...(scratchpad?.file !== undefined && { SKEIN_OUTPUT_FILE: scratchpad.file }),
});
