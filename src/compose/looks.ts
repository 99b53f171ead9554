/** What can be seen of agents on this machine before one is started? */
import { agentLooks } from "../adapters/agent-looks.ts";
import { KNOWN_PROVIDERS } from "../config/known-providers.ts";
import type { Environment } from "../ports/project.ts";

export const looksOf = (env: Environment) => agentLooks(env, KNOWN_PROVIDERS);
