/** What does the ACP agent of a test do? Steps for each prompt, and how it greets. */
import type { AuthMethod } from "@agentclientprotocol/sdk";

export type Step =
  | { readonly do: "say"; readonly text: string }
  /** Hands off as complete; its summary is what it was told first. */
  | { readonly do: "repeat" }
  /** Through the client's files, or by itself. What the client refuses is said. */
  | { readonly do: "write"; readonly path: string; readonly text: string; readonly by: "client" | "itself" }
  | { readonly do: "read"; readonly path: string; readonly line?: number; readonly limit?: number }
  /** As Gemini does: reads it first, through the client if that offers it; any error from there is the end of it. */
  | { readonly do: "create"; readonly path: string; readonly text: string }
  /** Says what was chosen: the option's name, or "cancelled". */
  | {
      readonly do: "ask";
      readonly call: Readonly<Record<string, unknown>>;
      readonly options?: readonly Readonly<Record<string, unknown>>[];
    }
  /** Of Skein's MCP server. What it answers is said. */
  | { readonly do: "tool"; readonly name: string; readonly input: Readonly<Record<string, unknown>> }
  /** Any method of the client; the code of its error is said. */
  | { readonly do: "call"; readonly method: string }
  | { readonly do: "update"; readonly update: Readonly<Record<string, unknown>> }
  | { readonly do: "flood"; readonly updates: number }
  /** Bytes on its output that are no message. */
  | { readonly do: "babble"; readonly text: string }
  /** On its standard error. */
  | { readonly do: "log"; readonly text: string }
  /** Answers the prompt with an error. */
  | { readonly do: "fail"; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly do: "exit"; readonly code: number }
  | { readonly do: "die" }
  /** Until it is cancelled; the deaf one, for ever. */
  | { readonly do: "hang"; readonly isDeaf?: boolean };

export type AcpScript = {
  readonly greets?: "never" | "with version 7";
  /** Takes MCP servers by HTTP and connects to ours; only as programs; or, if nothing is said, to none. */
  readonly connects?: "by http" | "by program";
  /** Goes on with earlier sessions: what it had said in one is in this text. */
  readonly loads?: string;
  /** Wants this login before it opens a session. */
  readonly login?: AuthMethod;
  /** What it says to any try to log in, with the error code of its own troubles. */
  readonly loginFails?: string;
  /** For each prompt; the last again and again. */
  readonly prompts: readonly (readonly Step[])[];
  /** Other prompts for whoever is told this in the first one; the first that fits. */
  readonly when?: readonly { readonly told: string; readonly prompts: AcpScript["prompts"] }[];
  /** What a prompt ends with; the protocol's own words. */
  readonly stop?: string;
  readonly usage?: Readonly<Record<string, number>>;
  readonly meta?: Readonly<Record<string, unknown>>;
};
