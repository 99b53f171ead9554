/** Which model is meant by a short name, as specialists of other tools have it? One of the provider that is used anyway. */
import type { ModelSpec } from "../../core/model-spec.ts";

/** Undefined for "inherit", for what is unknown, and where the usual model's provider has none of that name. */
export function shortName(name: string, usual: ModelSpec): ModelSpec | undefined {
  const models = Object.hasOwn(SHORT_NAMES, usual.provider) ? SHORT_NAMES[usual.provider]! : {};
  const word = name.trim().toLowerCase();
  return Object.hasOwn(models, word) ? { ...usual, model: models[word]! } : undefined;
}

/** As of 2026-11-16, from the table of prices. */
const SHORT_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  anthropic: { opus: "claude-opus-5-5", sonnet: "claude-sonnet-5", haiku: "claude-haiku-4-5" },
  openrouter: {
    opus: "anthropic/claude-opus-5.5",
    sonnet: "anthropic/claude-sonnet-5",
    haiku: "anthropic/claude-haiku-4.5",
  },
};
