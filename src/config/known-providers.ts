/** Lists the model providers that are known by name: the variables of their keys, and a default model. */

type KnownProvider = {
  readonly name: string;
  /** The environment variables that may hold its key, the usual one first; empty for a server on this machine. */
  readonly keys: readonly string[];
  /** A good model for coding at a middle price, as of `MODELS_AS_OF`; undefined if only a person can choose. */
  readonly model?: string;
  /** The usual address of such a server on this machine. */
  readonly local?: string;
};

/** When the names below were chosen, from the models in the table of prices. */
export const MODELS_AS_OF = "2026-11-16";

/** In the order in which they are looked for. */
export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  { name: "anthropic", keys: ["ANTHROPIC_API_KEY"], model: "claude-sonnet-4-5" },
  { name: "openai", keys: ["OPENAI_API_KEY"], model: "gpt-5" },
  {
    name: "google",
    keys: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"],
    model: "gemini-2.5-pro",
  },
  { name: "openrouter", keys: ["OPENROUTER_API_KEY"], model: "anthropic/claude-sonnet-4.5" },
  { name: "mistral", keys: ["MISTRAL_API_KEY"], model: "mistral-medium-latest" },
  { name: "xai", keys: ["XAI_API_KEY"], model: "grok-code-fast-1" },
  { name: "deepseek", keys: ["DEEPSEEK_API_KEY"], model: "deepseek-chat" },
  { name: "groq", keys: ["GROQ_API_KEY"], model: "openai/gpt-oss-120b" },
  { name: "together", keys: ["TOGETHER_API_KEY"] },
  { name: "fireworks", keys: ["FIREWORKS_API_KEY"] },
  { name: "ollama", keys: [], local: "http://127.0.0.1:11434/v1" },
  { name: "lmstudio", keys: [], local: "http://127.0.0.1:1234/v1" },
  { name: "llama.cpp", keys: [], local: "http://127.0.0.1:8080/v1" },
];

export const knownProvider = (name: string): KnownProvider | undefined =>
  KNOWN_PROVIDERS.find((provider) => provider.name === name);
