/** What does an agent of any kind get? The run's programs and places, and what is configured. */
import type { ModelSpec } from "../../core/model-spec.ts";
import type { Failed } from "../../core/result.ts";
import type { PriceOverrides } from "../../ports/agent-looks.ts";
import type { Governor } from "../../ports/governor.ts";
import type { Environment } from "../../ports/project.ts";
import type { Agrees } from "../../ports/trust.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import type { AcpOptions } from "./acp/acp-agent.ts";
import type { CommandOptions } from "./command.ts";

export type AgentParts = {
  readonly turns: Omit<CommandOptions, "command">;
  readonly conversations: string;
  readonly governor: Governor;
  readonly sandbox: () => Promise<Sandbox | Failed>;
};

export type AgentSettings = {
  readonly env: Environment;
  /** The user's checkout. */
  readonly top: string;
  readonly promptFolders: readonly string[];
  /** The model that "provider/model" means. */
  readonly modelIn: (name: string) => ModelSpec | undefined;
  readonly prices: PriceOverrides;
  /** Whether a model without a known price may be called. */
  readonly mayBeUnpriced: boolean;
  readonly retry: { readonly first: number; readonly max: number };
  /** What is known of an agent by its name. */
  readonly startOf: (name: string) => Pick<AcpOptions, "environment" | "readsItself" | "tried">;
  readonly permissions: AcpOptions["permissions"];
  /** What files of the repository may ask for: servers, prompts. */
  readonly agrees: Agrees;
  /** Variables that `.mcp.json` may name. */
  readonly passed: Readonly<Record<string, string>>;
};
