/** What can a model of a test answer, and what does its server know of a call? */

export type WireName = "openai-chat" | "openai-responses" | "anthropic" | "google";

export type Reply = Answer | { readonly fault: Fault };

export type Answer = {
  readonly text?: string;
  readonly tools?: readonly { readonly name: string; readonly input: unknown }[];
  /** If it is neither: as it is with a model, by whether tools were called. */
  readonly stop?: "stop" | "length";
  /** `input` holds what was `cached`, as OpenAI counts; on Anthropic's wire it is taken out again. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
};

export type Fault =
  /** No body: the wire's usual one for that status. */
  | {
      readonly is: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  /** Slow: a few characters each `ms`. */
  | { readonly is: "drip"; readonly ms: number; readonly reply: Reply }
  /** The connection is lost after so many pieces; after none, there is not even a status. */
  | { readonly is: "cut"; readonly afterPieces: number; readonly reply: Reply }
  /** An error told in the stream, after so many pieces, with status 200. */
  | {
      readonly is: "error-event";
      readonly afterPieces: number;
      readonly body: unknown;
      readonly reply: Reply;
    }
  /** The stream begins well, then comes what is no JSON. */
  | { readonly is: "garbage" }
  /** One call, its arguments as they are given here: no JSON, or of the wrong shape. */
  | { readonly is: "bad-arguments"; readonly tool: string; readonly arguments: string }
  /** Text until the client goes away; it ends at `maxBytes` of it. */
  | { readonly is: "endless"; readonly maxBytes: number }
  /** Never answers, until the client goes away or the server is closed. */
  | { readonly is: "hang" };

export type Usage = { readonly input: number; readonly output: number; readonly cached: number };

export type SeenCall = {
  /** From 1, in the order in which they came. */
  readonly n: number;
  readonly wire: WireName;
  readonly at: number;
  readonly model: string;
  readonly key: string | undefined;
  readonly system: string;
  readonly messages: readonly SeenMessage[];
  readonly tools: readonly string[];
  readonly body: unknown;
  /** What was counted for it; undefined until its end was sent, and for ever if it was not. */
  readonly usage: Usage | undefined;
};

/** The same on every wire: results of tools are messages of their own, system messages are in `system`. */
export type SeenMessage = {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  readonly toolCalls: readonly SeenToolCall[];
  readonly toolResults: readonly { readonly id: string; readonly text: string }[];
};

/** `input` is the text itself where it was no JSON. */
export type SeenToolCall = { readonly id: string; readonly name: string; readonly input: unknown };

/** `signal`: the client went away, or the server is closed; nobody will hear the answer. */
export type Answerer = (call: SeenCall, signal: AbortSignal) => Reply | Promise<Reply>;
