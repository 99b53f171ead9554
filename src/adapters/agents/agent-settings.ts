/** Types of what every kind of agent is opened with: the run's parts, and the configured settings. */
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
  /** Resolves a name such as "provider/model". */
  readonly modelIn: (name: string) => ModelSpec | undefined;
  readonly prices: PriceOverrides;
  /** Whether a model without a known price may be called. */
  readonly mayBeUnpriced: boolean;
  readonly retry: { readonly first: number; readonly max: number };
  /** Looks up an agent's start settings by its name. */
  readonly startOf: (name: string) => Pick<AcpOptions, "environment" | "readsItself" | "tried">;
  readonly permissions: AcpOptions["permissions"];
  /** Decides whether the user agreed to what a file of the repository asks for: servers, prompts. */
  readonly agrees: Agrees;
  /** The variables that `.mcp.json` may name. */
  readonly passed: Readonly<Record<string, string>>;
};
