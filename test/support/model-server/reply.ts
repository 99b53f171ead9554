/** Types of the replies that a model of a test can give, and of what its server knows about a call. */

export type WireName = "openai-chat" | "openai-responses" | "anthropic" | "google";

export type Reply = Answer | { readonly fault: Fault };

export type Answer = {
  readonly text?: string;
  readonly tools?: readonly { readonly name: string; readonly input: unknown }[];
  /** By default as a model does, by whether tools were called. */
  readonly stop?: "stop" | "length";
  /** `input` includes `cached`, as OpenAI counts; on Anthropic's wire it is subtracted again. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
};

export type Fault =
  /** By default the wire's usual body for that status. */
  | {
      readonly is: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  /** A slow answer: a few characters each `ms`. */
  | { readonly is: "drip"; readonly ms: number; readonly reply: Reply }
  /** The connection is lost after that many pieces; after 0, the client gets not even a status. */
  | { readonly is: "cut"; readonly afterPieces: number; readonly reply: Reply }
  /** An error within the stream, after that many pieces, with status 200. */
  | {
      readonly is: "error-event";
      readonly afterPieces: number;
      readonly body: unknown;
      readonly reply: Reply;
    }
  /** The stream begins well, then contains invalid JSON. */
  | { readonly is: "garbage" }
  /** One call with exactly these arguments: invalid JSON, or of the wrong shape. */
  | { readonly is: "bad-arguments"; readonly tool: string; readonly arguments: string }
  /** Text until the client goes away, or until `maxBytes` are written. */
  | { readonly is: "endless"; readonly maxBytes: number }
  /** Never answers, until the client goes away or the server is closed. */
  | { readonly is: "hang" };

export type Usage = { readonly input: number; readonly output: number; readonly cached: number };

export type SeenCall = {
  /** The number of the call, from 1, in the order of arrival. */
  readonly n: number;
  readonly wire: WireName;
  readonly at: number;
  readonly model: string;
  readonly key: string | undefined;
  readonly system: string;
  readonly messages: readonly SeenMessage[];
  readonly tools: readonly string[];
  readonly body: unknown;
  /** The usage that was counted; undefined until the end of the answer is sent. */
  readonly usage: Usage | undefined;
};

/** The same on every wire: tool results are messages of their own, system messages are in `system`. */
export type SeenMessage = {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  readonly toolCalls: readonly SeenToolCall[];
  readonly toolResults: readonly { readonly id: string; readonly text: string }[];
};

/** `input` is the text itself if it is not JSON. */
export type SeenToolCall = { readonly id: string; readonly name: string; readonly input: unknown };

/** `signal`: the client went away, or the server is closed; an answer would reach no client. */
export type Answerer = (call: SeenCall, signal: AbortSignal) => Reply | Promise<Reply>;
