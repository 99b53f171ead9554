/** Names a model and where it is served. Never holds a key's value, only the name of its environment variable. */

export type ModelSpec = {
  /** "anthropic", "openai", "google", "openrouter", "ollama", …, or any name with a `baseUrl`. */
  readonly provider: string;
  readonly model: string;
  /** The address of a server that speaks a provider's language. */
  readonly baseUrl?: string;
  /** Which language the server at `baseUrl` speaks; default: OpenAI's. */
  readonly speaks?: "openai" | "anthropic";
  /** The environment variable that holds the key; default: the provider's usual one. */
  readonly keyVariable?: string;
  /** The size of its context window, in tokens; default: what the table of prices says. */
  readonly contextTokens?: number;
};

/** The account that shares a quota: the provider at its address, with its key. */
export const accountOf = ({ provider, baseUrl, keyVariable }: ModelSpec): string =>
  [provider, baseUrl, keyVariable].filter((part) => part !== undefined).join(" ");
