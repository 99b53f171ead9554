/** Which model is meant, and where is it? Names only: a key is a variable's name, never its value. */

export type ModelSpec = {
  /** "anthropic", "openai", "google", "openrouter", "ollama", …, or any name with a `baseUrl`. */
  readonly provider: string;
  readonly model: string;
  /** Of a server that speaks a provider's language. */
  readonly baseUrl?: string;
  /** Which language the server at `baseUrl` speaks; OpenAI's, unless told. */
  readonly speaks?: "openai" | "anthropic";
  /** The environment variable that holds the key; the provider's usual one, unless told. */
  readonly keyVariable?: string;
  /** How much it can hold at once; what the table of prices knows of it, unless told. */
  readonly contextTokens?: number;
};

/** What shares a quota: the provider at its place, with its key. */
export const accountOf = ({ provider, baseUrl, keyVariable }: ModelSpec): string =>
  [provider, baseUrl, keyVariable].filter((part) => part !== undefined).join(" ");
