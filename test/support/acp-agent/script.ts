/** The script of the tests' ACP agent: steps for each prompt, and how the agent initializes. */
import type { AuthMethod } from "@agentclientprotocol/sdk";

export type Step =
  | { readonly do: "say"; readonly text: string }
  /** Hands off as complete, with the first prompt as its summary. */
  | { readonly do: "repeat" }
  /** Writes through the client, or by itself. Says what the client refuses. */
  | { readonly do: "write"; readonly path: string; readonly text: string; readonly by: "client" | "itself" }
  | { readonly do: "read"; readonly path: string; readonly line?: number; readonly limit?: number }
  /** Writes as Gemini does: reads the file first, through the client if it offers that; any error ends the step. */
  | { readonly do: "create"; readonly path: string; readonly text: string }
  /** Asks for permission, and says the chosen option's id, or "cancelled". */
  | {
      readonly do: "ask";
      readonly call: Readonly<Record<string, unknown>>;
      readonly options?: readonly Readonly<Record<string, unknown>>[];
    }
  /** Calls a tool of Skein's MCP server, and says what it answers. */
  | { readonly do: "tool"; readonly name: string; readonly input: Readonly<Record<string, unknown>> }
  /** Calls any method of the client, and says the code of its error. */
  | { readonly do: "call"; readonly method: string }
  | { readonly do: "update"; readonly update: Readonly<Record<string, unknown>> }
  | { readonly do: "flood"; readonly updates: number }
  /** Writes bytes to its output that are no message. */
  | { readonly do: "babble"; readonly text: string }
  /** Writes to its standard error. */
  | { readonly do: "log"; readonly text: string }
  /** Answers the prompt with an error. */
  | { readonly do: "fail"; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "die" }
  /** Hangs until it is cancelled; a deaf one for ever. */
  | { readonly do: "hang"; readonly isDeaf?: boolean };

export type AcpScript = {
  readonly greets?: "never" | "with version 7";
  /** Which MCP servers it takes and connects to: by HTTP, only as programs, or, if left out, none. */
  readonly connects?: "by http" | "by program";
  /** Loads earlier sessions: this is the text that it said in one. */
  readonly loads?: string;
  /** Requires this login before it opens a session. */
  readonly login?: AuthMethod;
  /** Fails every login with this message, and the error code of an internal error. */
  readonly loginFails?: string;
  /** The steps of each prompt; the last list repeats for later prompts. */
  readonly prompts: readonly (readonly Step[])[];
  /** Other prompts for sessions whose first prompt contains `told`; the first match counts. */
  readonly when?: readonly { readonly told: string; readonly prompts: AcpScript["prompts"] }[];
  /** The reason with which prompts end, in the protocol's words. */
  readonly stop?: string;
  readonly usage?: Readonly<Record<string, number>>;
  readonly meta?: Readonly<Record<string, unknown>>;
};
